"""Publish what is new: follow the store's change log for a target, then process its outbox.

The process may die between any two steps, and any number of processes may run concurrently:

1. changed articles are added to the outbox and the position is advanced, in one transaction of the store;
2. entries are leased for :data:`LEASE` seconds;
3. the target is written to, in a transaction of its own that also records what was written;
4. the result is recorded in the outbox. If the process dies between 3 and 4, the entry is leased again, and the target finds it published.
"""

import logging
import os
import platform
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from time import monotonic
from typing import Final
from uuid import uuid4

from newsportal.errors import NewsportalError
from newsportal.services.publishing.base import AlreadyPublished, BadTarget, Deleted, Published, Refused, RetryLater, Target, TargetDown
from newsportal.services.publishing.fields import DocumentTarget, story_version
from newsportal.services.publishing.targets import Action, candidates, decide
from newsportal.sources.publishing import Target as Settings
from newsportal.store.outbox import OutboxEntry, Result
from newsportal.store.results import Change, StoredArticle
from newsportal.store.store import Store

logger = logging.getLogger(__name__)

LEASE: Final = 120.0
"""Seconds of the lease of entries. Statements that take longer than half of that are rare; the fence protects against them."""

BATCH: Final = 20  # entries leased at once
BULK_BATCH: Final = 200  # the same for a target that takes many articles in one call
CHANGES: Final = 500  # changes processed in one transaction
LONGEST_WAIT: Final = timedelta(hours=6)  # maximum wait until an article is retried
MAX_TRIES: Final = 12  # then it has failed: with the waits above after about a day
DRY: Final = 10_000  # maximum waiting entries in a dry run
BUSY_WAIT: Final = timedelta(seconds=5)  # until another version of the story is checked again


def owner_name() -> str:
    """Return the owner of leases, unique for each process and run."""
    return f"{platform.node() or 'localhost'}:{os.getpid()}:{uuid4().hex[:8]}"


@dataclass(slots=True)
class Tally:
    """Counts of a run at one target. ``unavailable``: why it cannot be reached now; ``unfit``: what must be corrected."""

    target: str
    published: int = 0
    revised: int = 0
    unchanged: int = 0
    withdrawn: int = 0
    left_out: int = 0
    failed: int = 0
    postponed: int = 0
    unavailable: str | None = None
    unfit: str | None = None
    reasons: list[str] = field(default_factory=list)

    @property
    def done(self) -> int:
        return self.published + self.revised + self.unchanged + self.withdrawn + self.left_out + self.failed + self.postponed


@dataclass(frozen=True, slots=True)
class Work:
    """A store, a target with its settings, a clock (``Outbox.now``: leases are compared with those of other machines), and the owner of
    leases. ``stopped`` is called between articles; ``on_progress`` after each."""

    store: Store
    settings: Settings
    target: Target
    now: Callable[[], datetime]
    owner: str = field(default_factory=owner_name)
    stopped: Callable[[], bool] = lambda: False
    on_progress: Callable[[Tally], None] = lambda tally: None


def publish(work: Work, *, limit: int | None = None) -> Tally:
    """Follow the changes and publish at most ``limit`` waiting articles. Raises ``StoreError``; errors of the target are in the tally."""
    tally = Tally(work.settings.name)
    try:
        follow(work)  # first: what waits for a target that is away is counted
        work.target.check()
        while not work.stopped() and (limit is None or tally.done < limit):
            batch = BULK_BATCH if isinstance(work.target, DocumentTarget) else BATCH
            batch = batch if limit is None else min(batch, limit - tally.done)
            entries = work.store.outbox.lease_due(work.settings.name, work.owner, now=work.now(), seconds=LEASE, limit=batch)
            if not entries:
                break
            _deliver(work, entries, tally)
    except TargetDown as error:
        tally.unavailable = str(error)
    except BadTarget as error:
        tally.unfit = str(error)
    return tally


def follow(work: Work) -> None:
    """Add articles changed since the last call to the outbox."""
    store, name = work.store, work.settings.name
    while not work.stopped():
        after = store.outbox.position(name)
        changes = store.changes(after, CHANGES)
        if not changes:
            return
        to_check, to_withdraw = split_changes(work, changes)
        store.outbox.follow(name, to_check, to_withdraw, after=after, up_to=changes[-1].seq, now=work.now())


def split_changes(work: Work, changes: Collection[Change]) -> tuple[list[str], list[str]]:
    """Return the articles to check, and those to withdraw."""
    store, target = work.store, work.settings.name
    ids = list(dict.fromkeys(change.id for change in changes))
    articles = store.articles(ids)
    entries = store.outbox.of(target, ids)
    heads, siblings = {}, []
    bulk = isinstance(work.target, DocumentTarget)
    if work.settings.only.versions == "heads" or bulk:
        former = {entry.location for entry in entries.values() if entry.location} if bulk else set()  # their former stories
        stories = store.by_id({article.story_id for article in articles} | former)
        heads = {story_id: story.head.id for story_id, story in stories.items()}
        changed = [store.story(id) for id, story in stories.items() if bulk and (story.count > 1 or id in former)]
        siblings = [version.id for story in changed if story is not None for version in story.versions]
    to_check = candidates(work.settings, articles, heads, entries)
    to_check += [id for id in store.outbox.of(target, siblings) if id not in to_check]
    found = {article.id for article in articles}
    return to_check, [change.id for change in changes if change.kind == "gone" and change.id not in found]


def load_articles(work: Work, ids: Collection[str]) -> dict[str, StoredArticle]:
    """Return id → article for those that exist; for targets of documents with data of their stories."""
    articles = work.store.articles(list(ids))
    if isinstance(work.target, DocumentTarget):
        stories = work.store.by_id({article.story_id for article in articles})
        articles = [story_version(article, stories.get(article.story_id)) for article in articles]
    return {article.id: article for article in articles}


def _deliver(work: Work, entries: list[OutboxEntry], tally: Tally) -> None:
    """Process leased entries. Those not processed in time, or when the target is down, are released."""
    began, size = monotonic(), BULK_BATCH if isinstance(work.target, DocumentTarget) else 1
    for place in range(0, len(entries), size):
        if work.stopped() or monotonic() - began > LEASE / 2:
            work.store.outbox.give_back(entries[place:], now=work.now())
            return
        try:
            _handle(work, entries[place : place + size], tally)
        except (TargetDown, BadTarget) as error:
            now, remaining = work.now(), entries[place:]
            # the first is queued last: if the target fails for this article only (it takes too long), the others are not blocked
            work.store.outbox.give_back(remaining[1:], now=now - timedelta(microseconds=1), reason=str(error))
            work.store.outbox.give_back(remaining[:1], now=now, reason=str(error))
            raise
        except BaseException:
            work.store.outbox.give_back(entries[place:], now=work.now())
            raise
        work.on_progress(tally)


def _handle(work: Work, entries: Sequence[OutboxEntry], tally: Tally) -> None:
    """Decide about entries, and put articles in one call. Each entry is settled as soon as its result is known."""
    articles = load_articles(work, [entry.article_id for entry in entries])
    puts: list[tuple[StoredArticle, OutboxEntry]] = []
    digests: list[str] = []
    for entry in entries:
        article = articles.get(entry.article_id)
        try:
            result: Result | str | None = _result(work, entry, article, tally)
        except Exception as error:  # noqa: BLE001 (raised or logged by _failure)
            result = _failure(work, entry, error, tally)
        if isinstance(result, str) and article is not None:
            puts.append((article, entry))
            digests.append(result)
        elif isinstance(result, Result):
            work.store.outbox.settle(entry, result, now=work.now())
    for (article, entry), digest, outcome in zip(puts, digests, _put_all(work.target, puts), strict=True):
        if isinstance(outcome, Published):
            tally.revised += entry.published
            tally.published += not entry.published
            settled: Result | None = Result("done", outcome.note, article.revision, digest, outcome.place)
        else:
            settled = _failure(work, entry, outcome, tally)
        if settled is not None:
            work.store.outbox.settle(entry, settled, now=work.now())


def _put_all(target: Target, puts: Sequence[tuple[StoredArticle, OutboxEntry]]) -> Sequence[Published | Exception]:
    """Return the result of each: in one call if the target takes many, one by one if that fails."""
    if isinstance(target, DocumentTarget) and len(puts) > 1:
        try:
            return target.put_many(puts)
        except (TargetDown, BadTarget):
            raise
        except Exception:
            logger.warning("%s: %d articles one by one", puts[0][1].target, len(puts), exc_info=True)
    outcomes: list[Published | Exception] = []
    for article, entry in puts:
        try:
            outcomes.append(target.put(article, entry))
        except (TargetDown, BadTarget):
            raise
        except Exception as error:  # noqa: BLE001 (raised or logged by _failure)
            outcomes.append(error)
    return outcomes


def _result(work: Work, entry: OutboxEntry, article: StoredArticle | None, tally: Tally) -> Result | str:
    """Return the result of an entry, or the digest of its article if it is to be put."""
    if entry.tries > MAX_TRIES:
        return _failed(entry, f"given up after {MAX_TRIES} tries; {entry.reason or 'each process that had it ended'}", tally)
    action, reason = _decision(work, entry, article)
    if action == "put" and article is not None:
        digest = work.target.digest(article)
        if digest != entry.digest:
            return digest
        tally.unchanged += 1
        return Result("done", None, article.revision, digest, entry.location)
    if action == "remove":
        work.target.remove(article, entry)
        tally.withdrawn += 1
        return Result("withdrawn")
    if action == "wait":
        tally.postponed += 1
        return Result("waiting", reason, due=work.now() + BUSY_WAIT, tried=False)
    if action == "skip":
        tally.left_out += 1
        return Result("withdrawn", reason)
    tally.unchanged += 1
    return Result("done", None, entry.revision, entry.digest, entry.location)


def _failure(work: Work, entry: OutboxEntry, error: Exception, tally: Tally) -> Result | None:
    """Return the result for an error about one article; ``None`` if another process has leased it. Raises other ``NewsportalError``."""
    if isinstance(error, RetryLater):
        return _put_off(entry, error, work.now(), tally)
    if isinstance(error, Deleted):
        tally.withdrawn += 1
        return Result("withdrawn", str(error))
    if isinstance(error, AlreadyPublished):
        return None
    if isinstance(error, Refused):
        return _failed(entry, str(error), tally)
    if isinstance(error, NewsportalError):
        raise error
    logger.error("%s: article %s", entry.target, entry.article_id, exc_info=error)  # a bug concerning one article must not block the others
    return _put_off(entry, RetryLater(f"{type(error).__name__}: {error}"), work.now(), tally)


def _decision(work: Work, entry: OutboxEntry, article: StoredArticle | None) -> tuple[Action, str | None]:
    head, others = None, {}
    if article is not None and not entry.published and work.settings.only.versions == "heads":
        story = work.store.story(article.story_id)
        if story is not None:
            head = story.head.id
            others = work.store.outbox.of(work.settings.name, [version.id for version in story.versions])
    action = decide(work.settings, entry, article, head, others.values())
    reasons = {"wait": "another version of its story is being published", "skip": "it is not to be published there"}
    return action, reasons.get(action)


def _put_off(entry: OutboxEntry, error: RetryLater, now: datetime, tally: Tally) -> Result:
    if entry.tries >= MAX_TRIES:
        return _failed(entry, f"{error}; given up after {entry.tries} tries", tally)
    tally.postponed += 1
    tally.reasons.append(f"{entry.article_id}: {error}; it is tried again")
    return Result("waiting", str(error), due=now + error.wait(entry.tries, LONGEST_WAIT))


def _failed(entry: OutboxEntry, reason: str, tally: Tally) -> Result:
    tally.failed += 1
    tally.reasons.append(f"{entry.article_id}: {reason}")
    return Result("failed", reason)


def pending(work: Work) -> Iterator[tuple[StoredArticle | None, OutboxEntry]]:
    """Yield what a run would write, in order, without writing: for a dry run. Raises as :func:`publish` does."""
    now, seen = work.now(), set()
    for entry in work.store.outbox.entries(work.settings.name, states=("waiting", "under-way"), limit=DRY):
        seen.add(entry.article_id)
        yield from _dry_run_step(work, entry)
    after = work.store.outbox.position(work.settings.name)
    while changes := work.store.changes(after, CHANGES):
        to_check, to_withdraw = split_changes(work, changes)
        entries = work.store.outbox.of(work.settings.name, [*to_check, *to_withdraw])
        for id in (*to_check, *(id for id in to_withdraw if id in entries)):
            if id not in seen:
                seen.add(id)
                new = OutboxEntry(work.settings.name, id, due=now, changed=now, action="withdraw" if id in to_withdraw else "publish")
                yield from _dry_run_step(work, entries.get(id, new))
        after = changes[-1].seq


def _dry_run_step(work: Work, entry: OutboxEntry) -> Iterator[tuple[StoredArticle | None, OutboxEntry]]:
    article = load_articles(work, [entry.article_id]).get(entry.article_id)
    action, _ = _decision(work, entry, article)
    if action == "remove":
        yield article, replace(entry, action="withdraw")
    elif action == "put" and article is not None and work.target.digest(article) != entry.digest:
        yield article, entry
