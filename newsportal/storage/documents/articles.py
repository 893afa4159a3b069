"""What is read of articles and stories in a database of documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from newsportal.items import TopicMark
from newsportal.storage.base import Change, StoredArticle, Story, Tally
from newsportal.storage.columns import CONTENT
from newsportal.storage.documents.base import Is, Not, Row, Rows, Within, moment_in, moment_out
from newsportal.storage.documents.folding import earliest_first
from newsportal.storage.documents.plain import aware, in_pages
from newsportal.storage.documents.tables import (
    ARTICLE_MOMENTS,
    ARTICLES,
    CHANGE_NUMBERS,
    CHANGES,
    REVISIONS,
    STORIES,
    STORY_MOMENTS,
    label,
)  # fmt: skip
from newsportal.storage.hiding import seen
from newsportal.storage.paging import chunks
from newsportal.storage.rows import article_from, name, story_from

STREAMED: Final = 100
"""Articles, with their texts, that are read at once when all are streamed."""

WHOLE: Final = 50
"""Articles, with their texts, that are asked for by one question."""


def article_of(row: Row) -> StoredArticle:
    """A row of ``articles`` as the value."""
    marks = [TopicMark(mark["topic"], mark["by"] or "source", mark["score"]) for mark in row["topics"]]
    return article_from(aware(row, *ARTICLE_MOMENTS), marks)


def articles(rows: Rows, ids: Sequence[str]) -> list[StoredArticle]:
    """See ``Store.articles``."""
    found: dict[str, StoredArticle] = {}
    for chunk in chunks(dict.fromkeys(ids), WHOLE):
        found |= {id: article_of(row) for id, row in rows.get(ARTICLES, chunk).items()}
    return [found[id] for id in ids if id in found]


def all_articles(rows: Rows, after: str | None) -> Iterator[StoredArticle]:
    """See ``Store.all_articles``."""
    behind = () if after is None else (Within("id", low=after, above=True),)
    for page in in_pages(rows, ARTICLES, *behind, size=STREAMED):
        yield from map(article_of, page)


def revisions(rows: Rows, id: str) -> tuple[StoredArticle, ...]:
    """See ``Store.revisions``."""
    present = rows.get(ARTICLES, [id]).get(id)
    if present is None:
        return ()
    earlier = rows.find(REVISIONS, Is("article_id", id), order=("revision",))
    return tuple(article_of({**present, **{name: row.get(name) for name in CONTENT}}) for row in earlier)


def story(rows: Rows, id: str, hidden: bool) -> Story | None:
    """See ``Store.story``. The id of a story that was folded away leads to where its founder is now."""
    row = rows.get(STORIES, [id], without=("versions",)).get(id)
    if row is None:
        founder = rows.get(ARTICLES, [id], only=("story_id",)).get(id)
        return story(rows, founder["story_id"], hidden) if founder else None
    if not hidden and not row["count"]:
        return None
    found = earliest_first(rows.find(ARTICLES, Is("story_id", id)))
    versions = [article_of(version) for version in (found if hidden else seen(found))]
    if not versions:
        return None  # it is being written: a moment ago there was none
    head = next((version for version in versions if version.id == row["head_id"]), versions[0])
    return story_from(aware(row, *STORY_MOMENTS), head, (head, *(version for version in versions if version is not head)))


def changes(rows: Rows, after: int, limit: int) -> list[Change]:
    """See ``Store.changes``. Those of a transaction that is being written are none yet: rows of it may be seen in any order."""
    upto = rows.last(CHANGE_NUMBERS)
    if upto <= after:
        return []
    found = rows.find(CHANGES, Within("seq", after, upto, above=True, upto=True), order=("seq",), limit=limit)
    return [Change(row["seq"], row["kind"], row["of"], aware(row, "at")["at"]) for row in found]


def last_seq(rows: Rows) -> int:
    """See ``Store.last_seq``."""
    return rows.last(CHANGE_NUMBERS)


def tally(rows: Rows) -> Tally:
    """See ``Store.tally``."""
    labelled = rows.count_by(STORIES, "labels")

    def of(kind: str) -> dict[str, int]:
        named = ((text.partition(":"), number) for text, number in labelled.items())
        return _most_first({value: number for (found, _, value), number in named if found == kind})

    newest = rows.find(ARTICLES, order=("-moment",), limit=1, only=("moment",))
    return Tally(
        articles=rows.count(ARTICLES) - rows.count(ARTICLES, Not(Is("hidden", None))),
        stories=rows.count(STORIES, Within("count", low=1)),
        by_topic=of("topic"),
        by_category=of("category"),
        by_source=_most_first(rows.count_by(ARTICLES, "source")),
        newest=moment_out(newest[0]["moment"]) if newest else None,
    )


def stories_since(rows: Rows, topic: str, since: datetime) -> int:
    """See ``Store.stories_since``."""
    return rows.count(STORIES, Is("labels", label("topic", name(topic))), Within("moment", low=moment_in(since)))


def _most_first(counts: Mapping[Any, int]) -> dict[str, int]:
    return {str(value): number for value, number in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))}
