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
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from newsportal.dedup.apart import set_apart, shared, spellings
from newsportal.dedup.canonical import identity
from newsportal.errors import StoreError
from newsportal.frontier import hung
from newsportal.frontier.addon import SourcesAddon
from newsportal.frontier.links import NO_ADDRESS, askable, name_of, sound
from newsportal.frontier.reach import OUTAGE, unreached
from newsportal.frontier.record import record_of
from newsportal.frontier.told import Told
from newsportal.report import COUNTERS, SourceReport
from newsportal.storage.base import SourceState

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from newsportal.items import Link
    from newsportal.sources import Sources

logger = logging.getLogger(__name__)

PREFIX = "newsportal/"
"""Scrapy stats are named ``newsportal/SOURCE/COLUMN`` and ``newsportal/SOURCE/failed/REASON``."""

STORE_FAILS = "store-unavailable"
"""The reason, in reports and as a crawl's end, when the store does not take what it is given."""

TAKEN_OVER = "asks again for articles that an earlier run could not fetch"

ONE_ADDRESS = "several entries of a list lead to one address, where one article can be had"

PUT_OFF = 5
"""Times that a link from the queue is put off since its spider has just claimed it. Chosen: ten seconds, in which a list page's requests
are made."""

BLOCKED = "blocked"
"""How the reasons begin when an engine asks who we are."""

GIVE_UP = timedelta(days=7)
"""A link that still fails in passing after so long is done with. Chosen: it was asked for at each of its source's visits, and no news is
read after a week; a list that still names it begins anew."""

GIVE_UP_OFFLINE = 4 * GIVE_UP
"""The same where the reason may be our own network: a machine may be away for weeks."""

GIVEN_UP = "given-up"

OUR_OWN = (STORE_FAILS, "archive", "no-browser", "shutdown")
"""Reasons that lie with us, however long they last: no link is given up for them. A disk may be full for weeks."""

Validators = tuple[str | None, str | None]


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


def utcnow() -> datetime:
    return datetime.now(UTC)


class Ledger:
    """See the module. Methods that ask the store are coroutines; counting is immediate."""

    def __init__(self, crawler: Crawler, sources: Sources) -> None:
        self.sources = sources
        self._stats = crawler.stats
        record = record_of(sources, crawler.settings)
        self._record = record
        self.store = record.store
        self.known = record.known
        self.sites = record.sites
        self.models = record.models
        self._validators: dict[str, dict[str, Validators]] = defaultdict(dict)
        self._notes: dict[str, dict[str, None]] = defaultdict(dict)
        self._errors: dict[str, str] = {}
        self._rests: dict[str, datetime] = {}
        self._layouts: set[str] = set()
        self.hung: dict[str, set[str]] = defaultdict(set)
        self.told = Told()
        self._met: dict[str, set[str]] = defaultdict(set)
        self._claims: dict[str, set[str]] = defaultdict(set)
        self._put_off: Counter[str] = Counter()

    # counting

    def count(self, source: str, column: str, reason: str | None = None, number: int = 1) -> None:
        """Add to a column of the report; ``reason`` for the columns ``failed`` and ``list_failed``."""
        key = f"{PREFIX}{source}/{column}"
        self._stats.inc_value(f"{key}/{reason}" if reason else key, number)
        self.told.count(source, column, reason, number)
        if column == "list_pages":
            self._record.reach.reached()

    def note(self, source: str, text: str) -> None:
        """A sentence for the reader of the report, once. Stages call it from their threads, too."""
        self._notes[source].setdefault(text)

    def report(self) -> tuple[SourceReport, ...]:
        """The rows so far, by source."""
        rows: dict[str, dict[str, dict[str, int]]] = defaultdict(lambda: {"": {}, "failed": {}, "list_failed": {}})
        for key, value in self._stats.get_stats().items():
            if key.startswith(PREFIX):
                source, column, *reason = key.removeprefix(PREFIX).split("/", 2)
                if reason:
                    rows[source][column][reason[0]] = value
                elif column in COUNTERS:
                    rows[source][""][column] = value
        for source in self._notes:
            rows[source]  # a source that only has a note has a row too
        return tuple(
            SourceReport(
                source=source,
                **tables[""],
                failed=tables["failed"],
                list_failed=tables["list_failed"],
                notes=tuple(self._notes.get(source, ())),
            )
            for source, tables in sorted(rows.items())
        )

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
            self.note(link.source, f"articles that could not be had for {GIVE_UP.days} days or more are given up ({reason})")
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

    # list pages

    def list_failed(self, source: str, reason: str, detail: str | None = None) -> None:
        """A list page gave nothing; ``detail`` is for the source's health page."""
        self.count(source, "list_failed", reason)
        self._errors[source] = f"{reason}: {detail}" if detail else reason
        if unreached([reason]):
            self._record.reach.missed(source, detail or "")

    def list_left(self, source: str, reason: str) -> None:
        """A list page that is not for us (a board for members only) is counted in the report; the visit has not failed by it."""
        self._stats.inc_value(f"{PREFIX}{source}/list_failed/{reason}")

    def validate(self, source: str, url: str, validators: Validators) -> None:
        """Remember a list page's ETag and Last-Modified; saved at the end of the run, when its links are safely deferred."""
        self._validators[source][url] = validators

    def rest(self, source: str, until: datetime) -> None:
        """Leave ``source`` alone until then (a captcha, a Retry-After)."""
        self._rests[source] = until
        self.told.asked(source, max(0.0, (until - utcnow()).total_seconds()))

    async def rest_at_once(self, source: str, until: datetime) -> None:
        """The same, and told to the workers that ask it just now: see :meth:`rests`."""
        self.rest(source, until)
        try:
            await asyncio.to_thread(self._save_rest, source, until)
        except StoreError as error:
            logger.warning("other workers are not told that %s rests: %s", source, error)

    def _save_rest(self, source: str, until: datetime) -> None:
        self.store.save_source_state(replace(self.store.source_state(source), rest_until=until))

    async def rests(self, source: str) -> bool:
        """Whether some worker was asked to leave ``source`` alone. While the store is away it is not known, and said to be false."""
        try:
            until = (await self.state(source)).rest_until
        except StoreError:
            return False
        return until is not None and until > utcnow()

    def layout_changed(self, source: str) -> None:
        """The wrapper of ``source`` found nothing where the template-free reader did."""
        self._layouts.add(source)
        self.note(source, "layout changed: the template-free reader took over")

    async def state(self, source: str) -> SourceState:
        return await asyncio.to_thread(self.store.source_state, source)

    async def begin(self, state: SourceState) -> bool:
        """A visit of a source begins. Whether it must be thorough: the one before did not come to its end, or there was none.

        Else list pages may lie behind one whose entries are all known: the run was killed before it got there. Raises ``StoreError``.
        """
        if state.unfinished is None:
            await asyncio.to_thread(self.store.save_source_state, replace(state, unfinished=utcnow()))
        return state.unfinished is not None or state.last_success is None

    @property
    def offline(self) -> bool:
        """Whether the network is away, by what all spiders of this process met (:class:`Reach`): no fault of the sources."""
        return self._record.reach.away

    def unreached(self, source: str) -> bool:
        """Whether its host was not reached, as is the case where there is no network."""
        return self._errors.get(source, "").startswith(OUTAGE)

    @property
    def met(self) -> frozenset[str]:
        """Sources whose links had an outcome here, that is not forgotten."""
        return frozenset(self._met)

    @property
    def claimed(self) -> frozenset[str]:
        """Sources whose links were claimed here and had no outcome here: they wait, or another worker has them, or had."""
        return frozenset(source for source, names in self._claims.items() if names)

    async def hand_over(self, source: str) -> None:
        """What this process saw of a visit that another one began and will close, for the next visit. Raises ``StoreError``."""
        if self._validators.get(source) or source in self._rests or source in self._layouts or self.hung.get(source):
            await asyncio.to_thread(self._save_seen, source)

    def _save_seen(self, source: str) -> None:
        self.store.save_source_state(self._seen(self.store.source_state(source), utcnow()))

    def _seen(self, state: SourceState, now: datetime) -> SourceState:
        """``state`` with what was seen of the source here."""
        source = state.source
        return replace(
            state,
            validators={**state.validators, **self._validators.get(source, {})},
            rest_until=self._rests.get(source, state.rest_until),
            layout_changed=now if source in self._layouts else state.layout_changed,
            hung=hung.counted(state.hung, self.hung.get(source, set()), now),
        )

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

    async def close(self, visited: Iterable[str], now: datetime, *, finished: bool = True) -> None:
        """Save what is remembered of the sources visited in this run; ``finished``: it was not cut short. Raises ``StoreError``."""
        seen = set(visited)
        away = self.offline
        for source in sorted(seen):
            await asyncio.to_thread(self._save_state, source, now, away and self.unreached(source), finished)

    def _save_state(self, source: str, now: datetime, ours: bool, finished: bool) -> None:
        state = self.store.source_state(source)
        error = self._errors.get(source) or self._failed_elsewhere(source)
        if ours:
            self.store.save_source_state(replace(state, last_error=error))
            return
        complete = finished and (error is None or error.startswith(BLOCKED))  # an engine that blocks is not asked for more
        self.store.save_source_state(
            replace(
                self._seen(state, now),
                last_run=now,
                last_success=state.last_success if error else now,
                last_error=error or state.last_error,
                failures_in_row=state.failures_in_row + 1 if error else 0,
                unfinished=None if complete else state.unfinished,
            )
        )

    def _failed_elsewhere(self, source: str) -> str | None:
        """Why list pages of the visit that ends failed in another process."""
        visits = self.store.visits.of(source, limit=1)
        return max(visits[0].list_failed, key=visits[0].list_failed.__getitem__, default=None) if visits else None
