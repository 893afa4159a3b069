"""Feeds: ``scrapy crawl rss [-a source=NAME]``."""

from collections.abc import AsyncIterator, Iterable
from html import escape
from typing import Any

from scrapy.http import Request, Response

from newsportal.crawl.link_tracker import utcnow
from newsportal.crawl.source_visits import note_hub
from newsportal.dedup.canonical import identity
from newsportal.extractors.feeds import feed
from newsportal.items import Link, content_id
from newsportal.messages import Message
from newsportal.schedule.freshness import fresh_for, skip_for
from newsportal.sources import Feed
from newsportal.spiders.base import NewsSpider
from newsportal.spiders.fetcher import header
from newsportal.store.results import SourceState


class RssSpider(NewsSpider):
    """Visits feeds with conditional GET; entries become links with their title, summary and date."""

    name = "rss"
    kind = "feed"
    places = "feeds"
    Source = Feed

    def read_links(self, response: Response, source: Feed) -> list[Link | str]:
        found = feed.parse_feed(response.body, response.url, header(response, "Content-Type"), utcnow())
        return [_link(source, entry) for entry in found.entries if entry.url]

    async def visit(self, source: Feed, state: SourceState) -> AsyncIterator[Request]:
        yield self.list_page(source.url, source, self.parse_feed, state=state, meta={"dont_obey_metarefresh": True})

    async def parse_feed(self, response: Response, source: Feed) -> AsyncIterator[Any]:
        found = await self.tracker.readers.read(feed.parse_feed, response.body, response.url, header(response, "Content-Type"), utcnow())
        for seconds in requested_waits(response, found):
            self.tracker.visit_counts.record_wait(source.key, seconds)
        await note_hub(self.tracker, source.key, response, found.hub, found.topic)
        for warning in found.warnings:
            self.tracker.note(source.key, Message(f"warning.{warning}"))
        for output in (await self.filter_new([_link(source, entry) for entry in found.entries if entry.url]))[0]:
            yield output


def requested_waits(response: Response, found: feed.Feed) -> Iterable[float]:
    """Return the seconds between visits that the feed requests, one per way of stating them."""
    headers = [value.decode("latin-1") if (value := response.headers.get(name)) else None for name in ("Cache-Control", "Expires", "Date")]
    waits = (found.ttl_minutes and found.ttl_minutes * 60.0, fresh_for(*headers), skip_for(found.skip_hours, found.skip_days, utcnow()))
    return (wait for wait in waits if wait)


def _link(source: Feed, entry: feed.FeedEntry) -> Link:
    url = entry.url or source.url
    return Link(
        url=url,
        source=source.key,
        title=entry.title,
        summary=entry.summary,
        site=source.publisher,
        published=entry.published or entry.updated,
        author=entry.author,
        category=source.category,
        content=(entry.content_html or escape(entry.summary or "")) if source.fulltext or entry.shared_link else None,
        identity=f"{identity(source.url)}#{content_id(entry.key)}" if entry.shared_link else None,
    )
