"""Stored fingerprints of articles, and the in-memory index over them; reposts are found by the rule of ``dedup.judge``.

The rows are written, replaced and pruned in the transaction that writes the article. The index follows them like the search index, by row
numbers and by moves of articles; a process loads it when it first adds an article. It is updated inside each write transaction, so it
includes what other processes have just committed (docs/decisions/reposts-in-the-store.md).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Connection, bindparam, delete, func, insert, select

from newsportal.dedup import finder
from newsportal.dedup.document import WINDOW, Document, Verdict, title_letters
from newsportal.dedup.title_index import TitleIndex
from newsportal.items import Article, Fold
from newsportal.store.columns import EPOCH
from newsportal.store.tables import ARTICLES, CHANGES, PRINTS, STORIES

if TYPE_CHECKING:  # loaded by processes that add articles, with numpy
    from newsportal.dedup.fingerprints import Fingerprint
    from newsportal.dedup.shingle_index import Likely, ShingleIndex

SPAN: Final = timedelta(days=WINDOW)  # how long a text is remembered after it was seen, and the maximum distance in time of reposts
MAX_FINGERPRINTS: Final = 1_000_000  # the newest are kept: 0.5 GB in each process that adds articles, 1 GB in the database
PAGE: Final = 5000  # rows read at once
PRUNED: Final = 128  # rows pruned at once, …
PRUNE_EVERY: Final = 64  # … in one of so many writes: twice as many as are added
PART, MORE = "part-of-text", "contains-text"
ASTRAY: Final = frozenset({(PART, MORE), (MORE, PART)})
"""Pairs of reasons, of a text and of the one it repeats, that leave the story: two parts of one round-up are two stories, and so are two
long reports that contain the same short one."""

ROWS = (
    select(PRINTS.c.number, PRINTS.c.shingles, PRINTS.c.length, PRINTS.c.title, ARTICLES.c.story_id)
    .join(ARTICLES, ARTICLES.c.id == PRINTS.c.article_id)
    .where(PRINTS.c.number > bindparam("number"))
    .order_by(PRINTS.c.number)
    .limit(bindparam("most"))
)
NEWS = (  # the last known change, and all later ones; articles that are not compared, or deleted, have no fingerprint
    select(CHANGES.c.seq, CHANGES.c.kind, PRINTS.c.number, PRINTS.c.shingles, PRINTS.c.length, PRINTS.c.title, ARTICLES.c.story_id)
    .outerjoin(PRINTS, PRINTS.c.article_id == CHANGES.c.id)
    .outerjoin(ARTICLES, ARTICLES.c.id == PRINTS.c.article_id)
    .where(CHANGES.c.seq >= bindparam("seq"))
    .order_by(CHANGES.c.seq)
    .limit(bindparam("most"))
)
CANDIDATES = (
    select(PRINTS, ARTICLES.c.story_id, ARTICLES.c.fold_reason, STORIES.c.count)
    .join(ARTICLES, ARTICLES.c.id == PRINTS.c.article_id)
    .join(STORIES, STORIES.c.id == ARTICLES.c.story_id)
    .where(PRINTS.c.number.in_(bindparam("numbers", expanding=True)))
    .order_by(PRINTS.c.number)
)
LAST_SEQ, FIRST, NEWEST = select(func.max(CHANGES.c.seq)), select(func.min(PRINTS.c.number)), select(func.max(PRINTS.c.number))
OLDEST = select(PRINTS.c.number, PRINTS.c.added).order_by(PRINTS.c.number).limit(PRUNED)
NEW, GONE = insert(PRINTS), delete(PRINTS).where(PRINTS.c.article_id == bindparam("article"))
PRUNE = delete(PRINTS).where(PRINTS.c.number <= bindparam("last"))


def last_seq(connection: Connection) -> int:
    return connection.scalar(LAST_SEQ) or 0


class PrintIndex:
    """A process' index of the stored fingerprints. Shared between threads; one per database."""

    def __init__(self) -> None:
        self._index: ShingleIndex
        self._number = 0  # of the last row read
        self.last_seq = 0
        self.read = False
        self.finder: FinderIndex | None = None  # replaces the judge, if set
        self._lock = Lock()
        self._batch = Lock()

    def catch_up(self, connection: Connection) -> tuple[int, bool]:
        """Read new rows, at most a page; return the last change that ``connection`` sees (0 if already known here), and whether there is
        more. ``read``: all rows were read once.

        Call before a transaction writes: only committed rows are read, so a failed transaction leaves nothing in the index. A transaction
        that reads its own rows runs within :meth:`forget_on_error`.
        """
        with self._lock:
            if self.read:
                return self._catch_up(connection)
            if not self._number:  # later changes are read after all rows
                from newsportal.dedup.shingle_index import ShingleIndex

                self._index, self.last_seq = ShingleIndex(), last_seq(connection)
            rows = connection.execute(ROWS, {"number": self._number, "most": PAGE}).all()
            self._learn(rows, connection)
            self.read = len(rows) < PAGE
        return 0, not self.read

    def _catch_up(self, connection: Connection) -> tuple[int, bool]:
        rows = connection.execute(NEWS, {"seq": self.last_seq, "most": PAGE}).all()
        fresh = {row.number: row for row in rows if row.number is not None and row.number > self._number}
        for row in rows:
            if row.kind == "fold" and row.number is not None and row.number not in fresh:
                self._index.move(row.number, story_number(row.story_id))
        self._learn([fresh[number] for number in sorted(fresh)], connection)
        self.last_seq = rows[-1].seq if rows else self.last_seq
        return rows[-1].seq if rows else 0, len(rows) == PAGE

    @contextmanager
    def forget_on_error(self) -> Iterator[None]:
        """Forget the rows read in this context if it fails: a transaction that read its own rows is rolled back. Threads take turns: the
        rows of another one, which may be rolled back as well, are no state to return to."""
        with self._batch:
            number, seq = self._number, self.last_seq
            try:
                yield
            except BaseException:
                with self._lock:
                    self._index.forget_from(number + 1)
                    self._number, self.last_seq = number, seq
                raise

    def likely_matches(self, new: Fingerprint) -> Likely:
        """Return the numbers of the stored texts that share most indexed runs with ``new``."""
        with self._lock:
            return self._index.likely(new)

    def follow(self, connection: Connection) -> int:
        """Read all changes committed by others; return the last one as :meth:`catch_up` does: a fold decision is valid while it equals
        :attr:`last_seq`. Call at the start of a write transaction: its own rows might be rolled back."""
        more = True
        while more:
            seq, more = self.catch_up(connection)
        return seq

    def _learn(self, rows: Sequence[Any], connection: Connection) -> None:
        if not rows:
            return
        self._index.add_all([(row.number, row.shingles, row.length, story_number(row.story_id), row.title) for row in rows])
        if rows[-1].number // PRUNE_EVERY > self._number // PRUNE_EVERY:
            self._index.forget(connection.scalar(FIRST) or 0)
        self._number = rows[-1].number


STORED = select(*(ARTICLES.c[name] for name in ("id", "url", "title", "text", "first_seen")))
CHANGED = (
    STORED.add_columns(CHANGES.c.seq)
    .join(CHANGES, CHANGES.c.id == ARTICLES.c.id)
    .where(CHANGES.c.kind == "article", CHANGES.c.seq > bindparam("seq"))
    .order_by(CHANGES.c.seq)
)
STORY_OF = select(ARTICLES.c.story_id).where(ARTICLES.c.id == bindparam("article"))


class FinderIndex:
    """The stored articles in a finder of :mod:`newsportal.dedup`, for users who chose a paper's method instead of the judge.

    Shared between threads; one per database. Its results are looked up in the store, so a write that is rolled back does no harm.
    """

    def __init__(self, method: str, *, theta: float | None = None, days: float | None = None) -> None:
        self.choice = (method, theta, days)
        self._finder = finder(method, theta=theta, days=days)
        self._days = {"trie": 1.0, "feature_string": 7.0}.get(method) if days is None else days
        self._seq: int | None = None
        self._known: set[str] = set()
        self._lock = Lock()

    def follow(self, connection: Connection) -> None:
        """Read articles stored since. Call before a transaction writes: its own rows are added when they are judged."""
        with self._lock:
            seq = last_seq(connection)
            if self._seq is None:
                since = datetime.now(UTC) - timedelta(days=self._days) if self._days else EPOCH
                rows = connection.execute(STORED.where(ARTICLES.c.first_seen >= since).order_by(ARTICLES.c.first_seen, ARTICLES.c.id))
            else:
                rows = connection.execute(CHANGED, {"seq": self._seq})
            for row in rows:
                if row.id not in self._known:
                    self._judge(dict(row._mapping))
            self._seq = seq

    def find_repeated(self, connection: Connection, row: Mapping[str, Any], excluded: Collection[str]) -> Fold | None:
        """Return the stored article that ``row``, not yet written, repeats; stories in ``excluded`` are skipped."""
        with self._lock:
            found = self._judge(row)
        story = connection.scalar(STORY_OF, {"article": found.duplicate_of}) if found.duplicate_of else None
        return Fold(story, str(found.duplicate_of), str(found.reason), round(found.score, 3)) if story and story not in excluded else None

    def find_titles(self, titles: Mapping[str, str], now: datetime) -> set[str]:
        """Return the link names of those ``titles`` that stored titles contain (paper A); empty for other methods."""
        if not isinstance(self._finder, TitleIndex):
            return set()
        with self._lock:
            return {name for name, title in titles.items() if self._finder.find(Document("", "", title, "", now)).duplicate_of}

    def _judge(self, row: Mapping[str, Any]) -> Verdict:
        self._known.add(row["id"])
        return self._finder.judge(Document(row["id"], row["url"], row["title"], row["text"], row["first_seen"]))


def story_number(story_id: str) -> int:
    """Return a story's number in the index: ids are hashes, and their first 32 bits distinguish stories."""
    return int(story_id[:8], 16)


@dataclass(frozen=True, slots=True)
class TextPrint:
    """An article's text in the form compared: its fingerprint and the letters of its title, made before the write lock is taken."""

    index: PrintIndex
    fingerprint: Fingerprint
    title: str
    made_from: tuple[str | None, str | None]


def text_print(index: PrintIndex, article: Article) -> TextPrint:
    """Return the form made for the article's decision, unless title or text changed since."""
    made_from, text_print = (article.title, article.text), article.decision and article.decision.compared
    if isinstance(text_print, TextPrint) and text_print.index is index and text_print.made_from == made_from:
        return text_print
    from newsportal.dedup.fingerprints import fingerprint

    return TextPrint(index, fingerprint(article.text or ""), title_letters(article.title), made_from)


def find_repeated(connection: Connection, row: Mapping[str, Any], new: TextPrint, excluded: Collection[str]) -> Fold | None:
    """Return the stored article that ``row`` repeats by the rule of ``dedup.judge``; stories in ``excluded`` are skipped.

    Call :meth:`PrintIndex.follow` first, before the transaction writes.
    """
    likely = new.index.likely_matches(new.fingerprint)
    if not likely.numbers:
        return None
    from newsportal.dedup.judge import UNCHANGED, Earlier, compare

    found = connection.execute(CANDIDATES, {"numbers": likely.numbers}).all()
    near = [old for old in found if abs(old.moment - row["moment"]) <= SPAN and old.article_id != row["id"]]
    reasons = {old.article_id: old.fold_reason for old in near}
    candidates = (
        Earlier(old.article_id, old.story_id, old.shingles, old.length, old.title, old._mapping["count"] - 1)
        for old in near
        if old.story_id not in excluded
    )
    for answer, other in compare(new.fingerprint, new.title, candidates, likely.common):
        if (answer.reason, reasons[other.id]) not in ASTRAY:
            identical = answer.relation == "same" and answer.score >= UNCHANGED  # a round-up's repost is in its story like the round-up
            return Fold(other.story, other.id, MORE if identical and reasons[other.id] == MORE else str(answer.reason), answer.score)
    return None


def print_rows(article_id: str, moment: datetime, new: TextPrint, now: datetime) -> list[dict[str, Any]]:
    """Return the row of an article's fingerprint; empty for a text without runs."""
    if not new.fingerprint.length:
        return []
    row = {"article_id": article_id, "moment": moment, "added": now, "length": new.fingerprint.length, "title": new.title}
    return [{**row, "shingles": new.fingerprint.in_order().tobytes()}]


def save(connection: Connection, rows: Sequence[Mapping[str, Any]], now: datetime) -> None:
    """Write fingerprints, and prune old ones from time to time."""
    if not rows:
        return
    if len(rows) == 1:
        (newest,) = connection.execute(NEW, rows[0]).inserted_primary_key or (0,)
    else:
        connection.execute(NEW, rows)
        newest = connection.scalar(NEWEST) or 0
    if newest // PRUNE_EVERY > (newest - len(rows)) // PRUNE_EVERY:
        oldest = connection.execute(OLDEST).all()
        last = max((number for number, added in oldest if now - added > SPAN or number <= newest - MAX_FINGERPRINTS), default=None)
        if last is not None:
            connection.execute(PRUNE, {"last": last})


def drop(connection: Connection, article_id: str) -> None:
    connection.execute(GONE, {"article": article_id})
