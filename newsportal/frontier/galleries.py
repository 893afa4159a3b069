"""Which photo stories of an index page are visited: new ones, and stored ones that wait for pages. Every entry gets its fate in the
report."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from newsportal.errors import StoreError
from newsportal.frontier.hung import left_alone
from newsportal.frontier.ledger import utcnow
from newsportal.frontier.links import NO_ADDRESS, askable, name_of

if TYPE_CHECKING:
    from newsportal.frontier.ledger import Ledger
    from newsportal.items import Link
    from newsportal.store.gallery_tables import StoredGallery

logger = logging.getLogger(__name__)

MAX_VAIN: Final = 5
"""Visits in a row that bring nothing to an incomplete story; then it is kept as it is and not asked for again. Chosen: an outage of an
hour passes, and a page that a site has lost is asked for five times at most."""

NO_PICTURES: Final = "no-pictures"


@dataclass(frozen=True, slots=True)
class Sifted:
    """The links to visit, without those that led to no photo story within six hours. ``stale``: every entry of the page was stored before
    this run (or is one of those), so older pages bring nothing."""

    wanted: tuple[Link, ...]
    stale: bool


def waits(kept: StoredGallery) -> bool:
    """Whether a stored story is worth another visit. Pure."""
    return not kept.complete and kept.vain < MAX_VAIN


async def sift(ledger: Ledger, links: Sequence[Link]) -> Sifted:
    """Of the entries of one index page, or of those that wait from an earlier run, those to visit; counts every one.

    Raises ``StoreError``; then nothing is counted, and nothing of the page is taken.
    """
    names = {name_of(link): link for link in reversed(links) if askable(link.url)}
    known = await asyncio.to_thread(ledger.known.known, list(names))
    kept = await asyncio.to_thread(ledger.store.galleries.known, known)
    old = {name for name in known if name not in kept or not waits(kept[name])}
    refused = await asyncio.to_thread(ledger.store.galleries.refused, set(names) - known, now=utcnow())
    old |= {name for name in refused if not ledger.known.met_first_here(name)} | await left_alone(ledger, list(names.values()))
    met = {name for name in old if ledger.known.met_first_here(name)}
    fresh = [name for name in reversed(names) if name not in old and ledger.claim(names[name].source, name)]
    try:
        if fresh:  # before the first is asked for: after a crash the next run finds them here
            await asyncio.to_thread(ledger.store.defer, [names[name] for name in fresh], now=utcnow())
    except StoreError:
        for name in fresh:
            ledger.release(names[name].source, [name])
        raise
    await _count(ledger, links, set(fresh), old)
    return Sifted(tuple(names[name] for name in fresh), stale=bool(names) and old - met == set(names))


async def _count(ledger: Ledger, links: Sequence[Link], fresh: set[str], old: Collection[str]) -> None:
    for link in links:
        name = name_of(link)
        ledger.count(link.source, "entries")
        if not askable(link.url):
            ledger.count(link.source, "new")
            await ledger.fail(link, NO_ADDRESS)
        elif name in fresh:
            fresh.discard(name)
            ledger.count(link.source, "new")
        else:
            ledger.count(link.source, "known" if name in old else "repeated")


async def refuse(ledger: Ledger, link: Link, reason: str) -> None:
    """``link`` leads to no photo story: it failed, and is left alone for six hours."""
    try:
        await asyncio.to_thread(ledger.store.galleries.refuse, name_of(link), reason, now=utcnow())
    except StoreError as error:
        logger.warning("%s will be asked for on the next visit: %s", link.url, error)
    await ledger.fail(link, reason)
