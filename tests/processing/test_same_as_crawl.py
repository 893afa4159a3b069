"""An archive of the made-up Web: a crawl replaying it, local processes and Spark yield the same articles."""

from __future__ import annotations

import json
import urllib.request
from contextlib import closing
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from forked import crawl, run
from madeup.feeds import FEEDS

from newsportal.extractors.feeds import feed
from newsportal.net.archive import Exchange, Writer
from newsportal.services import spark
from newsportal.services.exchange.form import full_values
from newsportal.store import open_store

pytestmark = pytest.mark.slow

SITES = ("kunzhou", "qingtai", "harbour", "chaoyin", "shenyuan")
CHANCE = ("fetched", "first_seen", "story", "fold_of", "fold_reason", "fold_score")
"""Times, and fields that depend on which of two versions came first. Stories are compared as groups."""


@pytest.fixture(scope="module")
def folder(web: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a ``sources.yaml`` of five classified feeds and the archive of their articles."""
    web.reset()
    archive = tmp_path_factory.mktemp("archive")
    feeds = [feed for feed in FEEDS if feed.site in SITES and feed.kind != "json"]
    lines = [f"  - {{name: {feed.site}, url: '{web.url(feed.site, feed.path)}', auto_classify: true}}" for feed in feeds]
    words = "topics:\n  - {name: 探索, keywords: {any: [流感, 量子, 投资]}, engines: []}\n"
    settings = "version: 1\nstore: sqlite:///data/newsportal.db\npoliteness: {delay: 0}\n"
    (archive / "sources.yaml").write_text(settings + words + "feeds:\n" + "\n".join(lines) + "\n", encoding="utf-8")
    with Writer(archive / "web.warc.gz") as writer:
        for one in feeds:
            answer = save(writer, f"{web.url(one.site, one.path)}")
            for entry in feed.parse_feed(answer.body, answer.url, dict(answer.headers).get("Content-Type"), answer.when).entries:
                if entry.url and not entry.shared_link:
                    save(writer, entry.url)
    return archive


def save(writer: Writer, url: str) -> Any:
    with urllib.request.urlopen(url) as answer:
        exchange = Exchange(url, answer.status, tuple(answer.headers.items()), answer.read(), when=datetime.now(UTC))
    writer.write(exchange)
    return exchange


@pytest.fixture(scope="module")
def crawled(folder: Path) -> dict[str, dict[str, Any]]:
    crawl(folder / "sources.yaml", "--once", "--replay", str(folder / "web.warc.gz"))
    with closing(open_store(f"sqlite:///{folder}/data/newsportal.db")) as store:
        return {article.identity: json.loads(json.dumps(full_values(article, store))) for article in store.all_articles()}


def processed(folder: Path, *options: str) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    out = folder / "articles.jsonl"
    words = ("process", str(folder / "web.warc.gz"), "--out", str(out), "--json", "--sources", str(folder / "sources.yaml"))
    done = run(*words, *options)
    assert done.returncode == 0, done.stderr[-3000:]
    rows = map(json.loads, out.read_text("utf-8").splitlines())
    return json.loads(done.stdout.splitlines()[-1]), {row["identity"]: row for row in rows}


def content(articles: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {name: {field: value for field, value in row.items() if field not in CHANCE} for name, row in articles.items()}


def stories(articles: dict[str, dict[str, Any]]) -> set[frozenset[str]]:
    found: dict[str, set[str]] = {}
    for name, row in articles.items():
        found.setdefault(row["story"], set()).add(name)
    return {frozenset(names) for names in found.values()}


def test_processing_matches_crawl(folder: Path, crawled: dict[str, dict[str, Any]]) -> None:
    summary, found = processed(folder, "--workers", "2")
    assert content(found) == content(crawled)
    assert stories(found) == stories(crawled)
    assert len(found) == summary["stored"] + summary["folded"] >= 40
    assert any(row["topics"] for row in found.values())
    assert {row["category_by"] for row in found.values() if row.get("category")} == {"lexicon"}


@pytest.mark.skipif(not (find_spec("pyspark") and spark.has_java()), reason="needs the extra spark and Java (make tools)")
def test_spark_matches_local_processing(folder: Path) -> None:
    alone, local = processed(folder, "--workers", "1")
    many, spark = processed(folder, "--spark", "local[2]")
    for rows in (local, spark):
        for row in rows.values():
            del row["first_seen"]
    assert spark == local
    assert {**many, "seconds": 0} == {**alone, "seconds": 0}
