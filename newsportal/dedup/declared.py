"""URLs that a page declares as its own (``rel=canonical``, ``og:url``), and how far they are trusted.

A template that declares the same URL on all its pages, or a page that declares another's, would lose articles, because a known URL is not
fetched again. So there are three results:

- *tied*: the same path without insignificant parameters. It becomes the article's identity;
- *claimed*: another URL of the same site. It is trusted only if the contents of both articles agree (:func:`same_article`);
- none: another site, a list, a front page, another language, another page of the article, or the page's own URL.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from newsportal.dedup.canonical import domain, identity, is_specific
from newsportal.text import letters

MAX_URL_CHARS: Final = 2_000
LANGUAGES: Final = frozenset(
    "zh cn tw hk mo sg en us uk gb ja jp ko kr ru fr de es pt it ar vi th id ms hi tr pl nl sv uk "
    "hans hant chs cht simp trad big5 gbk chinese english".split()
)
"""Parts of a URL that denote a language or an edition."""

LANGUAGE_KEYS: Final = frozenset("lang language locale hl lan l variant edition".split())
PAGE_KEYS: Final = frozenset("page p pn pg pageno pageindex currentpage cur_page".split())
PAGE_IN_PATH: Final = re.compile(r"(?:[_-](?:p|page)?\d{1,2}(?=\.\w{2,5}$|/?$)|/(?:p|page/?)?\d{1,2}(?=/?$))", re.IGNORECASE)
SIGNIFICANT: Final = re.compile(r"\d{4}|[A-Za-z]*\d[A-Za-z0-9]{5}|[^\x00-\x7f]")
"""A parameter value that may be an article's number, day, code or title: it is not dropped on a page's declaration alone."""

RUN: Final = 8  # length of the runs of letters compared: different reports share few of this length
MAX_LETTERS: Final = 200_000  # letters of a text that are compared
MIN_SHARE: Final = 0.9  # minimum share of the shorter text's runs in the longer one. Two views of an article only differ at their ends.
SAME_NUMBERS: Final = 0.95  # minimum share of the shorter text's numbers: a template on another day (weather, markets) has different ones
MIN_LETTERS: Final = 30  # shorter texts are stubs (「点击查看视频」), which are the same everywhere
SAME_DAY: Final = timedelta(days=1)
NUMBER: Final = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class DeclaredIdentity:
    """Identity of the URL that a page declares, and whether it may be trusted without comparing contents."""

    identity: str
    trusted: bool


def declared_identity(url: str, canonical: str | None) -> DeclaredIdentity | None:
    """Return what the page at ``url`` declares; ``None`` if it is useless or cannot be trusted. Never raises."""
    if not canonical or len(canonical) > MAX_URL_CHARS or len(url) > MAX_URL_CHARS:
        return None
    page, target = _Address.of(url), _Address.of(canonical)
    if page is None or target is None or target.odd or domain(page.host) != domain(target.host):
        return None
    if page.identity == target.identity or page.languages != target.languages or _is_list(page, target) or _is_other_page(page, target):
        return None
    # the same specific path on the same host, minus insignificant parameters
    same = (page.host, page.path) == (target.host, target.path) and target.query <= page.query and is_specific(target.path, _text(target))
    return DeclaredIdentity(target.identity, same and not any(SIGNIFICANT.search(value) for _, value in page.query - target.query))


@dataclass(frozen=True, slots=True)
class _Address:
    """A URL, split into the parts of its identity."""

    identity: str
    host: str
    path: str
    query: frozenset[tuple[str, str]]
    odd: bool

    @classmethod
    def of(cls, url: str) -> _Address | None:
        try:
            raw = urlsplit(url.strip())
            if raw.scheme not in ("http", "https") or not raw.hostname:
                return None
            name = identity(url)
            parts = urlsplit(f"http://{name}")
            pairs = parse_qsl(parts.query, keep_blank_values=True) if "=" in parts.query else [(parts.query, "")] * bool(parts.query)
            odd = raw.username is not None or bool(parts.port) or "{" in url or "undefined" in url
            return cls(name, parts.hostname or "", parts.path, frozenset(pairs), odd)
        except ValueError:
            return None

    @property
    def languages(self) -> frozenset[str]:
        segments = [part for segment in self.path.lower().split("/") for part in re.split(r"[-_]", segment) if len(segment) <= 7]
        values = [part for name, value in self.query if name.lower() in LANGUAGE_KEYS for part in re.split(r"[-_]", value.lower())]
        return LANGUAGES.intersection([*segments, self.host.split(".")[0], *values])


def _is_list(page: _Address, target: _Address) -> bool:
    """Return whether it is a front page, a list, a parent directory of the page, or the script of all articles without parameters."""
    if is_specific(target.path, _text(target)):
        return False
    inside = page.path.startswith(target.path.rstrip("/") + "/") or (page.path == target.path and target.query < page.query)
    return inside or not (target.query or re.search(r"\d|[-_]\w+[-_]", unquote(target.path)))


def _text(address: _Address) -> str:
    return "&".join(f"{name}={value}" for name, value in sorted(address.query))


def _is_other_page(page: _Address, target: _Address) -> bool:
    """Return whether a later page of an article declares the first one: the pager handles it, and their texts differ."""
    removed = {name.lower() for name, _ in page.query - target.query}
    if page.path == target.path:
        return bool(removed & PAGE_KEYS)
    return PAGE_IN_PATH.sub("", page.path).rstrip("/") == target.path.rstrip("/")


@dataclass(frozen=True, slots=True)
class Content:
    """Properties by which two articles are compared."""

    title: str | None
    text: str | None
    published: datetime | None


def same_article(first: Content, second: Content) -> bool:
    """Return whether two pages show the same article: nearly all of the shorter text and its numbers is in the longer one, and they have
    the same day. Stubs must have equal titles, too."""
    if first.published and second.published and abs(first.published - second.published) > SAME_DAY:
        return False
    short, long = sorted((letters((first.text or "")[:MAX_LETTERS]), letters((second.text or "")[:MAX_LETTERS])), key=len)
    if len(short) < MIN_LETTERS:
        return bool(short) and short == long and letters(first.title or "") == letters(second.title or "")
    short_runs, long_runs = _runs(short), _runs(long)
    if len(short_runs & long_runs) < MIN_SHARE * len(short_runs):
        return False
    numbers = set(NUMBER.findall(short))
    return len(numbers & set(NUMBER.findall(long))) >= SAME_NUMBERS * len(numbers)


def _runs(text: str) -> set[str]:
    return {text[place : place + RUN] for place in range(len(text) - RUN + 1)}
