"""What a sitemap says, and whether its dates of change may be believed. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Literal

FEW = 5  # dates of change from which a lie can be told
ALIKE = 0.9  # the share of the dates that must agree

JUST_NOW = timedelta(minutes=10)
"""Younger than this when it is fetched: a page that changed at this very moment, or a date that is made as it is asked for."""

Kind = Literal["urlset", "index", "text"]


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """One ``url`` or ``sitemap`` element. ``url`` is absolute http(s); ``changed`` is its ``lastmod``, all else the news extension's."""

    url: str
    changed: datetime | None = None
    title: str | None = None
    published: datetime | None = None
    keywords: tuple[str, ...] = ()
    language: str | None = None
    publication: str | None = None

    @property
    def moment(self) -> datetime | None:
        """When it was published, else when it changed, as far as the file tells."""
        return self.published or self.changed


@dataclass(frozen=True, slots=True)
class Sitemap:
    """A sitemap. ``broken``: entries without a usable address. The dates of change are gone where they lie."""

    kind: Kind
    entries: tuple[SitemapEntry, ...] = ()
    broken: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def news(self) -> bool:
        """Whether it tells titles or moments of publication, as the news extension does."""
        return any(entry.title or entry.published for entry in self.entries)


def lies(entries: Sequence[SitemapEntry], fetched: datetime) -> str | None:
    """Why the dates of change tell nothing: ``lastmod-now`` (they are made as one asks), ``lastmod-same`` (one moment for all)."""
    told = [entry.changed for entry in entries if entry.changed is not None]
    if len(told) < FEW:
        return None
    if sum(abs(fetched - when) <= JUST_NOW for when in told) >= ALIKE * len(told):
        return "lastmod-now"
    most = max(Counter(told).values())
    return "lastmod-same" if most >= ALIKE * len(told) and not _midnight(told[0]) else None


def print_of(entries: Iterable[SitemapEntry]) -> str:
    """The addresses of a sitemap as a short text: the same while no page comes or goes, whatever the dates say."""
    made = blake2b(digest_size=16)
    for url in sorted(entry.url for entry in entries):
        made.update(url.encode("utf-8", "surrogatepass") + b"\n")
    return made.hexdigest()


def _midnight(when: datetime) -> bool:
    """A date without time: all articles of one day share it, and that is no lie."""
    return (when.hour, when.minute, when.second) == (0, 0, 0)


def honest(found: Sitemap, fetched: datetime) -> Sitemap:
    """The sitemap without dates of change that lie, and with a warning that says so."""
    lie = lies([entry for entry in found.entries if entry.published is None], fetched)
    if lie is None:
        return found
    entries = tuple(replace(entry, changed=None) for entry in found.entries)
    return replace(found, entries=entries, warnings=(*found.warnings, lie))
