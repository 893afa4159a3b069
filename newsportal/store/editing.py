"""Actions of editors on articles: correct, hide, classify, and change topics."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, select, update

from newsportal.items import TopicMark
from newsportal.store import gallery_folding
from newsportal.store.article_rows import EDITOR, HIDDEN_COLUMNS, changed_category
from newsportal.store.columns import name, storable
from newsportal.store.corrections import Changes, Correction, apply_correction, check_revision, withdraw_corrections
from newsportal.store.dialects import Part, chunks, select_in, upsert
from newsportal.store.events import recount
from newsportal.store.folding import refresh
from newsportal.store.gallery_tables import GALLERIES, GALLERY_LABELS
from newsportal.store.reading import find_stored
from newsportal.store.results import TopicChange
from newsportal.store.tables import ARTICLES, EVENT_STORIES, FOLD_KEYS, LABELS, TOPICS
from newsportal.store.writing import add_topics, get_row, log_changes, page_version, refresh_changed, write_state

KEYWORDS = "keywords"  # ``TopicMark.by`` of a topic matched by keywords; equals ``classify.topics.KEYWORDS`` of a higher layer


def _correct(
    connection: Connection, article_id: str, change: Callable[[Mapping[str, Any]], Changes | None], expected: int | None, now: datetime
) -> int:
    row = get_row(connection, article_id)
    check_revision(row, expected)
    written = change(row)
    if written is None:
        return int(row["revision"])
    write_state(connection, article_id, written)
    if (moment := written.columns.get("moment", row["moment"])) != row["moment"]:
        connection.execute(update(FOLD_KEYS).where(FOLD_KEYS.c.article_id == article_id).values(moment=moment))
        connection.execute(update(GALLERIES).where(GALLERIES.c.id == article_id).values(moment=moment))
    refresh_changed(connection, [row["story_id"]], {article_id}, now)
    log_changes(connection, "article", article_id, now)
    return int(written.columns["revision"])


def _set_hidden(connection: Connection, ids: Collection[str], columns: Mapping[str, Any], now: datetime) -> list[str]:
    state = ARTICLES.c.hidden.is_(None) if columns["hidden"] else ARTICLES.c.hidden.is_not(None)
    found: dict[str, str] = {}
    for chunk in chunks(dict.fromkeys(ids)):
        rows = connection.execute(select(ARTICLES.c.id, ARTICLES.c.story_id).where(ARTICLES.c.id.in_(chunk), state))
        found |= {row.id: row.story_id for row in rows}
        connection.execute(update(ARTICLES).where(ARTICLES.c.id.in_(chunk), state).values(**columns))
    changed = [id for id in dict.fromkeys(ids) if id in found]
    refresh_changed(connection, dict.fromkeys(found.values()), set(changed), now)
    recount(connection, {row["event_id"] for row in select_in(connection, select(EVENT_STORIES), EVENT_STORIES.c.story_id, found.values())})
    log_changes(connection, "article", changed, now)
    return changed


def _mark(connection: Connection, marking: TopicChange) -> bool:
    """Change one article's topics, and return whether anything changed."""
    of_article = TOPICS.c.article_id == marking.article_id
    topics = {row.topic: row.by for row in connection.execute(select(TOPICS.c.topic, TOPICS.c.by).where(of_article))}
    removed = sorted(topic for topic in marking.drop if topics.get(topic) in (KEYWORDS, EDITOR))  # other sources are not overridden
    added = {mark.topic: mark for mark in marking.add if mark.topic not in topics}
    if removed:
        connection.execute(delete(TOPICS).where(of_article, TOPICS.c.topic.in_(removed)))
    return add_topics(connection, marking.article_id, added) or bool(removed)


class Editing(Part):
    def set_category(self, article_id: str, category: str | None, *, by: str, now: datetime, over: bool = False) -> None:
        """Set the category of an article (``None``: none). ``by`` ``editor`` is permanent; any other ``by`` does not change an editor's
        category unless ``over`` is set (an editor withdraws it). Raises ``StoreError`` for an unknown article."""
        with self._write() as connection:
            row = get_row(connection, article_id)
            values = changed_category(row, category, by, over=over)
            if values is None:
                return
            connection.execute(update(ARTICLES).where(ARTICLES.c.id == article_id).values(**values))
            refresh(connection, row["story_id"])
            gallery_folding.label_gallery(connection, article_id)
            log_changes(connection, "article", article_id, now)

    def mark_topics(self, markings: Sequence[TopicChange], *, now: datetime) -> int:
        """Change the topics of articles in one transaction, and return the number of articles changed. Only topics from keywords or editors
        are removed: those of a source, a search or a model stay. Unknown articles are skipped."""
        with self._write() as connection:
            stories: dict[str, list[str]] = {}
            for marking in markings:
                story_id = connection.scalar(select(ARTICLES.c.story_id).where(ARTICLES.c.id == marking.article_id))
                if story_id is not None and _mark(connection, marking):
                    stories.setdefault(story_id, []).append(marking.article_id)
            for story_id, changed in stories.items():
                refresh(connection, story_id)
                for article_id in changed:
                    gallery_folding.label_gallery(connection, article_id)
                    log_changes(connection, "article", article_id, now)
            return sum(map(len, stories.values()))

    def rename_topic(self, before: str, after: str, *, now: datetime) -> None:
        """Rename a topic of articles and stories, whoever assigned them to it."""
        with self._write() as connection:
            ids = connection.scalars(select(TOPICS.c.article_id).where(TOPICS.c.topic == name(before))).all()
            for table, kinds in ((TOPICS, ()), (LABELS, [LABELS.c.kind == "topic"]), (GALLERY_LABELS, [GALLERY_LABELS.c.kind == "topic"])):
                column = table.c["topic" if table is TOPICS else "value"]
                rows = connection.execute(select(table).where(column == name(before), *kinds)).mappings().all()
                connection.execute(delete(table).where(column == name(before), *kinds))
                upsert(connection, table, [{**row, column.name: name(after)} for row in rows])
            log_changes(connection, "article", ids, now)

    def add_topic_marks(self, marks: Mapping[str, TopicMark], *, now: datetime) -> int:
        """Add one topic to each stored article that lacks it, by identity, and return the number of articles changed."""
        with self._read() as connection:
            ids = find_stored(connection, marks)
            rows = select_in(connection, select(TOPICS.c.article_id, TOPICS.c.topic), TOPICS.c.article_id, ids.values())
            present = {(row["article_id"], row["topic"]) for row in rows}
        lacking = [TopicChange(id, (marks[identity],)) for identity, id in ids.items() if (id, marks[identity].topic) not in present]
        return self.mark_topics(lacking, now=now) if lacking else 0

    def correct(self, article_id: str, correction: Correction, *, by: str, now: datetime, seen: int | None = None) -> int:
        """Apply an editor's correction, and return the article's new ``revision`` number.

        The previous state is kept as a revision. Corrected fields keep the editor's values when the page changes (:mod:`corrections`).
        ``seen``: the revision the editor saw. Raises ``OutdatedEdit`` if it is not current, ``StoreError`` for an unknown article or value.
        """
        with self._write() as connection:
            return _correct(connection, article_id, lambda row: apply_correction(row, correction, by=by, now=now), seen, now)

    def withdraw(self, article_id: str, *, now: datetime, seen: int | None = None) -> int:
        """Withdraw all corrections: the article returns to the last state of its page. Returns and raises like :meth:`correct`."""
        with self._write() as connection:
            return _correct(connection, article_id, lambda row: withdraw_corrections(row, page_version(connection, row)), seen, now)

    def hide(self, article_ids: Collection[str], *, by: str, reason: str, now: datetime) -> list[str]:
        """Hide articles from readers (lists, stories, search, recommendations, publishing); they remain in the store. Return the ids newly
        hidden. An article folded later into a completely hidden story is hidden, too."""
        columns = {"hidden": now, "hidden_by": name(by), "hidden_reason": storable(reason)}
        with self._write() as connection:
            return _set_hidden(connection, article_ids, columns, now)

    def show(self, article_ids: Collection[str], *, now: datetime) -> list[str]:
        """Undo :meth:`hide`, and return the ids that were hidden."""
        with self._write() as connection:
            return _set_hidden(connection, article_ids, dict.fromkeys(HIDDEN_COLUMNS), now)
