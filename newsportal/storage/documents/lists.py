"""Lists of stories in a database of documents, page after page: newest or hottest first, narrowed by topic, category, source, site, time.

A story's row says under which labels it stands and when its versions were, so a list is one question, in order. Where several conditions
must meet in *one* version, the versions in the row are looked at, some hundred stories at a time.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from newsportal.storage.base import Story, StoryFilter, StoryPage
from newsportal.storage.columns import EPOCH, MICROSECOND
from newsportal.storage.documents.articles import article_of
from newsportal.storage.documents.base import Condition, Is, Row, Rows, Within, moment_in
from newsportal.storage.documents.plain import aware, behind
from newsportal.storage.documents.tables import ARTICLES, LONG, STORIES, STORY_MOMENTS, label
from newsportal.storage.paging import chunks
from newsportal.storage.rows import name, story_from
from newsportal.storage.story_lists import ORDERS, cursor, edge, given, turned, warm_enough

Edge = tuple[datetime | float, str]
"""What a story is sorted by, and its id."""

AT_ONCE: Final = 200
"""Stories whose versions are looked at together."""

MOST_LOOKED_AT: Final = 5000
"""Stories that one page looks at, where versions decide: then it ends, with a cursor to go on from."""


def stories(rows: Rows, which: StoryFilter) -> StoryPage:
    """See ``Store.stories``. A cursor that is none (a mistyped address) gives the first page. A page of a list that is narrowed twice may
    be short although there is another."""
    limit = max(1, which.limit)
    if _by_version(which):
        found, more = _looked_at(rows, which, limit + 1)
    else:
        found, more = _page(rows, which, limit + 1, turned(which) or edge(which), without=("versions",)), None
    if turned(which):
        return StoryPage(tuple(_with_heads(rows, found[:limit][::-1])))
    end = more if len(found) <= limit else _edge_of(found[limit - 1], which)
    return StoryPage(tuple(_with_heads(rows, found[:limit])), None if end is None else cursor(*end))


def listed(rows: Rows, ids: Collection[str]) -> dict[str, Story]:
    """See ``Store.listed``."""
    present: dict[str, str] = {}
    found: dict[str, Row] = {}
    for chunk in chunks(dict.fromkeys(ids)):
        found |= rows.get(STORIES, chunk, without=("versions",))
        present |= {id: id for id in chunk if id in found}
        moved = [id for id in chunk if id not in found]
        present |= {id: row["story_id"] for id, row in rows.get(ARTICLES, moved, only=("story_id",)).items()} if moved else {}
    for chunk in chunks(dict.fromkeys(id for id in present.values() if id not in found)):
        found |= rows.get(STORIES, chunk, without=("versions",))
    shown = {story.id: story for story in _with_heads(rows, list(found.values()))}
    return {id: shown[present[id]] for id in ids if present.get(id) in shown}


def _with_heads(rows: Rows, found: Sequence[Row]) -> list[Story]:
    """Rows of stories as lists show them."""
    heads: dict[str, Row] = {}
    found = [row for row in found if row["count"]]
    for chunk in chunks(row["head_id"] for row in found):
        heads |= rows.get(ARTICLES, chunk, without=LONG)
    there = ((row, heads[row["head_id"]]) for row in found if row["head_id"] in heads)  # else it is being written
    return [story_from(aware(row, *STORY_MOMENTS), article_of({**head, "text": head["excerpt"]})) for row, head in there]


def _by_version(which: StoryFilter) -> bool:
    """Whether the versions of a story tell if it is meant, and not its labels alone."""
    return len(given(which)) > 1 or bool(which.since or which.until)


def _looked_at(rows: Rows, which: StoryFilter, limit: int) -> tuple[list[Row], Edge | None]:
    """The next stories that have a version which meets everything, and where to go on if there may be more behind those."""
    last, found = turned(which) or edge(which), list[Row]()
    for _ in range(MOST_LOOKED_AT // AT_ONCE):
        page = _page(rows, which, AT_ONCE, last)
        found += [row for row in page if any(_meets(version, which) for version in row["versions"])]
        if len(found) >= limit or len(page) < AT_ONCE:
            return found[:limit], None
        last = _edge_of(page[-1], which)
    return found, last


def _page(rows: Rows, which: StoryFilter, limit: int, last: Edge | None, without: Collection[str] = ()) -> list[Row]:
    """Rows of stories that may be meant, in order, behind ``last``."""
    where: list[Condition] = [Within("count", low=1)]
    where += [Is("labels", label(kind, name(getattr(which, kind)))) for kind in given(which)]
    if which.since:
        where.append(Within("latest", low=moment_in(which.since)))
    if which.until:
        where.append(Within("earliest", high=moment_in(which.until)))
    if (least := warm_enough(which)) is not None:
        where.append(Within("heat", low=least))
    falling = "" if turned(which) else "-"
    order = (f"{falling}{ORDERS[which.order]}", f"{falling}id")
    if last is not None:
        where.append(behind({ORDERS[which.order]: _number(last[0]), "id": last[1]}, order))
    return rows.find(STORIES, *where, order=order, limit=limit, without=without)


def _meets(version: Row, which: StoryFilter) -> bool:
    """Whether one version of a story meets every condition."""
    said = {**version, "topic": version["topics"]}
    moment = version["moment"]
    if (which.since and moment < _number(which.since)) or (which.until and moment >= _number(which.until)):
        return False
    return all(name(getattr(which, kind)) in (said[kind] if kind == "topic" else [said[kind]]) for kind in given(which))


def _edge_of(row: Row, which: StoryFilter) -> Edge:
    """What ``row`` is sorted by, and its id."""
    value = row[ORDERS[which.order]]
    return (float(value) if which.order == "hottest" else EPOCH + MICROSECOND * value), row["id"]


def _number(value: datetime | float) -> float | int:
    return (value - EPOCH) // MICROSECOND if isinstance(value, datetime) else value
