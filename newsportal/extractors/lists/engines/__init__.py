"""Search engines: each YAML file in this package describes the engines of one provider; files are discovered by listing.

``engines``: a URL template each, and a :class:`Wrapper` for each generation of the layout (paper A), as in ``sources.yaml``. ``walls``:
pages returned instead of results. ``redirects``: redirect links of the provider. ``adverts``: a regular expression for host and path of
paid links.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import quote

from newsportal.extractors import load_yaml

if TYPE_CHECKING:
    from newsportal.extractors.lists.selector import Rule

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Result:
    """An entry of a result page. ``date`` is as written, ``published`` its parsed value (aware), if it could be parsed.

    ``link`` is the link of the page, absolute if the page's URL is known; it may be a redirect link of the engine. ``target`` is the target
    of such a link, if the page contains it (Baidu's ``mu``, so.com's ``data-mdurl``).
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
    """Results of a page. ``by``: the reader used. ``changed``: a wrapper found nothing, or far less than the template-free reader."""

    results: tuple[Result, ...]
    by: Literal["wrapper", "generic"]
    changed: bool = False


@dataclass(frozen=True, slots=True)
class BlockPage:
    """A page returned instead of results, recognised by its URL, elements (CSS) or phrases (regular expressions). ``hours``: pause before
    the next request; captchas get worse if requested again, a consent page never disappears by waiting."""

    reason: str
    hours: int
    address: str | None = None
    marks: str | None = None
    phrases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wrapper:
    """Rules for the results of a page and their fields (see :mod:`~newsportal.extractors.lists.selector`).

    ``link`` defaults to the title's. ``skip``: blocks in which it matches are ignored (paid results). ``drop``: elements removed from title
    and summary. ``target``: where the page contains the target of a redirect link. ``site`` may match small print that also contains a
    date, ``date`` a text around the date: they are split.
    """

    block: Rule
    title: Rule
    link: Rule = ()
    site: Rule = ()
    summary: Rule = ()
    date: Rule = ()
    skip: Rule = ()
    drop: str = ""
    target: Rule = ()

    def check(self) -> None:
        """Check the rules. Raises ``ValueError`` naming the field of an invalid rule."""
        from newsportal.extractors.lists import selector  # loaded late: few processes need lxml

        for name in ("block", "title", "link", "site", "summary", "date", "skip", "target", "drop"):
            try:
                selector.check_rule(getattr(self, name))
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from error


@dataclass(frozen=True, slots=True)
class Engine:
    """A search engine. ``url`` contains ``##QUERY##``, and ``##START##`` if it has more pages: ``first + n * step`` on page n (from 0).

    ``feed``: it returns a feed. Without ``feed`` and ``wrappers`` the template-free reader is always used, not only as a fallback.
    ``hosts``: parts of the host names that serve its pages.
    """

    name: str
    url: str
    wrappers: tuple[Wrapper, ...] = ()
    kind: Literal["news", "web"] = "web"
    first: int = 0
    step: int = 10
    encoding: str = "utf-8"
    hosts: tuple[str, ...] = ()
    feed: bool = False

    @property
    def has_parser(self) -> bool:
        """Whether the engine has a feed or wrappers."""
        return self.feed or bool(self.wrappers)

    @property
    def has_pages(self) -> bool:
        return "##START##" in self.url

    def request(self, query: str, page: int = 0) -> str:
        """Return the URL of result page ``page`` (from 0) for ``query``."""
        words = quote(query.encode(self.encoding, "xmlcharrefreplace"), safe="")
        return self.url.replace("##QUERY##", words).replace("##START##", str(self.first + page * self.step))


@dataclass(frozen=True, slots=True)
class Redirect:
    """Redirect links on hosts that match ``host``. On paths that match ``path`` the target is the first of ``parameters`` that is a URL, or
    is read by the function ``target`` of :mod:`~newsportal.extractors.lists.redirect`. ``opaque``: paths whose targets need a request. All
    patterns are regular expressions."""

    host: str
    path: str | None = None
    parameters: tuple[str, ...] = ()
    target: str | None = None
    opaque: str | None = None


@cache
def _providers() -> tuple[dict[str, Any], ...]:
    """Return the contents of the YAML files, ordered by file name."""
    names = sorted(file.name for file in files(__name__).iterdir() if file.name.endswith(".yaml"))
    return tuple(load_yaml(__name__, name) for name in names)


def _build(type_: type[T], values: Mapping[str, Any], **more: Any) -> T:
    return type_(**{name: tuple(value) if isinstance(value, list) else value for name, value in {**values, **more}.items()})


@cache
def _engines() -> dict[str, Engine]:
    return {
        name: _build(
            Engine, {"hosts": provider["hosts"], **values}, name=name, wrappers=[_build(Wrapper, raw) for raw in values.get("wrappers", ())]
        )
        for provider in _providers()
        for name, values in provider["engines"].items()
    }


def engine_names() -> tuple[str, ...]:
    """Return the names of the built-in engines, as ``sources.yaml`` uses them."""
    return tuple(sorted(_engines()))


def load_engine(name: str) -> Engine:
    """Return the engine called ``name``. Raises ``KeyError`` for an unknown one."""
    return _engines()[name]


@cache
def block_pages() -> tuple[BlockPage, ...]:
    """Return the walls of engines, then the generic ones of any server."""
    found = (*(wall for provider in _providers() for wall in provider["walls"]), *load_yaml(__package__.rpartition(".")[0], "walls.yaml"))
    return tuple(_build(BlockPage, wall) for wall in found)


@cache
def redirects() -> tuple[Redirect, ...]:
    return tuple(_build(Redirect, rule) for provider in _providers() for rule in provider["redirects"])


@cache
def advert_patterns() -> re.Pattern[str]:
    return re.compile("|".join(provider["adverts"] for provider in _providers()))
