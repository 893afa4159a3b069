"""Lists of articles for editors, page after page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, or_, select, text

from newsportal.storage.answers import StoredArticle
from newsportal.storage.article_lists import BY_MODEL, ArticleFilter, ArticlePage, cursor, edge
from newsportal.storage.columns import EPOCH
from newsportal.storage.paging import chunks
from newsportal.storage.rows import article_from, name
from newsportal.storage.sql.reading import topics_of
from newsportal.storage.sql.tables import ARTICLES
from newsportal.storage.story_lists import EXCERPT_CHARS


def articles(connection: Connection, which: ArticleFilter) -> ArticlePage:
    """See ``Store.pick``. Which they are is read from an index alone, and then no more rows than are shown."""
    limit = max(1, which.limit)
    sorted_later = _few(which) or _by_score(which)
    moment = _not_looked_for(ARTICLES.c.moment) if sorted_later else ARTICLES.c.moment
    order = (moment.desc(), ARTICLES.c.id.desc())
    wanted = select(ARTICLES.c.id, ARTICLES.c.moment).where(*_narrowed(which)).order_by(*order).limit(limit + 1)
    picked = [(row.moment, row.id) for row in connection.execute(wanted)]
    ids = [id for _, id in picked[:limit]]
    found = {one.id: one for chunk in chunks(ids) for one in _shown(connection, chunk)}
    return ArticlePage(tuple(found[id] for id in ids), cursor(*picked[limit - 1]) if len(picked) > limit else None)


def _shown(connection: Connection, ids: Sequence[str]) -> list[StoredArticle]:
    columns = [column for column in ARTICLES.c if column.name not in ("text", "html")]
    excerpt = func.substr(ARTICLES.c.text, 1, EXCERPT_CHARS).label("text")
    rows = connection.execute(select(*columns, excerpt).where(ARTICLES.c.id.in_(ids))).mappings().all()
    topics = topics_of(connection, ids)
    return [article_from(dict(row), topics.get(row["id"], ())) for row in rows]


def _few(which: ArticleFilter) -> bool:
    """Whether few are asked for: those are all read from their index and sorted, rather than looked for in the order of time."""
    return bool(which.hidden or which.corrected or which.shorter is not None)


def _by_score(which: ArticleFilter) -> bool:
    """Whether they are read by their score and sorted: there may be many, but nothing else of them is to be looked at."""
    return which.unsure is not None and which.source is None and which.category is None


def _not_looked_for(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """The number in ``column``, for which no database looks into an index."""
    return column.op("+")(text("0"))


def _narrowed(which: ArticleFilter) -> list[ColumnElement[bool]]:
    wanted: list[ColumnElement[bool]] = []
    for column, asked in ((ARTICLES.c.hidden, which.hidden), (ARTICLES.c.corrected, which.corrected)):
        if asked is not None:
            # SQLite has no index look for what is not NULL, and takes one for what is NULL, as almost all are
            wanted.append(column >= EPOCH if asked else _not_looked_for(column).is_(None))
    for column, value in ((ARTICLES.c.source, which.source), (ARTICLES.c.category, which.category)):
        if value is not None:
            wanted.append((func.coalesce(column, "") if _few(which) else column) == name(value))
    if which.judged:
        wanted.append(ARTICLES.c.category_by == "editor")
    if which.undated:
        wanted.append(ARTICLES.c.published.is_(None))
    if which.shorter is not None:
        wanted.append(ARTICLES.c.length < which.shorter)
    if which.unsure is not None:
        score = ARTICLES.c.category_score if _by_score(which) else _not_looked_for(ARTICLES.c.category_score)
        wanted += [score < which.unsure, or_(*(ARTICLES.c.category_by.startswith(way) for way in BY_MODEL))]
    if which.since is not None:
        wanted.append(ARTICLES.c.moment >= which.since)
    if (last := edge(which)) is not None:
        behind = or_(ARTICLES.c.moment < last[0], ARTICLES.c.id < last[1])
        wanted += [ARTICLES.c.moment <= last[0], behind]  # the first enters an index at the edge
    return wanted
