"""How many articles came each day, by channel, site, category and topic: kept up to date from the store's change log, in a small SQLite
file beside the search index. Derived: it may be deleted, and is counted again."""

from __future__ import annotations

from newsportal.daily.sums import KINDS as KINDS
from newsportal.daily.sums import DailySums as DailySums
from newsportal.daily.sums import Kind as Kind
from newsportal.store.dialect_sqlite import sqlite_file, sqlite_uri


def daily_uri(index_uri: str) -> str:
    """The file of the sums: beside the index's own SQLite file; in memory for an index that has none here."""
    file = sqlite_file(index_uri)
    return "sqlite://" if file is None else sqlite_uri(file.with_name(f"{file.name}.daily"))
