"""Lists of articles for editors, page after page."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select, text

from newsportal.storage.article_lists import BY_MODEL, ArticleFilter, ArticlePage, cursor, edge
from newsportal.storage.columns import EPOCH
from newsportal.storage.rows import article_from, name
from newsportal.storage.sql.reading import topics_of
from newsportal.storage.sql.tables import ARTICLES
from newsportal.storage.story_lists import EXCERPT_CHARS


def articles(connection: Connection, which: ArticleFilter) -> ArticlePage:
    """See ``Store.pick``."""
    limit = max(1, which.limit)
    columns = [column for column in ARTICLES.c if column.name not in ("text", "html")]
    statement = select(*columns, func.substr(ARTICLES.c.text, 1, EXCERPT_CHARS).label("text")).where(*_narrowed(which))
    moment: ColumnElement[Any] = ARTICLES.c.moment
    if which.hidden or which.corrected:
        moment = moment.op("+")(text("0"))  # few are: read those and sort them, rather than look for them in the order of time
    statement = statement.order_by(moment.desc(), ARTICLES.c.id.desc()).limit(limit + 1)
    rows = connection.execute(statement).mappings().all()
    topics = topics_of(connection, [row["id"] for row in rows])
    found = tuple(article_from(dict(row), topics.get(row["id"], ())) for row in rows[:limit])
    last = rows[limit - 1] if len(rows) > limit else None
    return ArticlePage(found, cursor(last["moment"], last["id"]) if last else None)


def _narrowed(which: ArticleFilter) -> list[ColumnElement[bool]]:
    wanted: list[ColumnElement[bool]] = []
    for column, asked in ((ARTICLES.c.hidden, which.hidden), (ARTICLES.c.corrected, which.corrected)):
        if asked is not None:
            wanted.append(column >= EPOCH if asked else column.is_(None))  # SQLite has no index look for what is not NULL
    for column, value in ((ARTICLES.c.source, which.source), (ARTICLES.c.category, which.category)):
        if value is not None:
            wanted.append(column == name(value))
    if which.judged:
        wanted.append(ARTICLES.c.category_by == "editor")
    if which.undated:
        wanted.append(ARTICLES.c.published.is_(None))
    if which.shorter is not None:
        wanted.append(ARTICLES.c.length < which.shorter)
    if which.unsure is not None:
        wanted += [ARTICLES.c.category_score < which.unsure, or_(*(ARTICLES.c.category_by.startswith(way) for way in BY_MODEL))]
    if which.since is not None:
        wanted.append(ARTICLES.c.moment >= which.since)
    if (last := edge(which)) is not None:
        wanted.append(or_(ARTICLES.c.moment < last[0], and_(ARTICLES.c.moment == last[0], ARTICLES.c.id < last[1])))
    return wanted
