"""Between what readers do and rows: looks at a story, views, offers, months. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from newsportal.items import content_id
from newsportal.recommend.base import Recommendation, View
from newsportal.storage.columns import ID_CHARS
from newsportal.storage.readers import FITS_KEPT as FITS_KEPT  # by its name here, which a test sets
from newsportal.storage.readers import VIEWS_KEPT, Brought
from newsportal.storage.rows import storable

READER_CHARS: Final = 64
"""A reader's name is a random one of the portal's, or of another system; a longer one is kept as its hash."""

MOST_PLACES: Final = 2000
"""Pictures of a story that are told apart; further ones count as the last of them."""

LOOKED: Final = ("seen", "pictures", "places", "first", "at")
"""The columns of a look at a story."""

WRITTEN_AT_ONCE: Final = 2000
"""Imported views of one transaction: about a tenth of a second, in which the portal cannot write."""

VIEWS_AT_ONCE: Final = 5000
"""Views read at once."""

STORIES_AT_ONCE: Final = 1000

BEGINNING: Final = 300
"""Characters of a text that recommendation is told: they hold its first sentence."""

KINDS: Final = ("topic", "category", "source")
"""The labels of a story that recommendation is told, in order."""

FIGURES: Final = ("views", "pictures", "readers", "offered", "opened", "liked")
"""The columns of a month."""


def reader_name(reader: str) -> str:
    """A reader's name as it is kept."""
    name = storable(reader)
    return name if len(name) <= READER_CHARS else content_id(name)


def bits(places: Collection[int], pictures: int) -> int:
    """The pictures that were seen as the bits of a number; those that a story does not have are left out."""
    if pictures < 1:
        return 1
    return sum(1 << (min(place, MOST_PLACES) - 1) for place in set(places) if 1 <= place <= min(pictures, MOST_PLACES))


def look(seen: int, pictures: int, now: datetime) -> dict[str, Any]:
    """The columns :data:`LOOKED` of one look; ``seen`` as :func:`bits` gives it."""
    return {"pictures": max(pictures, 1), "first": now, "at": now, **_places(seen)}


def _places(seen: int) -> dict[str, Any]:
    return {"seen": seen.bit_count(), "places": seen.to_bytes((seen.bit_length() + 7) // 8, "little")}


def both(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Two looks at one story together. Its number of pictures is the later look's, for stories grow."""
    later = max(new, old, key=lambda look: look["at"])
    pictures = later["pictures"]
    seen = int.from_bytes(old["places"], "little") | int.from_bytes(new["places"], "little")
    seen &= (1 << max(pictures, 1)) - 1
    return {"pictures": pictures, "first": min(old["first"], new["first"]), "at": later["at"], **_places(seen)}


def looks(views: Iterable[View], articles: Mapping[str, str], now: datetime) -> dict[tuple[str, str], dict[str, Any]]:
    """(reader, article) → the look that imported views tell of; ``articles``: what ``View.story`` names → the article's id."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for view in views:
        key = (reader_name(view.reader), articles[view.story])
        seen = (1 << min(max(view.seen, 0), view.pictures, MOST_PLACES)) - 1 if view.pictures > 0 else 1
        new = look(seen, view.pictures, min(view.at, now))
        rows[key] = both(rows[key], new) if key in rows else new
    return rows


def sifted(
    views: Sequence[View], articles: Collection[str], silent: Collection[str], now: datetime
) -> tuple[list[View], Brought]:  # fmt: skip
    """The views that are taken over, and what became of all; ``articles``: names that are known, ``silent``: readers without a profile."""
    recent = [view for view in views if view.at >= now - VIEWS_KEPT]
    known = [view for view in recent if view.story in articles]
    wanted = [view for view in known if reader_name(view.reader) not in silent]
    return wanted, Brought(len(wanted), len(recent) - len(known), len(views) - len(recent), len(known) - len(wanted))


def added(one: Brought, other: Brought) -> Brought:
    """What became of both."""
    return Brought(one.taken + other.taken, one.unknown + other.unknown, one.old + other.old, one.off + other.off)


def view_of(row: Mapping[str, Any]) -> View:
    """A row of ``views`` with the ``story_id`` of its article."""
    return View(row["reader"], row["story_id"], row["seen"], row["pictures"], row["at"])


def by_story(views: Iterable[View]) -> list[View]:
    """One view a reader and story: of several versions of a story the one that was seen most of, with the last moment."""
    found: dict[tuple[str, str], View] = {}
    for view in views:
        key = (view.reader, view.story)
        other = found.get(key, view)
        most = max(other, view, key=lambda one: (one.seen / one.pictures, one.pictures))
        found[key] = replace(most, at=max(other.at, view.at))
    return list(found.values())


def offer_rows(reader: str, recommended: Iterable[Recommendation], now: datetime) -> list[dict[str, Any]]:
    """The rows of ``offers``; ``reader`` as it is kept."""
    day = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return [
        {"reader": reader, "story_id": one.story[:ID_CHARS], "day": day, "at": now, "by": one.by[:16], "opened": None}
        for one in recommended
    ]  # fmt: skip


def in_order(labels: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """The (kind, value) labels of a story that recommendation is told, by kind and value: ``topic:…``."""
    told = sorted((KINDS.index(kind), value) for kind, value in labels if kind in KINDS)
    return tuple(f"{KINDS[kind]}:{value}" for kind, value in told)


def spans(first: datetime | None, last: datetime | None) -> Iterator[tuple[datetime, datetime]]:
    """The months from one moment to another, as (start, end)."""
    if first is None or last is None:
        return
    start = month_of(first)
    while start <= last:
        end = _next(start)
        yield start, end
        start = end


def month_of(moment: datetime) -> datetime:
    """The first moment of its month (UTC)."""
    return moment.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def _next(start: datetime) -> datetime:
    return start.replace(year=start.year + start.month // 12, month=start.month % 12 + 1)
