"""What a feed says, whatever its dialect: the values that ``feed.parse`` answers with, and what its readers hand on."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """One entry. ``title`` and ``summary`` are plain text on one line; ``content_html`` is as served and **not sanitised**.

    ``key`` names the entry within its feed and stays the same from visit to visit: its guid, else its URL, else (where several
    entries share both) a digest of URL, title and date. ``shared_link``: another entry of the feed has the same URL, so the URL
    must not be taken for the article's identity. ``url`` is absolute http(s), without fragment.
    """

    key: str
    id: str | None = None
    url: str | None = None
    title: str | None = None
    summary: str | None = None
    content_html: str | None = field(default=None, repr=False)
    published: datetime | None = None
    updated: datetime | None = None
    author: str | None = None
    shared_link: bool = False


@dataclass(frozen=True, slots=True)
class FeedHead:
    """What a feed says of itself. ``format``: feedparser's name (``rss20``, ``rss10``, ``atom10`` …) or ``json1``; ``ttl_minutes``: how
    long the publisher wants it cached; ``hub``: a WebSub hub; ``topic``: the feed's name at the hub; ``skip_hours`` (0–23, GMT) and
    ``skip_days`` (0–6, Monday first): when nothing is published.
    """

    format: str
    title: str | None = None
    ttl_minutes: int | None = None
    hub: str | None = None
    topic: str | None = None
    skip_hours: tuple[int, ...] = ()
    skip_days: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Feed(FeedHead):
    """A feed; ``warnings``: stable slugs of what was wrong with it (see :mod:`newsportal.extractors.feed`)."""

    entries: tuple[FeedEntry, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RawDate:
    """A date as written, and what the reader itself made of it (naive UTC), for forms that nobody else knows."""

    text: str
    guess: datetime | None = None


@dataclass(frozen=True, slots=True)
class RawEntry:
    """An entry as its dialect has it: markup in the texts, URLs as written, dates as text."""

    id: str | None = None
    urls: tuple[str, ...] = ()
    title: str | None = None
    summary: str | None = None
    content: str | None = None
    published: RawDate | None = None
    updated: RawDate | None = None
    author: str | None = None


@dataclass(frozen=True, slots=True)
class RawFeed(FeedHead):
    home: str | None = None
    language: str | None = None
    entries: tuple[RawEntry, ...] = ()
    warnings: tuple[str, ...] = ()
