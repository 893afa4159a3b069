"""Search engines: each module of this package describes those of one provider, and is found by being here.

``ENGINES``: URL templates, and pure functions from a result page to results (paper A). ``WALLS``: pages that come instead of results.
``REDIRECTS``: links that lead through the provider. ``ADVERTS``: a regular expression that matches host and path of paid links.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Literal
from urllib.parse import SplitResult, quote

from newsportal.text.dom import Document

HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Result:
    """One entry of a result page. ``date`` is as written, ``published`` what it means (aware), where it could be read.

    ``link`` is the link as the page has it, made absolute where the page's address is known; it may lead through the engine.
    ``target`` is where such a link ends, when the page itself says so (Baidu's ``mu``, so.com's ``data-mdurl``).
    """

    title: str
    link: str
    site: str | None = None
    summary: str | None = None
    date: str | None = None
    published: datetime | None = None
    target: str | None = None


@dataclass(frozen=True, slots=True)
class ResultPage:
    """``by``: who read the page. ``changed``: a wrapper found nothing, or far less than the template-free reader (``generic``)."""

    results: tuple[Result, ...]
    by: Literal["wrapper", "generic"]
    changed: bool = False


@dataclass(frozen=True, slots=True)
class Wall:
    """A page that comes instead of results, known by its address, parts (CSS) or phrases (regular expressions). ``rest``: seconds
    without requests; captchas get worse when asked again, a consent page never goes by waiting."""

    reason: str
    rest: float
    address: str | None = None
    marks: str | None = None
    phrases: str | None = None


Parse = Callable[[Document, datetime], list[Result]]  # (document, time of the fetch) → results. Raises ``EngineBlocked``


@dataclass(frozen=True, slots=True)
class Engine:
    """``url`` holds ``##QUERY##`` and, where the engine has further pages, ``##START##``: ``first + n * step`` on page n (from 0).

    ``parse`` is ``None`` for an engine without a wrapper: the template-free reader is the plan, not the remedy.
    ``hosts``: parts of the hosts that serve its pages.
    """

    name: str
    url: str
    parse: Parse | None = None
    kind: Literal["news", "web"] = "web"
    first: int = 0
    step: int = 10
    encoding: str = "utf-8"
    hosts: tuple[str, ...] = ()

    @property
    def paged(self) -> bool:
        return "##START##" in self.url

    def request(self, query: str, page: int = 0) -> str:
        """The address of result page ``page`` (from 0) for ``query``."""
        words = quote(query.encode(self.encoding, "xmlcharrefreplace"), safe="")
        return self.url.replace("##QUERY##", words).replace("##START##", str(self.first + page * self.step))


@dataclass(frozen=True, slots=True)
class Redirect:
    """Links through the hosts that match ``host``: ``target`` reads where one ends, or returns ``None``; ``opaque``: paths of those
    whose end only a request can tell. Both patterns are regular expressions."""

    host: str
    target: Callable[[SplitResult], str | None] | None = None
    opaque: str | None = None


@cache
def _constants(name: str) -> tuple[Any, ...]:
    """Return the constant ``name`` of each module of this package, ordered by the modules' names."""
    return tuple(getattr(import_module(f"{__name__}.{module.name}"), name) for module in iter_modules(__path__))


@cache
def _engines() -> dict[str, Engine]:
    return {engine.name: engine for engines in _constants("ENGINES") for engine in engines}


def names() -> tuple[str, ...]:
    """Return the names of the built-in engines, as ``sources.yaml`` uses them."""
    return tuple(sorted(_engines()))


def load(name: str) -> Engine:
    """Return the engine called ``name``. Raises ``KeyError`` for an unknown one."""
    return _engines()[name]


def walls() -> tuple[Wall, ...]:
    return tuple(wall for walls in _constants("WALLS") for wall in walls)


@cache
def redirects() -> tuple[Redirect, ...]:
    return tuple(rule for rules in _constants("REDIRECTS") for rule in rules)


@cache
def adverts() -> re.Pattern[str]:
    return re.compile("|".join(filter(None, _constants("ADVERTS"))))
