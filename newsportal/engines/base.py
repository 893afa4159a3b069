"""What a search engine is to us: a URL template, and a pure function from a result page to results (paper A).

One file an engine; the registry is the dict ``ENGINES`` in ``newsportal/engines/__init__.py``. Adding one is one file and one line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from urllib.parse import quote

from newsportal.dom import Document


@dataclass(frozen=True, slots=True)
class Result:
    """One entry of a result page. ``date`` is as written, ``published`` what it means (aware), where it could be read."""

    title: str
    link: str
    site: str | None = None
    summary: str | None = None
    date: str | None = None
    published: datetime | None = None


@dataclass(frozen=True, slots=True)
class ResultPage:
    """All entries of a page. ``by`` says who read it: ``wrapper`` or ``generic`` (the wrapper found nothing: the layout changed)."""

    results: tuple[Result, ...]
    by: Literal["wrapper", "generic"]


Parse = Callable[[Document, datetime], list[Result]]
"""A wrapper: the document and the time it was fetched (for relative dates) to results. Raises ``EngineBlocked``."""


@dataclass(frozen=True, slots=True)
class Engine:
    """``url`` holds ``##QUERY##`` and ``##START##``. The offset of page n (from 0) is ``first + n * step``."""

    name: str
    url: str
    parse: Parse
    kind: Literal["news", "web"] = "web"
    first: int = 0
    step: int = 10
    encoding: str = "utf-8"

    def request(self, query: str, page: int = 0) -> str:
        """The address of result page ``page`` (from 0) for ``query``."""
        words = quote(query.encode(self.encoding, "xmlcharrefreplace"), safe="")
        return self.url.replace("##QUERY##", words).replace("##START##", str(self.first + page * self.step))
