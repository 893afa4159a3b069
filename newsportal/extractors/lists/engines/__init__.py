"""Search engines: each file beside this one describes those of one provider, and is found by being here.

``engines``: a URL template each, and a :class:`Wrapper` for each generation of its layout (paper A), as ``sources.yaml`` describes one.
``walls``: pages that come instead of results. ``redirects``: links that lead through the provider. ``adverts``: a regular expression that
matches host and path of paid links.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeVar
from urllib.parse import quote

from newsportal.extractors import load_yaml
from newsportal.extractors.lists import selector
from newsportal.extractors.lists.selector import Rule

Described = TypeVar("Described")


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
    """A page that comes instead of results, known by its address, parts (CSS) or phrases (regular expressions). ``hours``: so long no
    request; captchas get worse when asked again, a consent page never goes by waiting."""

    reason: str
    hours: int
    address: str | None = None
    marks: str | None = None
    phrases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wrapper:
    """Where the results of a page are, and their fields inside each (rules of :mod:`~newsportal.extractors.lists.selector`).

    ``link`` is the title's own by default. ``skip``: a block in which this finds something is no result (paid results).
    ``drop``: what stands inside title or summary and is neither. ``target``: where the page itself says where a redirect ends.
    ``site`` may find small print that holds a date as well, and ``date`` a text around the date: they are taken apart.
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
        """Raises ``ValueError`` that names the field for a rule that is none."""
        for name in ("block", "title", "link", "site", "summary", "date", "skip", "target", "drop"):
            try:
                selector.check(getattr(self, name))
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from error


@dataclass(frozen=True, slots=True)
class Engine:
    """``url`` holds ``##QUERY##`` and, where the engine has further pages, ``##START##``: ``first + n * step`` on page n (from 0).

    ``feed``: it answers with a feed. Without that and without ``wrappers`` the template-free reader is the plan, not the remedy.
    ``hosts``: parts of the hosts that serve its pages.
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
    def described(self) -> bool:
        """Whether it is known how its pages are read."""
        return self.feed or bool(self.wrappers)

    @property
    def paged(self) -> bool:
        return "##START##" in self.url

    def request(self, query: str, page: int = 0) -> str:
        """The address of result page ``page`` (from 0) for ``query``."""
        words = quote(query.encode(self.encoding, "xmlcharrefreplace"), safe="")
        return self.url.replace("##QUERY##", words).replace("##START##", str(self.first + page * self.step))


@dataclass(frozen=True, slots=True)
class Redirect:
    """Links through the hosts that match ``host``. On paths that match ``path`` the first of ``parameters`` that is an address is where
    one ends, or :mod:`~newsportal.extractors.lists.redirect` has a reader of the name ``target``; ``opaque``: paths of those whose end only
    a request can tell. All patterns are regular expressions."""

    host: str
    path: str | None = None
    parameters: tuple[str, ...] = ()
    target: str | None = None
    opaque: str | None = None


@cache
def _providers() -> tuple[dict[str, Any], ...]:
    """What the files say, ordered by their names."""
    names = sorted(file.name for file in files(__name__).iterdir() if file.name.endswith(".yaml"))
    return tuple(load_yaml(__name__, name) for name in names)


def _made(type_: type[Described], values: Mapping[str, Any], **more: Any) -> Described:
    return type_(**{name: tuple(value) if isinstance(value, list) else value for name, value in {**values, **more}.items()})


@cache
def _engines() -> dict[str, Engine]:
    return {
        name: _made(
            Engine, {"hosts": provider["hosts"], **values}, name=name, wrappers=[_made(Wrapper, one) for one in values.get("wrappers", ())]
        )
        for provider in _providers()
        for name, values in provider["engines"].items()
    }


def names() -> tuple[str, ...]:
    """Return the names of the built-in engines, as ``sources.yaml`` uses them."""
    return tuple(sorted(_engines()))


def load(name: str) -> Engine:
    """Return the engine called ``name``. Raises ``KeyError`` for an unknown one."""
    return _engines()[name]


@cache
def walls() -> tuple[Wall, ...]:
    """Those of engines, then those that any server may have."""
    found = (*(wall for provider in _providers() for wall in provider["walls"]), *load_yaml(__package__.rpartition(".")[0], "walls.yaml"))
    return tuple(_made(Wall, wall) for wall in found)


@cache
def redirects() -> tuple[Redirect, ...]:
    return tuple(_made(Redirect, rule) for provider in _providers() for rule in provider["redirects"])


@cache
def adverts() -> re.Pattern[str]:
    return re.compile("|".join(provider["adverts"] for provider in _providers()))
