"""What does not fit together in a store is told."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from filled import fill

from newsportal.storage import open_store
from newsportal.storage.checking import faults


def test_a_filled_store_is_sound(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/news.db")
    assert faults(store.records) == []
    fill(store)
    assert faults(store.records) == []
    store.close()


def test_faults_are_told(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/news.db")
    fill(store)
    with closing(sqlite3.connect(tmp_path / "news.db")) as raw:
        raw.execute("UPDATE stories SET count = 9 WHERE id = (SELECT min(story_id) FROM articles WHERE fold_of IS NULL)")
        raw.execute("UPDATE stories SET head_id = 'nobody' WHERE id = (SELECT max(id) FROM stories)")
        raw.execute("INSERT INTO article_topics (article_id, topic) VALUES ('lost', '旅游')")
        raw.commit()
    found = faults(store.records)
    store.close()
    assert {fault.table for fault in found} == {"stories", "article_topics"}
    assert any("counts 9 versions" in fault.why for fault in found)
    assert any("'nobody'" in fault.why for fault in found)
    assert [(fault.row, fault.why) for fault in found if fault.table == "article_topics"] == [
        ("lost, 旅游", "article_id 'lost' is not in articles")
    ]
