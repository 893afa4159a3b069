"""The stories that may be recommended, as recommendation knows them, from a database of documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from newsportal.storage import readers_rows
from newsportal.storage.documents.base import Condition, In, Row, Rows, Within, moment_in
from newsportal.storage.documents.plain import aware, in_pages
from newsportal.storage.documents.readers_seen import story_ids
from newsportal.storage.documents.room_tables import VIEWS
from newsportal.storage.documents.tables import ARTICLES, STORIES
from newsportal.storage.paging import chunks
from newsportal.storage.readers import Told
from newsportal.storage.readers_rows import BEGINNING, in_order

STORY = ("head_id", "moment", "labels", "count")


def since(rows: Rows, moment: datetime, found: datetime | None) -> Iterator[Told]:
    """Stories by id from ``moment`` on."""
    late: list[Condition] = [Within("first_seen", low=moment_in(found))] if found is not None else []
    wanted = (Within("moment", low=moment_in(moment)), *late)
    for page in in_pages(rows, STORIES, *wanted, size=readers_rows.STORIES_AT_ONCE, only=STORY):
        yield from _told(rows, page)


def older(rows: Rows, moment: datetime) -> Iterator[Told]:
    """The stories from before ``moment`` that somebody looked at."""
    told: set[str] = set()
    for chunk in chunks(sorted(rows.count_by(VIEWS, "article_id"))):
        ids = set(story_ids(rows, chunk).values()) - told
        told |= ids
        if ids:
            yield from _told(rows, rows.find(STORIES, In("id", ids), Within("moment", high=moment_in(moment)), order=("id",), only=STORY))


def _told(rows: Rows, stories: Sequence[Row]) -> Iterator[Told]:
    """``excerpt`` holds as much of the text as is told."""
    heads = rows.get(ARTICLES, [story["head_id"] for story in stories], only=("title", "excerpt")) if stories else {}
    for story in stories:
        head = heads.get(story["head_id"])
        if head is None or not story["count"]:  # it is being written, or hidden
            continue
        labels = (label.partition(":")[::2] for label in story["labels"])
        moment = aware(story, "moment")["moment"]
        yield Told(story["id"], moment, head["title"], head["excerpt"][:BEGINNING], in_order(labels))
