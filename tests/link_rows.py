"""Queries of the link table for tests, and a spider that requests links."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import scrapy
from scrapy import Request
from sqlalchemy import select, update

from newsportal.crawl.link_tracker import Filtered, LinkTracker
from newsportal.crawl.requests import id_of
from newsportal.items import Link
from newsportal.store.link_tables import LINKS, OVER
from newsportal.store.store import Store

SPIDER = scrapy.Spider(name="rss")


def ask(link: Link) -> Request:
    """Return a minimal request for a link."""
    return Request(link.url, meta={"source": link.source}, cb_kwargs={"link": link}, dont_filter=True)


def filtered(tracker: LinkTracker, links: Sequence[Link], **options: Any) -> Filtered:
    return asyncio.run(tracker.filter_new(links, SPIDER, ask, **options))


def let_wait(tracker: LinkTracker, *links: Link) -> None:
    """Store the links as waiting, as a list page does."""
    asyncio.run(tracker.open(list(links), SPIDER, ask, settled=False, again=True))


def waiting(store: Store, source: str | None = None) -> list[str]:
    """Return the URLs of unfinished links in order of arrival."""
    query = select(LINKS.c.body).where(LINKS.c.link == 1, LINKS.c.state.not_in(OVER)).order_by(LINKS.c.number)
    query = query if source is None else query.where(LINKS.c.source == source)
    return [json.loads(body)["url"] for body in store.links.read(lambda tx: tx.connection.scalars(query).all())]


def age(store: Store, link: Link, seconds: float) -> None:
    """Make a link ``seconds`` older."""
    row = store.links.states([id_of(link)])[id_of(link)]
    older = update(LINKS).where(LINKS.c.id == id_of(link)).values(added=row.added - seconds, changed=row.changed - seconds)
    store.links.write(lambda tx: tx.connection.execute(older))
