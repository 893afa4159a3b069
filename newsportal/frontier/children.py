"""What callbacks and errbacks make is marked with the lease of the request whose answer they read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request

from newsportal.frontier.requests import PARENT

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


def marked_output(output: Any, lease: str) -> Any:
    """What an errback gives, its requests marked as children of ``lease``."""
    if isinstance(output, Request):
        return marked(output, lease)
    if hasattr(output, "__aiter__"):
        return _marked_later(output, lease)
    if hasattr(output, "__await__"):
        return _marked_then(output, lease)
    if hasattr(output, "__iter__") and not isinstance(output, dict | str | bytes):
        return (marked(one, lease) for one in output)
    return output


async def _marked_later(output: AsyncIterator[Any], lease: str) -> AsyncIterator[Any]:
    async for one in output:
        yield marked(one, lease)


async def _marked_then(output: Any, lease: str) -> Any:
    return marked_output(await output, lease)


def marked(one: Any, lease: str) -> Any:
    """A request as a child of ``lease``; other things as they are."""
    if isinstance(one, Request):
        one.meta[PARENT] = lease
    return one
