"""What a search engine is: a URL template, and a pure function from a result page to results (paper A)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from urllib.parse import quote

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
    """A page that an engine answers instead of results, known by its address, its parts (CSS) or its phrases (regular expressions).

    ``rest``: seconds without requests. Captchas get worse when asked again, a consent page never goes by waiting.
    """

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
