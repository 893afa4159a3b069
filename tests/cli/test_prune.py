"""``newsportal prune`` with the databases configured in ``sources.yaml``."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from factories import article, run_command

from newsportal.sources import load
from newsportal.store import open_store

SOURCES = "store: sqlite:///store.db\nretention:\n  articles: 30\n  sources: {快讯: 10, 'gallery:长': forever}\n"


def test_prune_counts_and_then_deletes(tmp_path: Path) -> None:
    file = tmp_path / "sources.yaml"
    file.write_text(SOURCES, "utf-8")
    old = datetime.now(UTC) - timedelta(days=20)
    with closing(open_store(load(file).store)) as store:
        store.add(article("a", fetched=old), now=old)
        store.add(article("b", fetched=old, source="feed:另一"), now=old)
        hidden = store.add(article("c", fetched=old), now=old).id
        store.hide([hidden], by="林", reason="误登", now=old)
    text = run_command("prune", "--dry-run", "--sources", file).output
    assert "would go" in text
    assert "1 old articles stay: editors changed them" in text
    for words, deleted in (("--dry-run", 1), ("--json", 1), ("--vacuum", 0)):
        row = json.loads(run_command("prune", "--json", words, "--sources", file).output)
        assert row["dry_run"] is (words == "--dry-run")
        assert row["deleted"].get("sources.快讯", 0) == deleted
        assert row["retained"] == {"edited": 1}
    with closing(open_store(load(file).store)) as store:
        assert {found.title for found in store.all_articles()} == {"标题 b", "标题 c"}


def test_prune_creates_no_store(tmp_path: Path) -> None:
    file = tmp_path / "sources.yaml"
    file.write_text(SOURCES, "utf-8")
    assert run_command("prune", "--sources", file).exit_code == 1
    assert [found.name for found in tmp_path.iterdir()] == ["sources.yaml"]
