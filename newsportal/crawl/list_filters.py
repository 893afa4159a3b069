"""Select the threads of a forum's list and the photo stories of an index page to visit. Every entry is counted once in the report."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from scrapy import Request, Spider

from newsportal.crawl.link_tracker import Filtered, LinkTracker, utcnow
from newsportal.crawl.requests import can_request, name_of
from newsportal.extractors.forum.kinds import Listed
from newsportal.items import Link
from newsportal.logs import warned
from newsportal.store.threads import StoredThread

logger = logging.getLogger(__name__)

MAX_FRUITLESS: Final = 5  # successive visits that add nothing to an incomplete story, after which it is not visited again

NO_PICTURES: Final = "no-pictures"


@dataclass(frozen=True, slots=True)
class ThreadEntry:
    """A thread to visit, with its list entry and its stored state."""

    link: Link
    listed: Listed
    stored: StoredThread | None = None


def has_grown(listed: Listed, stored: StoredThread) -> bool:
    """Return whether a thread has posts that are not stored: by the counts of replies, else by times, within their precision."""
    if not stored.complete:
        return True
    if listed.replies is not None and stored.replies is not None and listed.replies != stored.replies:
        return True
    if listed.last is not None and (before := stored.last_reply or stored.last_post) is not None:
        return listed.last > before + timedelta(seconds=listed.precision)
    return listed.replies is None or stored.replies is None


async def filter_threads(
    tracker: LinkTracker, entries: Sequence[tuple[Link, Listed]], spider: Spider, ask: Callable[[ThreadEntry], Request]
) -> Filtered:
    """Select new threads and those that have grown; count every entry. ``stale``: all entries are old or sticky.

    Raises ``StoreError``; then nothing is counted or selected.
    """
    names = {listed.key: (link, listed) for link, listed in reversed(entries) if can_request(link.url)}
    stored = await asyncio.to_thread(tracker.store.threads.find_stored, list(names))
    old = {name for name, (_, listed) in names.items() if name in stored and not has_grown(listed, stored[name])}
    links = [names[name][0] for name in reversed(names) if name not in old]

    def request(link: Link) -> Request:
        name = name_of(link)
        return ask(ThreadEntry(link, names[name][1], stored.get(name)))

    requests = await tracker.open(links, spider, request, settled=False)
    readable = [(listed.key, link) for link, listed in entries if can_request(link.url)]
    await tracker.count_listed(readable, requests, old, [link for link, _ in entries if not can_request(link.url)])
    stale = all(listed.key in old or listed.sticky for _, listed in entries)
    return Filtered(tuple(requests.values()), stale)


async def filter_galleries(tracker: LinkTracker, links: Sequence[Link], spider: Spider, ask: Callable[[Link], Request]) -> Filtered:
    """Select new and incomplete stories, except those refused in the last six hours; count every entry.

    Raises ``StoreError``; then nothing is counted or selected.
    """
    names = {name_of(link): link for link in reversed(links) if can_request(link.url)}
    known = await asyncio.to_thread(tracker.stored_urls.find_stored, list(names))
    stories = await asyncio.to_thread(tracker.store.galleries.find_stored, known)
    old = {name for name in known if (story := stories.get(name)) is None or story.complete or story.fruitless_visits >= MAX_FRUITLESS}
    old |= await asyncio.to_thread(tracker.store.galleries.filter_refused, set(names) - known, now=utcnow())
    requests = await tracker.open([names[name] for name in reversed(names) if name not in old], spider, ask, settled=False)
    stale = bool(names) and old == set(names) and not await tracker.added_in_visit(names.values())
    broken = [link for link in links if not can_request(link.url)]
    await tracker.count_listed([(name_of(link), link) for link in links if can_request(link.url)], requests, old, broken)
    return Filtered(tuple(requests.values()), stale)


async def refuse_story(tracker: LinkTracker, link: Link, reason: str) -> None:
    """Record that ``link`` is not a photo story: it failed and is not visited for six hours."""
    with warned(logger, "%s will be requested on the next visit", link.url, url=link.url):
        await asyncio.to_thread(tracker.store.galleries.refuse, name_of(link), reason, now=utcnow())
    await tracker.fail(link, reason)
