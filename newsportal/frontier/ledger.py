"""What a crawl knows and counts: the sources, the store, the known URLs, and the figures of the run report.

One ledger a crawler (:func:`ledger_of`); ledgers of one process that write to one store share it and what it knows of URLs and sites.
Every entry a list page gave has exactly one fate here, so the report adds up (``newsportal.report``).
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from operator import itemgetter
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from newsportal.dedup.apart import set_apart, shared, spellings
from newsportal.dedup.canonical import identity
from newsportal.errors import StoreError
from newsportal.frontier import hung
from newsportal.frontier.addon import SourcesAddon
from newsportal.frontier.figures import PREFIX
from newsportal.frontier.figures import utcnow as utcnow  # every part of a crawl asks the time here
from newsportal.frontier.links import NO_ADDRESS, askable, name_of, sound
from newsportal.frontier.reach import OUTAGE
from newsportal.frontier.record import record_of
from newsportal.frontier.states import States
from newsportal.messages import Message

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from newsportal.items import Link
    from newsportal.sources import Sources

logger = logging.getLogger(__name__)

STORE_FAILS = "store-unavailable"
"""The reason, in reports and as a crawl's end, when the store does not take what it is given."""

TAKEN_OVER = Message("note.retries-articles")

ONE_ADDRESS = Message("note.one-address")

PUT_OFF = 5
"""Times that a link from the queue is put off since its spider has just claimed it. Chosen: ten seconds, in which a list page's requests
are made."""

GIVE_UP = timedelta(days=7)
"""A link that still fails in passing after so long is done with. Chosen: it was asked for at each of its source's visits, and no news is
read after a week; a list that still names it begins anew."""

GIVE_UP_OFFLINE = 4 * GIVE_UP
"""The same where the reason may be our own network: a machine may be away for weeks."""

GIVEN_UP = "given-up"

OUR_OWN = (STORE_FAILS, "archive", "no-browser", "shutdown")
"""Reasons that lie with us, however long they last: no link is given up for them. A disk may be full for weeks."""


@dataclass(frozen=True, slots=True)
class Sifted:
    """The links to fetch. ``stale``: every entry of the page was stored before this run, so older pages bring nothing."""

    fresh: tuple[Link, ...]
    stale: bool


_LEDGERS: WeakKeyDictionary[Crawler, Ledger] = WeakKeyDictionary()


def ledger_of(crawler: Crawler) -> Ledger:
    """The ledger of a crawler, opened at the first call. Raises ``StoreError`` or ``SourcesError``."""
    ledger = _LEDGERS.get(crawler)
    if ledger is None:
        addon = crawler.get_addon(SourcesAddon)
        if addon is None:
            raise RuntimeError("the setting ADDONS lacks newsportal.frontier.addon.SourcesAddon")
        ledger = _LEDGERS[crawler] = Ledger(crawler, addon.sources)
    return ledger


class Ledger(States):
    """See the module. Methods that ask the store are coroutines; counting is immediate."""

    def __init__(self, crawler: Crawler, sources: Sources) -> None:
        record = record_of(sources, crawler.settings)
        super().__init__(crawler.stats, record.reach, record.store)
        self.sources = sources
        self._record = record  # ledgers share it as long as one of them holds it
        self.known = record.known
        self.sites = record.sites
        self.models = record.models
        self._met: dict[str, set[str]] = defaultdict(set)
        self._claims: dict[str, set[str]] = defaultdict(set)
        self._put_off: Counter[str] = Counter()

    # links

    async def sift(self, links: Sequence[Link]) -> Sifted:
        """Of the entries of one list page, those to fetch: not stored, not met before in this run. Counts every one.

        Raises ``StoreError``; then nothing is counted, and nothing of the page is taken.
        """
        broken = [link for link in links if not sound(link)]
        links = await self._told_apart([link for link in links if sound(link)])
        by_identity: dict[str, Link] = {}
        for link in links:
            by_identity.setdefault(name_of(link), link)
        known = await asyncio.to_thread(self.known.known, list(by_identity)) | await hung.left_alone(self, list(by_identity.values()))
        fresh = {name: link for name, link in by_identity.items() if name not in known and self.claim(link.source, name)}
        try:
            if fresh:  # before the first is asked for: after a crash the next run finds them here
                await asyncio.to_thread(self.store.defer, list(fresh.values()), now=utcnow())
        except StoreError:
            for name, link in fresh.items():
                self.release(link.source, [name])
            raise
        for link in links:
            name = name_of(link)
            self.count(link.source, "entries")
            self.count(link.source, "new" if fresh.get(name) is link else "known" if name in known else "repeated")
            if fresh.get(name) is link and link.published is not None:
                self.told.published(link.source, [link.published])
        for link in broken:
            self.count(link.source, "entries")
            self.count(link.source, "new")
            await self.fail(link, NO_ADDRESS)
        return Sifted(tuple(fresh.values()), stale=all(name in known and not self.known.met_first_here(name) for name in by_identity))

    async def _told_apart(self, links: Sequence[Link]) -> list[Link]:
        """``links``, each with a name of its own. Raises ``StoreError``."""
        others = spellings(links)
        known = await asyncio.to_thread(self.known.known, others) if others else set()
        if shared(links):
            self.note(links[0].source, ONE_ADDRESS)
        return set_apart(links, known)

    async def lead(self, link: Link, target: str) -> Link | None:
        """``link`` was a redirect to ``target``: the link to fetch now; ``None`` if there is nothing to fetch (counted as what it is).

        Raises ``StoreError``; then ``link`` waits as before.
        """
        if not askable(target):
            await self.fail(link, NO_ADDRESS)
            return None
        found, name = replace(link, url=target, identity=None), identity(target)
        if name == name_of(link):  # to https, or to www.: claimed already, by this very link
            return found
        known = bool(await asyncio.to_thread(self.known.known, [name]))
        if known or not self.claim(link.source, name):
            self.count(link.source, "new", number=-1)
            self.count(link.source, "known" if known else "repeated")
            self._decided(link)
            await self._done(link)
            return None
        try:
            await asyncio.to_thread(self.store.defer, [found], now=utcnow())
        except StoreError:
            self.release(link.source, [name])
            raise
        self._decided(link)
        await self._done(link)
        return found

    async def resume(self, source: str) -> tuple[Link, ...]:
        """Links of earlier runs that have no outcome yet (the run was killed, or their server was away), sifted. Raises ``StoreError``."""
        waiting = await asyncio.to_thread(self.store.deferred, source)
        if not waiting:
            return ()
        self.note(source, TAKEN_OVER)
        known = await asyncio.to_thread(self.known.known, [name_of(link) for link in waiting])
        await self._done(*(link for link in waiting if name_of(link) in known))  # another source brought them since
        fresh = (await self.sift(waiting)).fresh
        self._of_before(source, len(waiting), len(fresh))
        return fresh

    def _of_before(self, source: str, entries: int, new: int) -> None:
        """Links that the report counts anew were entries of a visit before: the present one did not find them."""
        self.told.count(source, "entries", number=-entries)
        self.told.count(source, "new", number=-new)

    async def restored(self, links: Sequence[Link], *, settled: bool = True) -> list[bool | None]:
        """Which links of requests that another process or an earlier run left in the queue are to be asked for; counts every one.
        ``None``: not yet, this spider has claimed it and is about to ask for it; that is not counted.

        ``settled``: what is stored by now is not. Threads and photo stories are not settled by that, they grow: of them those are done
        whose links wait no more, and one that this spider has claimed is read already, from where it was. While the store is away all
        are to be asked for: it is asked again before anything is stored.
        """
        try:
            known = await asyncio.to_thread(self._known_by_now, links, settled)
        except StoreError as error:
            logger.warning("%d links of an earlier run are asked for unseen: %s", len(links), error)
            known = set()
        await self._done(*(link for link in links if name_of(link) in known))
        return [self._restores(link, name_of(link) in known, settled) for link in links]

    def _known_by_now(self, links: Sequence[Link], settled: bool) -> set[str]:
        if settled:
            return self.known.known([name_of(link) for link in links])
        return {name_of(link) for link in links if self.store.waits_since(link.identity or link.url) is None}

    def _restores(self, link: Link, known: bool, settled: bool) -> bool | None:
        name = name_of(link)
        fresh = not known and self.claim(link.source, name)
        if settled and not known and not fresh and any(name in names for names in self._claims.values()):
            self._put_off[name] += 1
            if self._put_off[name] <= PUT_OFF:
                return None
            fresh = True  # who claimed it has left it: better twice than never
        self._put_off.pop(name, None)
        self.note(link.source, TAKEN_OVER)
        self.count(link.source, "entries")
        self.count(link.source, "new" if fresh else "known" if known else "repeated")
        self._of_before(link.source, 1, int(fresh))
        return fresh

    async def settle(self, link: Link, column: str, *, later: bool = False) -> None:
        """``link`` led to an article that is ``stored``, ``folded`` or ``same``. ``later``: there is more of it, so it stays deferred."""
        self._decided(link)
        self.count(link.source, "parsed")
        self.count(link.source, column)
        if not later:
            await self._done(link)

    async def fail(self, link: Link, reason: str, *, later: bool = False) -> None:
        """``link`` failed. ``later``: it may work another time, so it stays deferred; else it is done, as is what hangs again and again,
        and what has failed for so long that nobody will read it as news (counted ``given-up``)."""
        self._decided(link)
        if later and await self._over(link, reason):
            self.note(link.source, Message("note.given-up", days=GIVE_UP.days, reason=reason))
            later, reason = False, GIVEN_UP
        self.count(link.source, "failed", reason)
        if later and reason in hung.HANGS:
            later = not await hung.hangs_again(self, link)
        if not later:
            await self._done(link)

    def claim(self, source: str, name: str) -> bool:
        """Take a link of this name for this process, until it has an outcome here or the visit is over; False if it is taken."""
        if not self.known.claim(name):
            return False
        self._claims[source].add(name)
        return True

    def release(self, source: str, names: Iterable[str]) -> None:
        """Give claims back: nobody asks for these."""
        over = set(names)
        self.known.release(over)
        self._claims[source] -= over

    def _decided(self, link: Link) -> None:
        """It has its outcome."""
        name = name_of(link)
        self._claims[link.source].discard(name)
        self._met[link.source].add(name)

    async def _over(self, link: Link, reason: str) -> bool:
        """Whether a link that fails once more has waited for too long. Where no network may be the reason, that takes longer."""
        if reason in OUR_OWN:
            return False
        try:
            since = await asyncio.to_thread(self.store.waits_since, link.identity or link.url)
        except StoreError:
            return False
        return since is not None and utcnow() - since > (GIVE_UP_OFFLINE if reason in OUTAGE else GIVE_UP)

    async def _done(self, *links: Link) -> None:
        """These wait no longer. If the store cannot be told, the next run asks once more and finds the article known."""
        if not links:
            return
        try:
            await asyncio.to_thread(self.store.settle, [link.identity or link.url for link in links])
        except StoreError as error:
            logger.warning("%d links will be asked for once more: %s", len(links), error)

    # visits

    @property
    def met(self) -> frozenset[str]:
        """Sources whose links had an outcome here, that is not forgotten."""
        return frozenset(self._met)

    @property
    def claimed(self) -> frozenset[str]:
        """Sources whose links were claimed here and had no outcome here: they wait, or another worker has them, or had."""
        return frozenset(source for source, names in self._claims.items() if names)

    def over(self, source: str) -> None:
        """A visit is over for all workers, and saved: what others had of it may be asked for anew, if it failed there."""
        self.forget(source)
        self.known.past(self._claims.pop(source, ()))

    def forget(self, source: str) -> None:
        """What this process did of a visit is saved: nothing of it is needed any more."""
        for memory in (self._errors, self._validators, self._rests, self.hung):
            memory.pop(source, None)
        self._layouts.discard(source)
        self.known.past(self._met.pop(source, ()))

    def begin_anew(self) -> None:
        """A new report of a process that stays: counters are 0, but for links that have no outcome yet, neither here nor elsewhere."""
        left = {row.source: min(row.left, len(self._claims.get(row.source, ()))) for row in self.report() if row.left > 0}
        for key in [key for key in self._stats.get_stats() if key.startswith(PREFIX)]:
            self._stats.get_stats().pop(key)
        self._notes.clear()
        for source, number in filter(itemgetter(1), left.items()):
            for column in ("entries", "new"):
                self._stats.set_value(f"{PREFIX}{source}/{column}", number)
