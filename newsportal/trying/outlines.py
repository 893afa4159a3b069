"""Which feeds of a list from another reader are new, as entries of ``sources.yaml``. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from newsportal.dedup.canonical import bare
from newsportal.discovery.opml import Outline
from newsportal.messages import Message
from newsportal.sources import Sources
from newsportal.sources.uris import BadAddress, check_url, literal
from newsportal.sources.values import CONTROL
from newsportal.text import clean
from newsportal.trying.entries import free_name


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
