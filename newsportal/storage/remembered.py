"""What the crawl remembers, as the JSON values that stores keep of it: states of sources, links that wait, lines of sites. Pure."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from newsportal.items import Link
from newsportal.storage.answers import SourceState
from newsportal.storage.rows import storable


def plain(value: SourceState | Link) -> dict[str, Any]:
    """A flat dataclass as JSON values: moments in ISO 8601, mappings as objects, what is None left out."""
    pairs = ((field.name, getattr(value, field.name)) for field in fields(value))
    return {key: _json(item) for key, item in pairs if item is not None}


def _json(item: Any) -> Any:
    if isinstance(item, datetime):
        return item.isoformat()
    if isinstance(item, str):
        return storable(item)
    if isinstance(item, Mapping):
        return {storable(key): list(values) for key, values in item.items()}
    return item


def state_of(plain: Mapping[str, Any]) -> SourceState:
    """The inverse of :func:`plain`; what a later version added is left out."""
    values = _of(SourceState, plain, ("rest_until", "next_visit", "last_run", "last_success", "layout_changed", "unfinished"))
    values["validators"] = {url: (etag, modified) for url, (etag, modified) in plain.get("validators", {}).items()}
    values["hung"] = {name: (runs, last) for name, (runs, last) in plain.get("hung", {}).items()}
    return SourceState(**values)


def link_of(plain: Mapping[str, Any]) -> Link:
    """The inverse of :func:`plain`; what a later version added is left out."""
    return Link(**_of(Link, plain, ("published",)))


def _of(kind: type[SourceState | Link], plain: Mapping[str, Any], moments: Sequence[str]) -> dict[str, Any]:
    """The fields of ``kind`` in ``plain``; what a later version added is left out."""
    values = {field.name: plain[field.name] for field in fields(kind) if field.name in plain}
    return values | {key: datetime.fromisoformat(values[key]) for key in moments if key in values}


def plain_lines(pages: Mapping[str, bytes]) -> list[list[str]]:
    """The hashed lines of a site's pages as ``[[url, base64], …]``, in the order given."""
    return [[storable(url), b64encode(lines).decode("ascii")] for url, lines in pages.items()]


def lines_of(plain: Iterable[Sequence[str]] | None) -> dict[str, bytes]:
    """The inverse of :func:`plain_lines`."""
    return {url: b64decode(lines) for url, lines in plain or ()}
