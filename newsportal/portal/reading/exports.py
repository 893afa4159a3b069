"""Lists as files: ``/feed.csv``, ``/topic/旅游/feed.jsonl``, ``/search/feed.csv?q=…``: the stories' heads, as ``newsportal export`` writes
them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from io import StringIO
from typing import Any, Final

from fastapi import Response

from newsportal.services.exchange import cells
from newsportal.services.exchange.form import plain
from newsportal.store.results import StoredArticle

MOST: Final = 500  # stories of a file, so that a request stays small; newsportal export has no limit
Rows = Iterable[Mapping[str, Any]]


def as_csv(rows: Rows) -> str:
    written = StringIO()
    cells.write(({name: row[name] for name in cells.COLUMNS if name in row} for row in rows), written)
    return written.getvalue()


def as_jsonl(rows: Rows) -> str:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)


EXPORTS: Final[Mapping[str, tuple[str, Callable[[Rows], str]]]] = {
    "csv": ("text/csv", as_csv),
    "jsonl": ("application/x-ndjson", as_jsonl),
}
"""Ending → media type and writer."""


def exported(ending: str, articles: Iterable[StoredArticle]) -> Response:
    """A file to be saved, of the articles that readers may see."""
    kind, write = EXPORTS[ending]
    content = write(plain(article) for article in articles if article.hidden is None)
    named = {"content-disposition": f'attachment; filename="newsportal.{ending}"', "cache-control": "no-cache"}
    return Response(content, media_type=f"{kind}; charset=utf-8", headers=named)
