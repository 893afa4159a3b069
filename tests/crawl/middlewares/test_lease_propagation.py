"""Output of callbacks and errbacks carries the parent's lease; other schedulers are unaffected."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.http import Response

from newsportal.crawl.leases import LEASE, PARENT, mark_output
from newsportal.crawl.middlewares import HostLockMiddleware, LeaseMiddleware

ITEM = {"title": "题"}


def request() -> Request:
    return Request("http://a.example/")


async def later() -> AsyncIterator[Any]:
    yield request()
    yield ITEM


async def awaited() -> list[Any]:
    return [request(), ITEM]


async def collect(output: Any) -> list[Any]:
    if hasattr(output, "__await__"):
        output = await output
    if hasattr(output, "__aiter__"):
        return [result async for result in output]
    return [output] if isinstance(output, Request) else list(output)


@pytest.mark.parametrize("output", [later, awaited, request, lambda: iter([request(), ITEM]), lambda: [request(), ITEM]])
def test_requests_from_any_form_of_errback_are_marked(output: Callable[[], Any]) -> None:
    async def marked() -> list[Any]:
        return await collect(mark_output(output(), "7"))

    found = asyncio.run(marked())
    assert found[0].meta[PARENT] == "7"
    assert found[1:] in ([], [ITEM])


@pytest.mark.parametrize("output", [None, ITEM, "text"])
def test_output_without_requests_is_unchanged(output: Any) -> None:
    assert mark_output(output, "7") is output


@pytest.mark.parametrize(("meta", "parent"), [({LEASE: "7"}, "7"), ({}, None)])
def test_callback_requests_get_the_parents_lease(meta: dict[str, Any], parent: str | None) -> None:
    response = Response("http://a.example/", request=Request("http://a.example/", meta=meta))

    async def given() -> list[Any]:
        return [result async for result in LeaseMiddleware().process_spider_output(response, later())]

    found = asyncio.run(given())
    assert found[0].meta.get(PARENT) == parent
    assert found[1] == ITEM


def test_other_schedulers_are_unaffected() -> None:
    crawler = Crawler(Spider)
    crawler.engine = SimpleNamespace(scheduler=BaseScheduler())  # type: ignore[assignment, abstract]
    turns = HostLockMiddleware(crawler)
    asyncio.run(turns.process_request(request()))
    response = Response("http://a.example/", status=429, headers={"Retry-After": "5"})
    assert turns.process_response(request(), response) is response
