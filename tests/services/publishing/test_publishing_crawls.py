"""A crawl publishes after its run; a worker publishes continuously and reports a lasting problem once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from cms import Cms
from forked import run

from newsportal.cli.publish import Publisher, publish_after_crawl
from newsportal.sources import Sources, load
from newsportal.store import open_store
from newsportal.store.results import StoryFilter
from newsportal.store.store import Store


def until(holds: Callable[[], bool], seconds: float = 600.0) -> bool:
    deadline = monotonic() + seconds
    while not holds() and monotonic() < deadline:
        sleep(0.01)
    return holds()


def load_sources(folder: Path, target: str) -> Sources:
    (folder / "sources.yaml").write_text(f"store: sqlite:///news.db\npublish:\n{target}", "utf-8")
    return load(folder / "sources.yaml")


@pytest.mark.slow
def test_crawl_publishes_each_story_once(web: Any, cms: Cms, tmp_path: Path) -> None:
    web.reset()
    sources = web.sources(tmp_path / "sources.yaml")
    with sources.open("a", encoding="utf-8") as file:
        file.write(f"\npublish:\n{cms.target(only='{kinds: [article, thread, photos]}')}")
    for first in (True, False):
        result = run("crawl", "rss", "--json", "--sources", str(sources))
        assert result.returncode == 0, result.stderr
        assert json.loads(result.stdout)["reason"] == "finished"
        assert ("published" in result.stderr) is first, result.stderr
    store = open_store(f"sqlite:///{tmp_path}/data/newsportal.db")
    heads = {story.head.id for story in store.stories(StoryFilter(limit=10_000)).stories}
    store.close()
    assert len(heads) > 20
    assert {row["slug"].partition("-")[2] for row in cms.rows()} == heads
    assert len(cms.rows()) == len(heads)


def test_worker_publishes_new_articles_continuously(store: Store, add: Callable[..., str], cms: Cms, tmp_path: Path) -> None:
    messages: list[str] = []
    publisher = Publisher(load_sources(tmp_path, cms.target()), messages.append, every=0.02)
    publisher.start()
    try:
        add("a")
        assert until(lambda: len(cms.rows()) == len(messages) == 1)
        add("b")
        assert until(lambda: len(cms.rows()) == len(messages) == 2)
    finally:
        publisher.stop()
    assert not publisher.is_alive()
    assert messages == ["cms: 1 published"] * 2


def test_lasting_problem_is_reported_once(store: Store, add: Callable[..., str], cms: Cms, tmp_path: Path) -> None:
    messages: list[str] = []
    cms.run("ALTER TABLE posts RENAME TO other")
    publisher = Publisher(load_sources(tmp_path, cms.target()), messages.append, every=0.02)
    publisher.start()
    try:
        add("a")
        assert until(lambda: bool(messages))
        sleep(0.2)
        cms.run("ALTER TABLE other RENAME TO posts")
        assert until(lambda: len(messages) == 2)
    finally:
        publisher.stop()
    assert "there is no table posts" in messages[0]
    assert messages[1:] == ["cms: 1 published"]


def test_publishing_errors_do_not_end_a_crawl(store: Store, add: Callable[..., str], cms: Cms, tmp_path: Path) -> None:
    messages: list[str] = []
    add("a")
    publish_after_crawl(load_sources(tmp_path, cms.target().replace("cms.db", "gone.db")), messages.append)
    assert "unavailable" in messages[0]
    publish_after_crawl(load_sources(tmp_path, cms.target()), messages.append)
    assert messages[1:] == ["cms: 1 published"]
    publish_after_crawl(load_sources(tmp_path, cms.target()), messages.append)
    assert messages[2:] == []
    broken = load_sources(tmp_path, cms.target()).model_copy(update={"store": f"sqlite:///{tmp_path}/no/store.db"})
    publish_after_crawl(broken, messages.append)
    assert "nothing was published" in messages[2]
