"""Feeds that name a hub: remembered, for the portal to subscribe to (``newsportal.portal.pages.websub``)."""

from __future__ import annotations

import asyncio
import logging
import secrets
from dataclasses import replace
from typing import TYPE_CHECKING

from newsportal.errors import StoreError
from newsportal.frontier.links import askable
from newsportal.schedule.websub import link_targets
from newsportal.store.crawl_state import Subscription

if TYPE_CHECKING:
    from scrapy.http import Response

    from newsportal.frontier.ledger import Ledger

logger = logging.getLogger(__name__)

TOKEN_BYTES, SECRET_BYTES = 24, 32
"""Of chance: callbacks that nobody guesses, and keys for HMAC (the Recommendation allows up to 200 characters)."""


async def offered(ledger: Ledger, source: str, response: Response, hub: str | None, topic: str | None) -> None:
    """A feed was read. Its headers go before what stands in it (WebSub, 4); without a ``self`` it is what we asked for."""
    said = link_targets(b", ".join(response.headers.getlist("Link")).decode("latin-1"), response.url)
    hub, topic = said.get("hub") or hub, said.get("self") or topic or response.url
    sources = ledger.sources
    if not hub or not _sound(hub) or not _sound(topic) or not sources.schedule.websub or not sources.portal.url:
        return
    ledger.told.hub(source, hub)
    try:
        await asyncio.to_thread(_remember, ledger, source, hub, topic)
    except StoreError as error:
        logger.warning("the hub of %s is not remembered: %s", source, error)


def _sound(url: str) -> bool:
    """Whether an address can be sent to a hub: feeds in JSON may hold half characters."""
    return askable(url) and url.isprintable()


def _remember(ledger: Ledger, source: str, hub: str, topic: str) -> None:
    known = ledger.store.subscriptions.of(source)
    if known is not None and (known.hub, known.topic) == (hub, topic):
        return
    if known is None:
        known = Subscription(source, hub, topic, secrets.token_urlsafe(TOKEN_BYTES), secrets.token_hex(SECRET_BYTES))
    ledger.store.subscriptions.save(replace(known, hub=hub, topic=topic, asked=None, tries=0, until=None, denied=None, leaving=False))
