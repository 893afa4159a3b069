"""Lists of articles for editors in a database of documents. What an index tells is asked; the rest of it is looked at, row by row."""

from __future__ import annotations

from typing import Final

from newsportal.storage.article_lists import ArticleFilter, ArticlePage, cursor, edge, meets
from newsportal.storage.columns import EPOCH, MICROSECOND
from newsportal.storage.documents.articles import article_of
from newsportal.storage.documents.base import Condition, Is, Not, Row, Rows, Within, moment_in
from newsportal.storage.documents.plain import behind
from newsportal.storage.documents.tables import ARTICLES, LONG
from newsportal.storage.rows import name

AT_ONCE: Final = 200
"""Articles that are looked at together."""

MOST_LOOKED_AT: Final = 5000
"""Articles that one page looks at: then it ends, with a cursor to go on from."""

ORDER: Final = ("-moment", "-id")


def articles(rows: Rows, which: ArticleFilter) -> ArticlePage:
    """See ``Store.pick``. A page may be short although there is another."""
    limit, where = max(1, which.limit), _asked(which)
    found: list[Row] = []
    last = _edge(which)
    for _ in range(MOST_LOOKED_AT // AT_ONCE):
        further = [behind(last, ORDER)] if last is not None else []
        page = rows.find(ARTICLES, *where, *further, order=ORDER, limit=AT_ONCE, without=LONG)
        found += [row for row in page if meets(row, which)]
        last = page[-1] if len(page) == AT_ONCE else None
        if last is None or len(found) > limit:
            break
    more = found[limit - 1] if len(found) > limit else last
    shown = tuple(article_of({**row, "text": row["excerpt"]}) for row in found[:limit])
    return ArticlePage(shown, None if more is None else cursor(EPOCH + MICROSECOND * more["moment"], more["id"]))


def _asked(which: ArticleFilter) -> list[Condition]:
    where: list[Condition] = [Not(Is(field, None)) for field in ("hidden", "corrected") if getattr(which, field)]
    where += [Is(field, name(value)) for field in ("source", "category") if (value := getattr(which, field)) is not None]
    return [*where, *([Within("moment", low=moment_in(which.since))] if which.since else [])]


def _edge(which: ArticleFilter) -> Row | None:
    last = edge(which)
    return None if last is None else {"moment": moment_in(last[0]), "id": last[1]}
