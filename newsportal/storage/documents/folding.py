"""Stories in a database of documents: which one an article belongs to, and its figures. All inside the caller's transaction."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from newsportal.items import Fold, FoldKey, content_id
from newsportal.storage.documents.base import In, Is, Row, Rows, Transaction, Within, moment_in
from newsportal.storage.documents.plain import aware, plain
from newsportal.storage.documents.room_tables import GALLERIES
from newsportal.storage.documents.tables import ARTICLE_MOMENTS, ARTICLES, MOVES, PRINTS, STORIES, label
from newsportal.storage.figures import LABELLED_BY, figures, labels
from newsportal.storage.fold_keys import Repeated, best_first, chosen, window
from newsportal.storage.hiding import COLUMNS as HIDDEN
from newsportal.storage.hiding import seen
from newsportal.storage.paging import chunks

VERSION: Final = (
    "id", "publisher", "site", "source", "category", "moment", "first_seen", "title", "length", "fold_reason", "topics", "hidden",
)  # fmt: skip
"""What a story asks of its articles."""

NOT_COUNTED: Final = ("text", "addresses", "missing", "failure")
"""What a story does not ask of its photo stories."""


def choose(rows: Rows, row: Mapping[str, Any], keys: Sequence[FoldKey], apart: Collection[str] = ()) -> Fold | None:
    """The article that ``row`` (of datetimes) repeats, and by which of its keys; stories of ``apart`` are out."""
    by_score = best_first(keys)
    return chosen(row, by_score, _under(rows, by_score, row["moment"]), apart) if by_score else None


def _under(rows: Rows, keys: Sequence[tuple[str, FoldKey]], moment: Any) -> dict[str, list[Repeated]]:
    """The articles under each of the hashed keys within its window around ``moment``, earliest first."""
    windows = {key_id: window(key, moment) for key_id, key in keys}
    found: dict[str, list[Repeated]] = {}
    for asked in chunks(windows):
        first = min(windows[key_id][0] for key_id in asked)
        last = max(windows[key_id][1] for key_id in asked)
        within = Within("moment", moment_in(first), moment_in(last), upto=True)
        only = ("story_id", "publisher", "moment", "fold_keys")
        for row in rows.find(ARTICLES, In("fold_keys", asked), within, order=("moment",), only=only):
            one = Repeated(row["id"], row["story_id"], row["publisher"], aware(row, "moment")["moment"])
            for key_id in set(row["fold_keys"]).intersection(asked):
                if windows[key_id][0] <= one.moment <= windows[key_id][1]:
                    found.setdefault(key_id, []).append(one)
    return found


def new_story(transaction: Transaction, founder: Mapping[str, Any], topics: Collection[str]) -> str:
    """Found a story on one article (its row of datetimes, and its topics); answers the story's id.

    A story is called like its founder, so an old link still leads to the founder's story when it was folded away. The founder of a
    story who is taken out of it needs another name.
    """
    story_id, attempt = str(founder["id"]), 0
    while transaction.get(STORIES, [story_id]):
        attempt += 1
        story_id = content_id(f"{founder['id']} {attempt}")
    _put(transaction, story_id, [{**founder, "topics": [{"topic": topic} for topic in topics]}])
    return story_id


def hidden_with(transaction: Transaction, story_id: str) -> dict[str, Any]:
    """The columns (of datetimes) of an article that is folded into this story, if that is hidden as a whole; else none."""
    story = transaction.get(STORIES, [story_id], only=("id", "count", "head_id")).get(story_id)
    if story is None or story["count"]:
        return {}
    head = aware(transaction.get(ARTICLES, [story["head_id"]], only=("id", *HIDDEN))[story["head_id"]], "hidden")
    return {name: head.get(name) for name in HIDDEN}


def refresh(transaction: Transaction, story_id: str) -> None:
    """Work out a story's original, figures and labels from its versions; a story without any goes."""
    found = transaction.find(ARTICLES, Is("story_id", story_id), only=VERSION)
    if not found:
        transaction.delete(STORIES, [story_id])
        return
    _put(transaction, story_id, _with_pictures(transaction, earliest_first([aware(row, *ARTICLE_MOMENTS) for row in found])))


def earliest_first(rows: Sequence[Row]) -> list[Row]:
    """The order of a story's versions: the earliest first; of several at one moment (many pages tell a day alone) the fullest."""
    return sorted(rows, key=lambda row: (row["moment"], -row["length"], row["first_seen"], row["id"]))


def _with_pictures(transaction: Transaction, versions: list[Row]) -> list[Row]:
    """``versions``, those that are photo stories with their ``pictures`` and ``complete``."""
    shown = transaction.get(GALLERIES, [version["id"] for version in versions], without=NOT_COUNTED)
    return [
        {**version, **{name: shown[version["id"]][name] for name in ("pictures", "complete") if version["id"] in shown}}
        for version in versions
    ]


def _put(transaction: Transaction, story_id: str, versions: Sequence[Mapping[str, Any]]) -> None:
    """Write the row of a story with these versions (earliest first)."""
    lists = asked_by_lists(versions)
    topics = {topic for version in lists["versions"] for topic in version["topics"]}
    put_up = [label(kind, value) for kind, value in labels(versions, topics)]
    transaction.put(STORIES, plain({"id": story_id, **figures(versions), "labels": put_up, **lists}))


def asked_by_lists(versions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What lists ask of a story's versions (rows of ``articles`` with datetimes) that readers see, beside its own columns."""
    told = [
        {
            **{kind: version[kind] for kind in LABELLED_BY},
            "topics": [mark["topic"] for mark in version["topics"]],
            "moment": moment_in(version["moment"]),
        }
        for version in seen(versions)
    ]
    moments = [version["moment"] for version in told]
    return {"earliest": min(moments, default=None), "latest": max(moments, default=None), "versions": told}


def move(transaction: Transaction, article_id: str, story_id: str, **fold_columns: Any) -> None:
    """Put an article into another story, which indexes of fingerprints hear of; the stories' figures are the caller's."""
    transaction.change(ARTICLES, article_id, story_id=story_id, **fold_columns)
    why = {"fold_reason": fold_columns["fold_reason"]} if "fold_reason" in fold_columns else {}
    transaction.change(PRINTS, article_id, story_id=story_id, moved=transaction.next(MOVES), **why)
