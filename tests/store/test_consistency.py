"""Inconsistencies in a store are reported."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from factories import NOW, article, empty_store
from filled_store import fill
from servers import Servers

from newsportal.store import open_store
from newsportal.store.copying import find_faults
from newsportal.store.records import BY_NAME, PAGE


def test_filled_store_has_no_faults(tmp_path: Path) -> None:
    store = empty_store(tmp_path / "news.db")
    assert find_faults(store.records) == []
    fill(store)
    assert find_faults(store.records) == []
    store.close()


def test_faults_are_reported(tmp_path: Path) -> None:
    store = empty_store(tmp_path / "news.db")
    fill(store)
    with closing(sqlite3.connect(tmp_path / "news.db")) as raw:
        raw.execute("UPDATE stories SET count = 9 WHERE id = (SELECT min(story_id) FROM articles WHERE fold_of IS NULL)")
        raw.execute("UPDATE stories SET head_id = 'nobody' WHERE id = (SELECT max(id) FROM stories)")
        raw.execute("INSERT INTO article_topics (article_id, topic) VALUES ('lost', '旅游')")
        raw.commit()
    found = find_faults(store.records)
    store.close()
    assert {fault.table for fault in found} == {"stories", "article_topics"}
    assert any("count is 9 versions" in fault.reason for fault in found)
    assert any("'nobody'" in fault.reason for fault in found)
    assert [(fault.row, fault.reason) for fault in found if fault.table == "article_topics"] == [
        ("lost, 旅游", "article_id 'lost' is not in articles")
    ]


@pytest.mark.slow
@pytest.mark.parametrize("server", ["mariadb", "postgresql"])
def test_every_row_is_checked_on_a_server(servers: Servers, server: str) -> None:
    """More than a page of rows: MySQL discards the rest of a result when another query starts."""
    with servers.database(server) as database, closing(open_store(database.uri)) as store:
        store.add_all([(article(f"n{number}"), ()) for number in range(PAGE + 50)], now=NOW)
        with store.records.reading() as look:
            last = max(look.rows(BY_NAME["stories"]), key=lambda row: str(row["id"]))
        store.records.write(BY_NAME["stories"], [{**last, "count": 9}])
        assert [(fault.table, fault.row) for fault in find_faults(store.records)] == [("stories", last["id"])]
