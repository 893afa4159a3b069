"""The wall in a database of documents: photo stories page after page, the highest score or the newest first."""

from __future__ import annotations

from newsportal.storage.columns import EPOCH, MICROSECOND
from newsportal.storage.documents.articles import article_of
from newsportal.storage.documents.base import Condition, Is, Row, Rows, Within
from newsportal.storage.documents.galleries_told import told
from newsportal.storage.documents.plain import behind
from newsportal.storage.documents.room_tables import GALLERIES
from newsportal.storage.documents.tables import ARTICLES, LONG, STORIES, label
from newsportal.storage.galleries import WallFilter, WallPage, WallStory
from newsportal.storage.galleries_rows import WALL_KINDS, WALL_ORDERS
from newsportal.storage.rows import name
from newsportal.storage.story_lists import cursor, edge


def wall(rows: Rows, which: WallFilter) -> WallPage:
    """See ``Galleries.wall``. A cursor that is none (a mistyped address) gives the first page."""
    limit = max(1, which.limit)
    key = WALL_ORDERS[which.order]
    order = (f"-{key}", "-id")
    where: list[Condition] = [Is("labels", label(kind, name(value))) for kind in WALL_KINDS if (value := getattr(which, kind)) is not None]
    where.append(Within("pictures", low=0, above=True))
    last, found = _edge(which, key), list[tuple[Row, WallStory]]()
    while len(found) <= limit:
        further = [behind(last, order)] if last is not None else []
        page = rows.find(GALLERIES, *where, *further, order=order, limit=limit + 1, without=("text",))
        found += _heads(rows, page)
        if len(page) <= limit:
            break
        last = page[-1]
    more = None if len(found) <= limit else _cursor(found[limit - 1][0], which, key)
    return WallPage(tuple(story for _, story in found[:limit]), more)


def _heads(rows: Rows, page: list[Row]) -> list[tuple[Row, WallStory]]:
    """Those of ``page`` that are the originals of their stories, as the wall shows them."""
    articles = rows.get(ARTICLES, [row["id"] for row in page], without=LONG) if page else {}
    ids = {article["story_id"] for article in articles.values()}
    stories = rows.get(STORIES, ids, only=("head_id", "count", "sites")) if ids else {}
    found = []
    for row in page:
        article = articles.get(row["id"])
        story = stories.get(article["story_id"]) if article is not None else None
        if article is not None and story is not None and story["head_id"] == row["id"] and story["count"]:
            shown = article_of({**article, "text": article["excerpt"]})
            found.append((row, WallStory(shown, told(row, article["identity"]), story["count"], story["sites"])))
    return found


def _edge(which: WallFilter, key: str) -> Row | None:
    """The last row of the page before, as far as it matters."""
    found = edge(which)
    if found is None:
        return None
    value = found[0]
    return {key: value if isinstance(value, float) else (value - EPOCH) // MICROSECOND, "id": found[1]}


def _cursor(row: Row, which: WallFilter, key: str) -> str:
    value = row[key]
    return cursor(float(value) if which.order == "ranked" else EPOCH + MICROSECOND * value, row["id"])
