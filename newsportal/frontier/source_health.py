"""After a visit: a source whose health changed is told of once, and one in quarantine rests."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

from newsportal.dedup.canonical import identity
from newsportal.errors import StoreError
from newsportal.monitor import change, health, together
from newsportal.sources.watched import BRINGING, LATEST

if TYPE_CHECKING:
    from datetime import datetime

    from scrapy.http import Response

    from newsportal.frontier.ledger import Ledger

logger = logging.getLogger(__name__)

FOR_EVER = frozenset({301, 308})
"""Redirects that say: do not ask here again (RFC 9110, 15.4.2 and 15.4.9)."""


async def note_health(ledger: Ledger, sources: Iterable[str], now: datetime) -> None:
    """The visits of these sources are over and written. A store that cannot be asked now is asked after the next visit."""
    for source in sources:
        try:
            await asyncio.to_thread(_look, ledger, source, now)
        except StoreError as error:
            logger.warning("the health of %s is not looked at: %s", source, error)


def _look(ledger: Ledger, source: str, now: datetime) -> None:
    if ledger.offline and ledger.unreached(source):
        return  # the network is away, which is no fault of the source
    told = ledger.store.visits
    visits = together(told.of(source, limit=LATEST), told.of(source, limit=BRINGING, bringing=True))
    if (said := change(visits)) is not None:
        logger.warning("%s %s", source, said.message)
        ledger.note(source, said.message)
    until = health(visits, now).not_before()
    if until is not None and until > now:
        ledger.rest(source, until)


def note_moved(ledger: Ledger, source: str, response: Response) -> None:
    """A list page came: say so if its address has gone for ever."""
    asked = response.meta.get("redirect_urls") or [response.url]
    reasons = [reason for reason in response.meta.get("redirect_reasons", ()) if isinstance(reason, int)]
    if moved := moved_to(asked[0], response.url, reasons):
        ledger.told.moved(source, moved)


def moved_to(asked: str, answered: str, statuses: Iterable[int]) -> str | None:
    """Where a list page has gone for ever; ``None`` where it has not, or only to another spelling of its address (https, www.)."""
    found = tuple(statuses)
    return answered if found and FOR_EVER.issuperset(found) and identity(asked) != identity(answered) else None
