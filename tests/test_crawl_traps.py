"""A crawl of the site full of traps: it ends soon, with little memory, and handles every trap as the manifest says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import link_rows
import pytest
from forked import crawl

from newsportal.store import open_store
from newsportal.store.results import StoredArticle
from newsportal.store.store import Store

if TYPE_CHECKING:
    from madeup import MadeUpWeb
    from madeup.server import Visit

pytestmark = pytest.mark.slow

SECONDS = 600.0
"""Seconds after which a crawl counts as endless. A crawl of all sites takes ten; the slow traps would take hours."""

MEGABYTES = 700
"""Maximum resident memory. It was 320, most of it dictionaries; an endless body or a bomb would add to that."""

PROMOTION = re.compile(r"\n(?:更多本地新闻，欢迎关注“海棠都市网”公众号|风险提示：市场有风险，投资需谨慎).*")
"""Lines that two sites print below each of their articles."""

REFUSED = ("169.254.", "file:", "/etc/passwd")


Traps = dict[str, list[dict[str, Any]]]
"""The manifest's traps by expected handling."""


@dataclass(frozen=True)
class Crawled:
    """Result of one crawl of everything including traps. ``megabytes``: its peak memory."""

    report: dict[str, Any]
    articles: tuple[StoredArticle, ...]
    waiting: set[str]
    visits: list[Visit]
    errors: str
    megabytes: float

    @property
    def urls(self) -> set[str]:
        return {article.url for article in self.articles}


MEASURED = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[2:]).returncode
with open(sys.argv[1], "w") as told:
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=told)
sys.exit(status)
"""
"""A small process between the tests' and the crawl's: the peak memory of a child includes what its parent held at the fork, and tests may
have trained models."""


def measured_crawl(sources: Path) -> tuple[dict[str, Any], str, float]:
    """Return the report, the errors, and the peak memory in megabytes."""
    errors, peak = sources.with_name("errors.txt"), sources.with_name("peak.txt")
    command = [sys.executable, "-m", "newsportal", "crawl", "--json", "--sources", str(sources)]
    with errors.open("w") as stderr:
        done = subprocess.run(
            [sys.executable, "-c", MEASURED, str(peak), *command],
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    assert done.returncode == 0, errors.read_text()[-3000:]
    return json.loads(done.stdout), errors.read_text(), int(peak.read_text()) / 1024


def opened(sources: Path) -> Store:
    return open_store(f"sqlite:///{sources.parent}/data/newsportal.db")


@pytest.fixture(scope="module")
def crawled(web: MadeUpWeb, tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    web.reset()
    sources = web.sources(tmp_path_factory.mktemp("traps") / "sources.yaml", traps=True)
    report, errors, megabytes = measured_crawl(sources)
    store = opened(sources)
    try:
        articles = tuple(store.all_articles())
        waiting = set(link_rows.waiting(store))
    finally:
        store.close()
    return Crawled(report, articles, waiting, web.requests, errors, megabytes)


@pytest.fixture(scope="module")
def traps(web: MadeUpWeb) -> Traps:
    """The traps of the manifest by expected handling."""
    found: Traps = {}
    for trap in web.manifest()["traps"]:
        found.setdefault(trap["expect"], []).append(trap)
    return found


def test_crawl_ends_with_bounded_memory(crawled: Crawled) -> None:
    assert crawled.megabytes < MEGABYTES
    assert "Traceback" not in crawled.errors, crawled.errors[-3000:]


def test_every_trap_is_requested(crawled: Crawled, traps: Traps) -> None:
    assert set(traps) == {"store", "fail", "skip", "refuse", "bounded", "survive"}
    paths = {visit.path.partition("?")[0] for visit in crawled.visits if visit.site == "maze"}
    expected = [trap for trap in (*traps["fail"], *traps["skip"], *traps["refuse"]) if trap["name"] not in ("comments", "digest")]
    assert [trap["name"] for trap in expected if urlsplit(trap["url"]).path not in paths] == []


def test_articles_with_misleading_urls_are_one_story_each(crawled: Crawled, traps: Traps) -> None:
    for trap in traps["store"]:
        number = urlsplit(trap["url"]).path.removesuffix(".html")
        versions = [article for article in crawled.articles if urlsplit(article.url).path.startswith(number)]
        assert len({version.story_id for version in versions}) == 1, (trap, versions)


@pytest.mark.parametrize("expect", ["skip", "fail", "refuse"])
def test_traps_without_article_are_not_stored(crawled: Crawled, traps: Traps, expect: str) -> None:
    assert [trap["name"] for trap in traps[expect] if trap["url"] in crawled.urls] == []


def test_failures_are_counted_by_reason(crawled: Crawled) -> None:
    counts: dict[str, int] = {}
    for row in crawled.report["sources"]:
        if "迷宫" in row["source"]:
            for reason, number in row["failed"].items():
                counts[reason] = counts.get(reason, 0) + number
    expected = {
        "http-404": 1,  # missing
        "http-500": 1,  # broken
        "http-503": 3,  # busy, in three variants
        "redirects": 2,  # the loop, from both ends
        "egress-denied": 3,  # hop-a, hop-b, to-metadata
        "redirect-denied": 1,  # to-file
        "challenge": 1,
        "login": 1,
        "soft-404": 1,
        "not-html": 1,  # photo
        "too-large": 2,  # endless, bomb
        "too-many-tags": 1,
    }
    assert {reason: counts.get(reason) for reason in expected} == expected
    assert [reason for reason in counts if reason.startswith(("error", "ignored"))] == []


def test_report_figures_add_up(crawled: Crawled) -> None:
    for row in crawled.report["sources"]:
        assert row["entries"] == row["known"] + row["repeated"] + row["new"], row
        assert row["new"] == row["parsed"] + sum(row["failed"].values()), row
        assert row["parsed"] == row["stored"] + row["folded"] + row["same"], row


def test_forbidden_targets_are_not_fetched(crawled: Crawled) -> None:
    assert [visit for visit in crawled.visits if visit.host.startswith("169.254.")] == []
    assert [url for url in crawled.urls if url.startswith(REFUSED)] == []
    assert not any("root:" in article.text for article in crawled.articles)


def test_endless_links_are_followed_a_few_times_only(crawled: Crawled) -> None:
    for prefix in ("/calendar", "/deep/"):
        assert len([visit for visit in crawled.visits if visit.site == "maze" and visit.path.startswith(prefix)]) <= 6, prefix


def times(crawled: Crawled, path: str) -> list[Visit]:
    return [visit for visit in crawled.visits if visit.site == "maze" and visit.path.partition("?")[0] == path]


def trap_path(traps: Traps, name: str) -> str:
    return next(urlsplit(trap["url"]).path for found in traps.values() for trap in found if trap["name"] == name)


@pytest.mark.parametrize("name", ["busy", "busy-date"])
def test_retry_after_leaves_link_waiting(crawled: Crawled, traps: Traps, web: MadeUpWeb, name: str) -> None:
    path = trap_path(traps, name)
    assert len(times(crawled, path)) == 1
    assert web.url("maze", path) in crawled.waiting


def test_503_without_wait_is_retried_immediately(crawled: Crawled, traps: Traps) -> None:
    assert [visit.status for visit in times(crawled, trap_path(traps, "maze-flaky"))] == [503, 200]
    assert len(times(crawled, trap_path(traps, "busy-negative"))) == 3  # once, and Scrapy's two retries


def test_oversized_bodies_are_not_requested_again(crawled: Crawled, traps: Traps, web: MadeUpWeb) -> None:
    for name in ("endless", "bomb"):
        path = trap_path(traps, name)
        assert len(times(crawled, path)) == 1
        assert web.url("maze", path) not in crawled.waiting


def test_entries_sharing_a_link_are_all_stored(crawled: Crawled, web: MadeUpWeb) -> None:
    titles = next(feed["titles"] for feed in web.manifest()["feeds"] if feed["quirk"] == "shared-link")
    address = next(feed["url"] for feed in web.manifest()["feeds"] if feed["quirk"] == "shared-link").partition("://")[2]
    articles = [article for article in crawled.articles if article.identity.startswith(f"{address}#")]
    assert sorted(article.title for article in articles) == sorted(titles)
    assert len({article.story_id for article in articles}) == len(titles) > 5


def test_second_crawl_requests_lists_conditionally(web: MadeUpWeb, tmp_path: Path) -> None:
    web.reset()
    sources = web.sources(tmp_path / "sources.yaml")
    first = crawl(sources, "rss")
    before = len(web.requests)
    second = crawl(sources, "rss")
    feeds = {urlsplit(feed["url"]).path for feed in web.manifest()["feeds"] if feed["site"] not in ("maze", "shenyuan")}
    again = [visit for visit in web.requests[before:] if visit.path in feeds]
    assert first["total"]["not_modified"] == 0
    assert len(again) == second["total"]["not_modified"] == second["total"]["list_pages"] > 5
    assert all(visit.status == 304 and ("If-None-Match" in visit.headers or "If-Modified-Since" in visit.headers) for visit in again)
    assert second["total"]["entries"] == 0


def test_replayed_crawl_stores_the_same(web: MadeUpWeb, tmp_path: Path) -> None:
    web.reset()
    live, replayed = (web.sources(tmp_path / name / "sources.yaml") for name in ("现场", "重放 一"))
    warc = tmp_path / "存 档.warc.gz"
    crawl(live, "hub", "--archive", str(warc))
    assert warc.stat().st_size > 10_000
    before = len(web.requests)
    report = crawl(replayed, "hub", "--replay", str(warc))
    assert len(web.requests) == before, "a replay sends no requests"
    assert report["total"]["stored"] > 50
    assert texts(replayed) == texts(live)


def texts(sources: Path) -> dict[str, tuple[str, str]]:
    """Return titles and texts, without a site's boilerplate line: it stays in whichever article is read first."""
    store = opened(sources)
    try:
        return {article.identity: (article.title, PROMOTION.sub("", article.text)) for article in store.all_articles()}
    finally:
        store.close()
