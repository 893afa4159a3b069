"""A complete crawl: real HTTP to the made-up Web on loopback, the real spiders, stages, store and index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from forked import crawl, run

from newsportal.store import open_store
from newsportal.store.results import StoredArticle, StoryFilter
from newsportal.store.store import Store

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def sources(web: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    web.reset()
    return web.sources(tmp_path_factory.mktemp("门户 一") / "sources.yaml")


@pytest.fixture(scope="module")
def first(web: Any, sources: Path) -> dict[str, Any]:
    return crawl(sources)


@pytest.fixture(scope="module")
def store(first: dict[str, Any], sources: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite:///{sources.parent}/data/newsportal.db")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def stored(store: Store) -> dict[str, StoredArticle]:
    return {article.url: article for article in store.all_articles()}


def expected_articles(web: Any) -> list[dict[str, Any]]:
    return [article for article in web.manifest()["articles"] if article["expect"] == "store" and article["site"] != "maze"]


def test_every_allowed_article_is_stored(web: Any, stored: dict[str, StoredArticle]) -> None:
    missing = [article["url"] for article in expected_articles(web) if article["url"] not in stored]
    assert missing == []


def test_titles_and_texts_match_gold(web: Any, stored: dict[str, StoredArticle]) -> None:
    wrong = []
    for article in expected_articles(web):
        found = stored[article["url"]]
        sentences = [line for line in article["text"].split("\n") if len(line) > 20]
        missing = [line for line in sentences if line[:15] not in found.text]
        if "".join(found.title.split()) != "".join(article["title"].split()) or len(missing) > len(sentences) / 5:
            wrong.append((article["url"], found.title, article["title"], missing))
    assert wrong == []


def test_site_boilerplate_line_is_removed(web: Any, store: Store, stored: dict[str, StoredArticle]) -> None:
    long = [article for article in expected_articles(web) if article["site"] == "haitang" and len(article["text"]) > 150]  # a 快讯 keeps it
    ours = [article["url"] for article in long]
    promoted = [url for url in ours if "海棠都市网”公众号" in stored[url].text]
    assert len(ours) > 20
    # The first page of a site (often a 快讯) has no page to compare with, nor have those read at the same time.
    assert len(promoted) <= 3, promoted
    assert store.site_lines(str(urlsplit(ours[0]).hostname)), "the next crawl starts with this knowledge"


def test_forbidden_paths_are_not_requested(web: Any, first: dict[str, Any]) -> None:
    paths = {visit.path for visit in web.requests}
    assert not [path for path in paths if path.startswith("/private/")]


def test_report_figures_add_up(first: dict[str, Any]) -> None:
    for row in first["sources"]:
        assert row["entries"] == row["known"] + row["repeated"] + row["new"], row
        assert row["new"] == row["parsed"] + sum(row["failed"].values()), row
        assert row["parsed"] == row["stored"] + row["folded"] + row["same"], row
    assert first["total"]["stored"] > 0
    assert {row["source"].partition(":")[0] for row in first["sources"]} == {"engine", "feed", "sitemap", "region"}


def has_printed_line(found: StoredArticle, text: str) -> bool:
    """Return whether a 快讯 keeps the boilerplate line of its site because it was read before a second page."""
    written = "".join(text.split())
    return len(written) < 100 and any("".join(line.split()) not in written for line in found.text.split("\n"))


def test_reposts_with_same_title_are_one_story(web: Any, store: Store, stored: dict[str, StoredArticle]) -> None:
    groups: dict[tuple[str, str], list[StoredArticle]] = {}
    printed: list[StoredArticle] = []
    for article in expected_articles(web):
        if not article["column"] and article["same_text"]:
            groups.setdefault((article["story"], article["title"]), []).append(stored[article["url"]])
            if has_printed_line(stored[article["url"]], article["text"]):
                printed.append(stored[article["url"]])
    reposted = {key: versions for key, versions in groups.items() if len({version.site for version in versions}) > 1}
    assert reposted, "the made-up Web has reposts"
    for key, versions in reposted.items():
        two_lines = len([version for version in versions if version in printed]) > 1  # which outweigh a text of one sentence
        alike = [version for version in versions if not two_lines or version not in printed]
        assert len({version.story_id for version in alike}) == min(1, len(alike)), key
        story = store.story(versions[0].story_id)
        assert story is not None
        assert two_lines or story.count >= len(versions)


def test_recurring_columns_are_not_folded(web: Any, stored: dict[str, StoredArticle]) -> None:
    columns = [stored[article["url"]] for article in expected_articles(web) if article["column"]]
    assert len(columns) > 1
    assert len({column.story_id for column in columns}) == len(columns)


def test_topic_contains_matching_stories(store: Store) -> None:
    travel = store.stories(StoryFilter(topic="旅游")).stories
    assert travel
    assert all("旅游" in topics for topics in (story.head.topics for story in travel) if topics)


def test_second_crawl_stores_nothing_new(first: dict[str, Any], sources: Path, store: Store, stored: dict[str, StoredArticle]) -> None:
    second = crawl(sources)["total"]
    assert second["stored"] == second["folded"] == 0, second
    assert second["known"] > 0
    assert {article.url for article in store.all_articles()} == set(stored)


def test_scrapy_crawl_command(web: Any, tmp_path: Path) -> None:
    sources = web.sources(tmp_path / "sources.yaml")
    words = ("crawl", "metasearch", "-a", "topic=旅游", "-s", f"NEWSPORTAL_SOURCES={sources}")
    done = run(*words, module="scrapy", cwd=Path(__file__).resolve().parent.parent)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Traceback" not in done.stderr, done.stderr[-3000:]
    opened = open_store(f"sqlite:///{tmp_path}/data/newsportal.db")
    try:
        assert opened.tally().by_topic["旅游"] > 0
    finally:
        opened.close()


def test_unknown_topic_error_lists_topics(sources: Path) -> None:
    done = run("crawl", "--topic", "旅行", "--sources", str(sources))
    assert done.returncode == 2
    assert "旅游" in done.stderr
