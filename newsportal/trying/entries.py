"""Proposals and OPML outlines as entries of ``sources.yaml``: under names of their own, each address once. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from newsportal.dedup.canonical import bare
from newsportal.discovery.finders import common_folder
from newsportal.discovery.opml import Outline
from newsportal.discovery.proposal import Proposal
from newsportal.discovery.search import NoSource
from newsportal.errors import NewsportalError
from newsportal.messages import Message
from newsportal.sources import Feed, Forum, Gallery, Region, Sitemap, Sources
from newsportal.sources.uris import BadAddress, check_url, literal
from newsportal.sources.values import CONTROL, MAX_NAME_CHARS
from newsportal.text import clean

__all__ = ["AlreadyThere", "NoSource", "Proposal", "Visited", "common_folder", "entry", "free_name", "holder", "visits"]

Visited = Feed | Sitemap | Region | Forum | Gallery


class AlreadyThere(NewsportalError):
    """Raised by :func:`entry` for an address that the source ``key`` visits. The caller names it."""

    def __init__(self, address: str, key: str) -> None:
        super().__init__(Message("find.there", address=address, key=key))
        self.key = key


def visits(source: Visited) -> Sequence[str]:
    """What of a source is fetched first."""
    return source.seeds if isinstance(source, Region | Gallery) else (source.url,)


def holder(found: Proposal, known: Sources) -> Visited | None:
    """The source that visits this address already, in whatever spelling (http or https)."""
    listed: Sequence[Visited] = getattr(known, found.kind)
    wanted = bare(found.address)
    return next((source for source in listed if wanted in map(bare, visits(source))), None)


def entry(found: Proposal, name: str | None, category: str | None, known: Sources, taken: Collection[str] = ()) -> dict[str, str]:
    """The proposal's values under a name of its own; ``taken`` are names given meanwhile. Raises ``AlreadyThere``."""
    there = holder(found, known)
    if there is not None:
        raise AlreadyThere(found.address, there.key)
    listed: Sequence[Visited] = getattr(known, found.kind)
    names = {source.name for source in listed} | set(taken)
    told = {key: literal(value) if value.startswith(("http://", "https://")) else value for key, value in found.values.items()}
    values = {**told, "name": name if name and name not in taken else free_name(name or found.values["name"], names)}
    return values | ({"category": category} if category else {})


def free_name(wished: str, taken: Collection[str]) -> str:
    """``wished`` as a name that may be used: without slashes and control characters, not too long, and not taken."""
    plain = clean(CONTROL.sub(" ", wished).replace("/", "-"))[: MAX_NAME_CHARS - 4] or "source"
    numbered = (f"{plain} {number}" for number in range(2, len(taken) + 3))
    return plain if plain not in taken else next(name for name in numbered if name not in taken)


@dataclass(frozen=True, slots=True)
class Import:
    """``new`` are entries of sources.yaml; ``there`` addresses that are visited already, with the source's key; ``bad`` with the reason."""

    new: tuple[Mapping[str, str], ...]
    there: tuple[tuple[str, str], ...]
    bad: tuple[tuple[str, Message], ...]


def planned(listed: Sequence[Outline], known: Sources, category: str | None, *, enabled: bool = True) -> Import:
    """Which feeds of a list are new, in whatever spelling of their addresses; names are made free, addresses checked as in sources.yaml."""
    there = {bare(feed.url): feed.key for feed in known.feeds}
    names = {feed.name for feed in known.feeds}
    new: list[Mapping[str, Any]] = []
    held: list[tuple[str, str]] = []
    bad: list[tuple[str, Message]] = []
    for one in listed:
        if (key := there.get(bare(one.url))) is not None:
            held.append((one.url, key))
            continue
        try:
            check_url(one.url)
        except BadAddress as error:
            bad.append((one.url, error.message))
            continue
        name = free_name(one.title or one.url.partition("://")[2], names)
        names.add(name)
        there[bare(one.url)] = f"feed:{name}"  # a list may have it with http and with https
        folder = category or (clean(CONTROL.sub(" ", one.folder)) if one.folder else None)
        values: dict[str, Any] = {"name": name, "url": literal(one.url)}
        new.append(values | ({"category": folder} if folder else {}) | ({} if enabled else {"enabled": False}))
    return Import(tuple(new), tuple(held), tuple(bad))
