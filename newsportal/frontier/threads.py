"""Which threads of a forum's list are visited: new ones, and known ones that have grown since. Every entry gets its fate in the report."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from newsportal.extractors.forum.kinds import Listed
from newsportal.frontier.links import askable, name_of
from newsportal.frontier.render_backoff import left_alone

if TYPE_CHECKING:
    from scrapy import Request, Spider

    from newsportal.frontier.ledger import Ledger
    from newsportal.items import Link
    from newsportal.store.threads import StoredThread


@dataclass(frozen=True, slots=True)
class Wanted:
    """A thread to visit: its link, what the list says of it, and what is stored of it."""

    link: Link
    listed: Listed
    kept: StoredThread | None = None


@dataclass(frozen=True, slots=True)
class Filtered:
    """The requests for the threads to visit. ``stale``: every entry but the stuck ones was known before this run and has not grown, so
    older pages bring nothing."""

    requests: tuple[Request, ...]
    stale: bool


def has_grown(listed: Listed, kept: StoredThread) -> bool:
    """Whether a list's word says that a thread has posts which are not stored. Pure.

    The numbers of replies tell it if both visits saw one, else the times; where a list says neither, the thread is looked at again.
    A time counts as later only by more than either is good to.
    """
    if not kept.whole:
        return True
    if listed.replies is not None and kept.replies is not None and listed.replies != kept.replies:
        return True
    if listed.last is not None and kept.listed is not None:
        return listed.last > kept.listed + timedelta(seconds=listed.precision)
    if listed.last is not None and kept.newest is not None:
        return listed.last > kept.newest + timedelta(seconds=listed.precision)
    return listed.replies is None or kept.replies is None


async def filter_new(ledger: Ledger, entries: Sequence[tuple[Link, Listed]], spider: Spider, ask: Callable[[Wanted], Request]) -> Filtered:
    """Of the entries of one list, those to visit; they wait in the table of links from now on. Counts every one.

    Raises ``StoreError``; then nothing is counted, and nothing of the page is taken.
    """
    names = {listed.key: (link, listed) for link, listed in reversed(entries) if askable(link.url)}
    kept = await asyncio.to_thread(ledger.store.threads.known, list(names))
    old = {name for name, (_, listed) in names.items() if name in kept and not has_grown(listed, kept[name])}
    alone = await left_alone(ledger, [link for link, _ in names.values()])
    old |= {name for name, (link, _) in names.items() if name_of(link) in alone}
    links = [names[name][0] for name in reversed(names) if name not in old]

    def request(link: Link) -> Request:
        name = name_of(link)
        return ask(Wanted(link, names[name][1], kept.get(name)))

    requests = await ledger.open(links, spider, request, settled=False)
    await ledger.count_listed([(listed.key, link) for link, listed in entries], set(requests), old)
    stale = all(listed.key in old or listed.sticky for _, listed in entries)
    return Filtered(tuple(requests.values()), stale)
