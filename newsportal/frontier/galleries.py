"""Which photo stories of an index page are visited: new ones, and stored ones that wait for pages. Every entry gets its fate in the
report."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from newsportal.errors import StoreError
from newsportal.frontier.ledger import utcnow
from newsportal.frontier.links import askable, name_of
from newsportal.frontier.render_backoff import left_alone

if TYPE_CHECKING:
    from scrapy import Request, Spider

    from newsportal.frontier.ledger import Ledger
    from newsportal.items import Link
    from newsportal.store.gallery_tables import StoredGallery

logger = logging.getLogger(__name__)

MAX_VAIN: Final = 5
"""Visits in a row that bring nothing to an incomplete story; then it is kept as it is and not asked for again. Chosen: an outage of an
hour passes, and a page that a site has lost is asked for five times at most."""

NO_PICTURES: Final = "no-pictures"


@dataclass(frozen=True, slots=True)
class Filtered:
    """The requests for the stories to visit, without those that led to no photo story within six hours. ``stale``: every entry of the page
    was stored before this visit (or is one of those), so older pages bring nothing."""

    requests: tuple[Request, ...]
    stale: bool


def waits(kept: StoredGallery) -> bool:
    """Whether a stored story is worth another visit. Pure."""
    return not kept.complete and kept.vain < MAX_VAIN


async def filter_new(ledger: Ledger, links: Sequence[Link], spider: Spider, ask: Callable[[Link], Request]) -> Filtered:
    """Of the entries of one index page, those to visit; they wait in the table of links from now on. Counts every one.

    Raises ``StoreError``; then nothing is counted, and nothing of the page is taken.
    """
    names = {name_of(link): link for link in reversed(links) if askable(link.url)}
    known = await asyncio.to_thread(ledger.known.known, list(names))
    kept = await asyncio.to_thread(ledger.store.galleries.known, known)
    old = {name for name in known if name not in kept or not waits(kept[name])}
    refused = await asyncio.to_thread(ledger.store.galleries.refused, set(names) - known, now=utcnow())
    old |= refused | await left_alone(ledger, list(names.values()))
    requests = await ledger.open([names[name] for name in reversed(names) if name not in old], spider, ask, settled=False)
    stale = bool(names) and old == set(names) and not await ledger.added_in_visit(names.values())
    await ledger.count_listed([(name_of(link), link) for link in links], set(requests), old)
    return Filtered(tuple(requests.values()), stale)


async def refuse(ledger: Ledger, link: Link, reason: str) -> None:
    """``link`` leads to no photo story: it failed, and is left alone for six hours."""
    try:
        await asyncio.to_thread(ledger.store.galleries.refuse, name_of(link), reason, now=utcnow())
    except StoreError as error:
        logger.warning("%s will be asked for on the next visit: %s", link.url, error)
    await ledger.fail(link, reason)
