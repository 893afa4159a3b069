"""A crawl of the made-up Web whose feeds are classified: articles record the classifier, and an editor's choice is kept."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from forked import crawl
from ruamel.yaml import YAML

from newsportal.store import open_store

pytestmark = pytest.mark.slow

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def sources(web: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a file whose feeds are classified and whose regions keep their category. No sitemaps: they would bring feed articles first."""
    web.reset()
    path = web.sources(tmp_path_factory.mktemp("分类") / "sources.yaml")
    yaml = YAML()
    written = yaml.load(path.read_text("utf-8"))
    del written["sitemaps"]
    for feed in written["feeds"]:
        feed["auto_classify"] = True
    written["categories"] = [{"name": "彩票", "enabled": False}]
    with path.open("w", encoding="utf-8") as stream:
        yaml.dump(written, stream)
    return path


def test_feeds_are_classified_and_editors_choice_is_kept(web: Any, sources: Path) -> None:
    rows = [*crawl(sources, "rss")["sources"], *crawl(sources)["sources"]]  # feeds first: the first list page owns an article
    notes = {row["source"]: " ".join(note["text"] for note in row["notes"]) for row in reversed(rows)}
    assert any("category by" in note and "lexicon: " in note for source, note in notes.items() if source.startswith("feed:"))
    assert not any("category by" in note for source, note in notes.items() if not source.startswith("feed:"))
    gold = {article["url"]: article["category"] for article in web.manifest()["articles"]}
    store = open_store(f"sqlite:///{sources.parent}/data/newsportal.db")
    stored = list(store.all_articles())
    classified = [article for article in stored if article.category_by == "lexicon"]
    assert {article.source.partition(":")[0] for article in classified} == {"feed"}
    assert all(article.category and article.category_reason and 0 < (article.category_score or 0) < 1 for article in classified)
    assert all(article.category_by == "source" for article in stored if article.category and not article.source.startswith("feed:"))
    plain = [article for article in classified if gold.get(article.url) not in (None, "社会", "World")]
    right = [article for article in plain if article.category == gold[article.url]]
    assert len(plain) >= 10
    assert len(right) / len(plain) >= 0.5, [(article.title, article.category, gold[article.url]) for article in plain]
    first = classified[0]
    store.set_category(first.id, "编辑部", by="editor", now=NOW)
    assert store.tally().by_category["编辑部"] == 1
    store.close()
    crawl(sources)
    again = open_store(f"sqlite:///{sources.parent}/data/newsportal.db")
    found = again.article(first.id)
    assert found is not None
    assert (found.category, found.category_by) == ("编辑部", "editor")
    again.close()
