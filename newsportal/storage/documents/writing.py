"""What changes articles in a database of documents: each function runs inside the caller's transaction and leaves its rows in the change
log. Rows are of datetimes here; they are kept as :func:`~newsportal.storage.documents.tables.kept` says."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from newsportal.errors import StoreError
from newsportal.items import Article, Fold, FoldKey, TopicMark, content_id
from newsportal.storage.base import Added
from newsportal.storage.corrections import Written, crawled
from newsportal.storage.documents import prints
from newsportal.storage.documents.base import Is, Row, Rows, Transaction, moment_in
from newsportal.storage.documents.folding import choose, hidden_with, move, new_story, refresh
from newsportal.storage.documents.gallery_ranking import settle
from newsportal.storage.documents.names import find
from newsportal.storage.documents.plain import aware, plain
from newsportal.storage.documents.room_tables import row_id
from newsportal.storage.documents.tables import (
    ALIASES,
    ARTICLE_MOMENTS,
    ARTICLES,
    CHANGE_NUMBERS,
    CHANGES,
    REVISIONS,
    STORIES,
    change_id,
    kept,
)  # fmt: skip
from newsportal.storage.editors import given
from newsportal.storage.fold_keys import hashed
from newsportal.storage.print_index import Printed, follow
from newsportal.storage.revising import fold_columns, is_newer
from newsportal.storage.rows import identity_of, name, row_of, storable, topics_of


@dataclass(frozen=True, slots=True)
class New:
    """An article that is to be stored, with its keys and its fingerprint."""

    article: Article
    keys: Sequence[FoldKey]
    printed: Printed


def add(transaction: Transaction, known_prints: prints.Prints, new: New, now: datetime) -> Added:
    """See ``Store.add``."""
    follow(new.printed.index, known_prints)
    id = find(transaction, identity_of(new.article))
    if id is None:
        return _insert(transaction, known_prints, new, now)
    return _again(transaction, known_prints, existing(transaction, id), new, now)


def look_ahead(transaction: Transaction, articles: Iterable[New]) -> None:
    """Ask once for all rows that :func:`add` asks for of new articles."""
    ids = list(dict.fromkeys(content_id(identity_of(new.article)) for new in articles))
    for table in (ARTICLES, ALIASES, STORIES):
        transaction.ahead(table, ids)


def existing(rows: Rows, article_id: str) -> Row:
    """An article's row, of datetimes. Raises ``StoreError`` where there is none."""
    found = rows.get(ARTICLES, [article_id]).get(article_id)
    if found is None:
        raise StoreError(f"no article {article_id!r}")
    return aware(found, *ARTICLE_MOMENTS)


def _insert(transaction: Transaction, known_prints: prints.Prints, new: New, now: datetime) -> Added:
    row, topics = row_of(new.article, now=now), topics_of(new.article)
    found = _repeated(transaction, row, new)
    story_id = found.story_id if found else new_story(transaction, row, topics)
    row |= {"story_id": story_id, **fold_columns(found), "topics": marked(topics), "fold_keys": sorted(hashed(new.keys)), "apart": []}
    row |= hidden_with(transaction, story_id) if found else {}
    transaction.put(ARTICLES, kept(row))
    prints.keep(transaction, known_prints, row, new.printed, now)
    if found:
        refresh(transaction, story_id)
    log(transaction, "article", row["id"], now)
    return Added("folded" if found else "stored", row["id"], story_id, found.reason if found else None)


def founded(transaction: Transaction, article: Article, now: datetime) -> str:
    """Store an article that is folded by no text and no key (a thread, a photo story) in a story of its own; answers the story's id."""
    row, topics = row_of(article, now=now), topics_of(article)
    story_id = new_story(transaction, row, topics)
    row |= {"story_id": story_id, **fold_columns(None), "topics": marked(topics), "fold_keys": [], "apart": []}
    transaction.put(ARTICLES, kept(row))
    return story_id


def _repeated(rows: Rows, row: Mapping[str, Any], new: New, apart: Collection[str] = ()) -> Fold | None:
    """What an article repeats: what its text says, else what its keys say. Stories of ``apart`` are out."""
    return prints.repeated(rows, row, new.printed, apart) or choose(rows, row, new.keys, apart)


def marked(topics: Mapping[str, TopicMark]) -> list[dict[str, Any]]:
    """Topics as an article's row holds them."""
    return [{"topic": topic, "by": name(mark.by), "score": mark.score} for topic, mark in sorted(topics.items())]


def _again(transaction: Transaction, known_prints: prints.Prints, known: Row, new: New, now: datetime) -> Added:
    revised = is_newer(said_last(transaction, known), new.article)
    present = _revise(transaction, known, new) if revised else known
    if revised:
        prints.drop(transaction, known["id"])
        prints.keep(transaction, known_prints, present, new.printed, now)
    met = add_topics(transaction, present, topics_of(new.article))
    story_id = _found_late(transaction, present, new) if revised else known["story_id"]
    if revised or met:
        for changed in {known["story_id"], story_id}:
            refresh(transaction, changed)
        log(transaction, "article", known["id"], now)
    return Added("revised" if revised else "same", known["id"], story_id)


def _revise(transaction: Transaction, known: Row, new: New) -> Row:
    """Keep the present state as a revision and write the new one, under the keys it had and has; answers the row."""
    written = crawled(known, new.article)
    values = {**written.columns, "fold_keys": sorted({*known["fold_keys"], *hashed(new.keys)})}
    keep(transaction, known["id"], replace(written, columns=values))
    return {**known, **values}


def keep(transaction: Transaction, article_id: str, written: Written) -> None:
    """Write a new state of an article, with those that become revisions."""
    for state in written.kept:
        transaction.put(REVISIONS, plain({"id": row_id(article_id, state["revision"]), "article_id": article_id, **state}))
    transaction.change(ARTICLES, article_id, **kept(written.columns))


def said_last(transaction: Transaction, known: Row) -> Row:
    """What the page of an article said last, whatever editors say."""
    if known["corrected"] is None:
        return known
    states = transaction.find(REVISIONS, Is("article_id", known["id"]), order=("-revision",))
    page = next((aware(state, "fetched", "published") for state in states if state.get("corrected") is None), None)
    return page or known


def add_topics(transaction: Transaction, row: Mapping[str, Any], topics: Mapping[str, TopicMark]) -> bool:
    """Add to an article what is not there yet; answers whether anything was. The story's labels are the caller's."""
    before = {mark["topic"] for mark in row["topics"]}
    fresh = {topic: mark for topic, mark in topics.items() if topic not in before}
    if fresh:
        transaction.change(ARTICLES, row["id"], topics=sorted([*row["topics"], *marked(fresh)], key=lambda mark: mark["topic"]))
    return bool(fresh)


def _found_late(transaction: Transaction, present: Row, new: New) -> str:
    """A page that was put up with half a title may turn out a repost when it is revised: alone in its story, it may still join another."""
    story_id = str(present["story_id"])
    if transaction.count(ARTICLES, Is("story_id", story_id)) > 1:
        return story_id
    found = _repeated(transaction, present, new, present["apart"])
    if found is None:
        return story_id
    move(transaction, present["id"], found.story_id, **fold_columns(found), **plain(hidden_with(transaction, found.story_id)))
    return found.story_id


def log(transaction: Transaction, kind: Literal["article", "fold", "gone"], id: str, at: datetime) -> None:
    """Append to the change log."""
    seq = transaction.next(CHANGE_NUMBERS)
    transaction.put(CHANGES, {"id": change_id(seq), "seq": seq, "kind": kind, "of": id, "at": moment_in(at)})


def fold(transaction: Transaction, article_id: str, story_id: str, reason: str, now: datetime) -> None:
    """See ``Store.fold``."""
    row = existing(transaction, article_id)
    story = transaction.get(STORIES, [story_id], without=("versions", "labels")).get(story_id)
    if story is None:
        raise StoreError(f"no story {story_id!r}")
    if row["story_id"] == story_id:
        return
    # the editor's word is the newer one: what was taken apart before may be together again
    transaction.change(ARTICLES, article_id, apart=[other for other in row["apart"] if other != story_id])
    move(transaction, article_id, story_id, fold_of=story["head_id"], fold_reason=storable(reason), fold_score=1.0)
    _settle(transaction, (row["story_id"], story_id), article_id, now)


def unfold(transaction: Transaction, article_id: str, now: datetime) -> str:
    """See ``Store.unfold``. An article that is alone in its story stays where it is."""
    row = existing(transaction, article_id)
    old = str(row["story_id"])
    others = [other for other in transaction.find(ARTICLES, Is("story_id", old), only=("apart",)) if other["id"] != article_id]
    if not others:
        return old
    story_id = new_story(transaction, row, [mark["topic"] for mark in row["topics"]])
    move(transaction, article_id, story_id, **fold_columns(None))
    take_apart(transaction, {"id": article_id, "apart": row["apart"]}, old)
    for other in others:
        take_apart(transaction, other, story_id)
    _settle(transaction, (old, story_id), article_id, now)
    return story_id


def _head(transaction: Transaction, story_id: str) -> str | None:
    found: str | None = transaction.get(STORIES, [story_id]).get(story_id, {}).get("head_id")
    return found


def take_apart(transaction: Transaction, row: Mapping[str, Any], story_id: str) -> None:
    """Never fold the article ``row`` into that story again by itself."""
    transaction.change(ARTICLES, row["id"], apart=sorted({*row["apart"], story_id}))


def _settle(transaction: Transaction, stories: Iterable[str], article_id: str, now: datetime) -> None:
    settled(transaction, stories, {article_id}, now)
    log(transaction, "fold", article_id, now)


def settled(transaction: Transaction, stories: Iterable[str], told: Collection[str], now: datetime) -> None:
    """As in SQL: a version that leads a story from now on is told as changed."""
    for story_id in stories:
        before = _head(transaction, story_id)
        settle(transaction, story_id)
        if (head := _head(transaction, story_id)) not in (None, before, *told):
            log(transaction, "article", str(head), now)


def give_category(transaction: Transaction, article_id: str, category: str | None, by: str, now: datetime, over: bool) -> None:
    """See ``Store.set_category``."""
    row = existing(transaction, article_id)
    values = given(row, category, by, over=over)
    if values is None:
        return
    transaction.change(ARTICLES, article_id, **values)
    settle(transaction, row["story_id"])
    log(transaction, "article", article_id, now)
