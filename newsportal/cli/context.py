"""What a command on stored articles starts from: the sources file, the store it names, and the index that follows the store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path

import typer

from newsportal.cli.options import load
from newsportal.errors import NewsportalError
from newsportal.messages import aware
from newsportal.search import open_index
from newsportal.search.base import Index
from newsportal.sources import Sources, find, use_own_words
from newsportal.store import open_store
from newsportal.store.store import Store


@contextmanager
def open_all(path: Path | None) -> Iterator[tuple[Sources, Store, Index]]:
    """Sources, store and index, closed at the end. The store must exist. Raises ``SourcesError``, ``StoreError``, ``SearchError``."""
    with open_record(path) as (sources, store), closing(open_index(sources.index_uri)) as index:
        yield sources, store, index


@contextmanager
def open_record(path: Path | None, *, create: bool = False) -> Iterator[tuple[Sources, Store]]:
    """Sources and store without the index. ``create``: make a store that is not there yet."""
    sources = load(path)
    use_own_words(sources)
    with closing(open_store(sources.store, create=create)) as store:
        yield sources, store


def moment(text: str | None, option: str = "--since") -> datetime | None:
    """``--since``: an ISO 8601 date or time. Without a zone it counts in ``portal.timezone``."""
    if text is None:
        return None
    try:
        return aware(datetime.fromisoformat(text))
    except (ValueError, OverflowError) as error:
        raise typer.BadParameter(
            f"{text!r} is no date; allowed: 2026-03-01, 2026-03-01T08:30, 2026-03-01T08:30+08:00", param_hint=option
        ) from error


def sources_path(given: Path | None) -> Path:
    """The sources file to write into. Raises ``NewsportalError`` where there is none."""
    path = given or find()
    if path is None:
        raise NewsportalError("there is no sources.yaml here or above; write one with: newsportal source init")
    return path
