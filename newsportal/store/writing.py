"""Changes of articles: each function runs inside the caller's write transaction and appends to the change log."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, Engine, bindparam, func, insert, select, update

from newsportal.dedup.cosine import THRESHOLD
from newsportal.errors import StoreError
from newsportal.items import Article, Fold, FoldDecision, FoldKey, TopicMark, content_id
from newsportal.store import folding, prints
from newsportal.store.article_rows import fold_columns, identity_of, is_newer, row_of, topics_of
from newsportal.store.columns import MAX_DECLARING, storable
from newsportal.store.corrections import Changes, apply_page
from newsportal.store.dialects import Part, upsert
from newsportal.store.gallery_folding import refresh_galleries
from newsportal.store.links import finish_stored
from newsportal.store.prints import FinderIndex, PrintIndex, TextPrint, text_print
from newsportal.store.reading import find, find_stored
from newsportal.store.results import AddResult
from newsportal.store.tables import ALIASES, ARTICLES, CHANGES, DECLARED, EARLIEST_FIRST, FOLD_KEYS, REVISIONS, STORIES, TOPICS, UNFOLDED

NEW_REVISION, NEW_CHANGE = insert(REVISIONS), insert(CHANGES)
ARTICLE = select(ARTICLES).where(ARTICLES.c.id == bindparam("article"))
TOPICS_OF = select(TOPICS.c.topic).where(TOPICS.c.article_id == bindparam("article"))


@dataclass(slots=True)
class Batch:
    """Articles added by one transaction, in order; ends with :meth:`write`."""

    connection: Connection
    index: PrintIndex
    now: datetime
    existing: dict[str, str | None]  # the result of ``find_existing``
    _new: folding.NewRows = field(default_factory=folding.NewRows)
    _unread: bool = True  # the index lacks rows committed by others, or written here

    def add(self, article: Article, keys: Sequence[FoldKey], new: TextPrint) -> AddResult:
        row, hashes = row_of(article, now=self.now), folding.by_hash(keys)
        id = self.existing.get(row["id"])
        if id is not None or self.index.finder is not None or self._new.may_repeat(new, hashes):
            self.write()
        if self._unread:
            self.index.follow(self.connection)
            self._unread = False
        if id is not None:
            self._unread = True
            return _readd(self.connection, get_row(self.connection, id), article, keys, new, self.now)
        decision = article.decision
        if decision is not None and decision.seq == self.index.last_seq:
            found = decision.fold
        else:  # the store changed since the decision
            found = _repeated(self.connection, row, keys, new)
        story_id = self._insert(row, topics_of(article), hashes, new, found)
        return AddResult("folded" if found else "stored", row["id"], story_id, found.reason if found else None)

    def _insert(
        self, row: Mapping[str, Any], topics: Mapping[str, TopicMark], hashes: Collection[str], new: TextPrint, found: Fold | None
    ) -> str:
        """Insert a new article, and return its story. A repost is written at once, and its story updated."""
        id, story_id, hidden = str(row["id"]), str(row["id"]), dict[str, Any]()
        if found:
            self.write()
            story_id, hidden = found.story_id, folding.hidden_columns(self.connection, found.story_id)
        elif id in self.existing:  # its founder was deleted, or moved out of it
            story_id = folding.new_story(self.connection, row, topics)
        else:
            self._new.begin_story(row, topics)
        self.existing[id] = id
        self._new.add({"story_id": story_id, **row, **fold_columns(found), **hidden}, folding.topic_rows(id, topics), hashes, new, self.now)
        if found:
            self.write()
            folding.refresh(self.connection, story_id)
        return story_id

    def write(self) -> None:
        if ids := self._new.write(self.connection, self.now):
            log_changes(self.connection, "article", ids, self.now)
            self._unread = True


def _repeated(
    connection: Connection, row: Mapping[str, Any], keys: Sequence[FoldKey], new: TextPrint, excluded: Collection[str] = ()
) -> Fold | None:
    """Return what an article repeats by its text, else by its keys; or by the configured finder. Stories in ``excluded`` are skipped."""
    if new.index.finder is not None:
        return new.index.finder.find_repeated(connection, row, excluded)
    return prints.find_repeated(connection, row, new, excluded) or folding.choose_match(connection, row, keys, excluded)


def _readd(
    connection: Connection, row: dict[str, Any], article: Article, keys: Sequence[FoldKey], new: TextPrint, now: datetime
) -> AddResult:
    id = row["id"]
    revised = is_newer(page_version(connection, row), article)
    if revised:
        written = apply_page(row, article)
        write_state(connection, id, written)
        moment = written.columns["moment"]  # it now has its old and new keys, and its new fingerprint
        connection.execute(update(FOLD_KEYS).where(FOLD_KEYS.c.article_id == id).values(moment=moment))
        folding.save_keys(connection, id, moment, keys)
        prints.drop(connection, id)
        prints.save(connection, prints.print_rows(id, moment, new, now), now)
    topics_added = add_topics(connection, id, topics_of(article))
    story_id = _fold_revised(connection, row, keys, new) if revised else row["story_id"]
    if revised or topics_added:
        for changed in {row["story_id"], story_id}:
            folding.refresh(connection, changed)
        log_changes(connection, "article", id, now)
    return AddResult("revised" if revised else "same", id, story_id)


def _fold_revised(connection: Connection, row: Mapping[str, Any], keys: Sequence[FoldKey], new: TextPrint) -> str:
    """Fold a revised article that is alone in its story, and return its story: a page first published incomplete may be a repost."""
    if len(_members(connection, row["story_id"])) > 1:
        return str(row["story_id"])
    separated = set(connection.scalars(select(UNFOLDED.c.story_id).where(UNFOLDED.c.article_id == row["id"])))
    found = _repeated(connection, get_row(connection, row["id"]), keys, new, separated)
    if found is None:
        return str(row["story_id"])
    _move(connection, row["id"], found.story_id, **fold_columns(found), **folding.hidden_columns(connection, found.story_id))
    return found.story_id


def write_state(connection: Connection, article_id: str, written: Changes) -> None:
    """Write a new state of an article, and the states that become revisions."""
    connection.execute(NEW_REVISION, [{"article_id": article_id, **state} for state in written.revisions])
    connection.execute(update(ARTICLES).where(ARTICLES.c.id == article_id).values(**written.columns))


def page_version(connection: Connection, row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the last state of an article's page, without corrections."""
    if row["corrected"] is None:
        return row
    page = select(REVISIONS).where(REVISIONS.c.article_id == row["id"], REVISIONS.c.corrected.is_(None))
    state = connection.execute(page.order_by(REVISIONS.c.revision.desc()).limit(1)).mappings().first()
    return dict(state) if state else row


def insert_separately(connection: Connection, article: Article, now: datetime) -> tuple[str, str]:
    """Write an article that is not compared with others (a thread, a photo story); return its id and that of its new story."""
    row = row_of(article, now=now)
    story_id = folding.new_story(connection, row, topics_of(article))
    connection.execute(folding.NEW_ARTICLE, {"story_id": story_id, **row})
    return str(row["id"]), story_id


def add_topics(connection: Connection, article_id: str, topics: Mapping[str, TopicMark]) -> bool:
    """Add topics that are not present, and return whether any were added."""
    before = set(connection.scalars(TOPICS_OF, {"article": article_id}))
    fresh = {topic: mark for topic, mark in topics.items() if topic not in before}
    upsert(connection, TOPICS, folding.topic_rows(article_id, fresh))
    return bool(fresh)


def log_changes(connection: Connection, kind: Literal["article", "fold", "gone"], ids: str | Iterable[str], at: datetime) -> None:
    if rows := [{"kind": kind, "id": id, "at": at} for id in ([ids] if isinstance(ids, str) else ids)]:
        connection.execute(NEW_CHANGE, rows)


def get_row(connection: Connection, article_id: str) -> dict[str, Any]:
    """Return an article's row. Raises ``StoreError`` if there is none."""
    row = connection.execute(ARTICLE, {"article": article_id}).mappings().first()
    if row is None:
        raise StoreError(f"no article {article_id!r}")
    return dict(row)


def _head(connection: Connection, story_id: str) -> str | None:
    found: str | None = connection.scalar(select(STORIES.c.head_id).where(STORIES.c.id == story_id))
    return found


def _members(connection: Connection, story_id: str) -> list[str]:
    return list(connection.scalars(select(ARTICLES.c.id).where(ARTICLES.c.story_id == story_id).order_by(*EARLIEST_FIRST)))


def _move(connection: Connection, article_id: str, story_id: str, **columns: Any) -> None:
    connection.execute(update(ARTICLES).where(ARTICLES.c.id == article_id).values(story_id=story_id, **columns))


def refresh_changed(connection: Connection, stories: Iterable[str], changed: Collection[str], now: datetime) -> None:
    """Refresh stories after the articles ``changed`` did. New heads are logged, too: followers that only read heads have not seen them."""
    for story_id in stories:
        before = _head(connection, story_id)
        refresh_galleries(connection, story_id)
        if (head := _head(connection, story_id)) not in (None, before, *changed):
            log_changes(connection, "article", str(head), now)


class Writing(Part):
    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self._prints = PrintIndex()

    def fold_by(self, method: str, *, theta: float | None = None, days: float | None = None) -> None:
        """Find reposts by this method of :mod:`newsportal.dedup` from now on; photo stories by ``cosine`` or by their own rule."""
        finder = self._prints.finder
        if method == "judge":
            self._prints.finder = None
        elif finder is None or finder.choice != (method, theta, days):
            self._prints.finder = FinderIndex(method, theta=theta, days=days)
        self._engine.update_execution_options(cosine=(theta or THRESHOLD) if method == "cosine" else None)

    def find_titles(self, titles: Mapping[str, str], *, now: datetime) -> set[str]:
        """Return the links whose titles (link name → title) repeat a stored one; empty unless the method (:meth:`fold_by`) uses titles."""
        if self._prints.finder is None or not titles:
            return set()
        self._read_prints()
        return self._prints.finder.find_titles(titles, now)

    def add(self, article: Article, keys: Sequence[FoldKey] = (), *, now: datetime) -> AddResult:
        """Store ``article`` (with ``identity``, ``title`` and ``text``) and fold it into the story it repeats, if any: by its text (the
        rule of ``dedup.judge``, against stored texts within its window), else by its ``keys``.

        Known identity, same text: ``same``. Known identity, other title or text: ``revised`` (the earlier text is kept as a revision). New
        topics are added to the known ones (also if ``same``).
        """
        return self.add_all([(article, keys)], now=now)[0]

    def add_all(self, articles: Sequence[tuple[Article, Sequence[FoldKey]]], *, now: datetime) -> list[AddResult]:
        """Call :meth:`add` for each article with its keys, in order, in one transaction; they may fold into each other, too.

        If one cannot be stored, none is: the caller may then add them one by one.
        """
        prepared = [(article, keys, text_print(self._prints, article)) for article, keys in articles]
        if not prepared:
            return []
        self._read_prints()
        with self._prints.forget_on_error(), self._write() as connection:
            self._follow(connection)
            batch = Batch(
                connection, self._prints, now, folding.find_existing(connection, [identity_of(article) for article, _, _ in prepared])
            )
            added = [batch.add(*item) for item in prepared]
            batch.write()
            finish_stored(connection, [article for article, _, _ in prepared])
            return added

    def decide_fold(self, article: Article, *, now: datetime) -> FoldDecision:
        """Decide which stored article ``article`` repeats, as :meth:`add` does: by its text, else by its ``keys``. Nothing is written, and
        ``add`` decides again if the store changed since."""
        new = text_print(self._prints, article)
        self._read_prints()
        with self._read() as connection:
            seq = new.index.follow(connection)
            return FoldDecision(_repeated(connection, row_of(article, now=now), article.keys, new), seq, new)

    def _read_prints(self) -> None:
        while not self._prints.read:  # page by page: others may write meanwhile
            with self._read() as connection:
                self._prints.catch_up(connection)
        if self._prints.finder is not None:
            with self._read() as connection:
                self._follow(connection)

    def _follow(self, connection: Connection) -> None:
        if self._prints.finder is not None:
            self._prints.finder.follow(connection)

    def declare_url(self, name: str, of: str) -> None:
        """Record that the article known as ``of`` declares ``name`` as its URL (``rel=canonical``). It is not verified.

        Only the first few articles that declare a name are recorded. Raises ``StoreError`` if there is no such article.
        """
        with self._write() as connection:
            article_id = find(connection, storable(of))
            if article_id is None:
                raise StoreError(f"no article is known as {of!r}, so it cannot declare {name!r}")
            key = content_id(storable(name))
            if (connection.scalar(select(func.count()).where(DECLARED.c.id == key)) or 0) < MAX_DECLARING:
                upsert(connection, DECLARED, [{"id": key, "article_id": article_id}])

    def add_aliases(self, identities: Collection[str], of: str) -> None:
        """Add ``identities`` as aliases of the stored article whose identity is ``of`` (redirects, a canonical link)."""
        of, names = storable(of), [storable(identity) for identity in identities]
        with self._write() as connection:
            stored = find_stored(connection, [of, *names])
            if of not in stored:
                raise StoreError(f"no article is known as {of!r}, so {', '.join(map(repr, names))} cannot be an alias of it")
            fresh = {content_id(name): name for name in names if name not in stored}
            seq = prints.last_seq(connection) if fresh else 0
            rows = [{"id": id, "identity": name, "article_id": stored[of], "seq": seq} for id, name in fresh.items()]
            upsert(connection, ALIASES, rows)

    def fold(self, article_id: str, story_id: str, *, reason: str, now: datetime) -> None:
        """Move an article into another story by hand. Raises ``StoreError`` if either is unknown."""
        with self._write() as connection:
            old = str(get_row(connection, article_id)["story_id"])
            head = _head(connection, story_id)
            if head is None:
                raise StoreError(f"no story {story_id!r}")
            if old == story_id:
                return
            # the newer decision applies: articles separated before may be joined again
            connection.execute(UNFOLDED.delete().where(UNFOLDED.c.article_id == article_id, UNFOLDED.c.story_id == story_id))
            _move(connection, article_id, story_id, **fold_columns(Fold(story_id, head, storable(reason), 1.0)))
            refresh_changed(connection, (old, story_id), {article_id}, now)
            log_changes(connection, "fold", article_id, now)

    def unfold(self, article_id: str, *, now: datetime) -> str:
        """Move an article out into a story of its own (never folded together by key again), and return the new story's id."""
        with self._write() as connection:
            row = get_row(connection, article_id)
            old = str(row["story_id"])
            if len(_members(connection, old)) == 1:
                return old
            story_id = folding.new_story(connection, row, set(connection.scalars(TOPICS_OF, {"article": article_id})))
            _move(connection, article_id, story_id, **fold_columns(None))
            upsert(connection, UNFOLDED, [{"article_id": article_id, "story_id": old}])
            upsert(connection, UNFOLDED, [{"article_id": other, "story_id": story_id} for other in _members(connection, old)])
            refresh_changed(connection, (old, story_id), {article_id}, now)
            log_changes(connection, "fold", article_id, now)
            return story_id
