"""A crawl with its URL filter in Redis, which dies and restarts empty, and with its queue on a cluster."""

from __future__ import annotations

import json
from pathlib import Path
from time import sleep
from typing import Any

import pytest
import redis

from newsportal.store import open_store
from tests.forked import Started
from tests.redis_masters import masters

pytestmark = pytest.mark.slow


def end(process: Started) -> tuple[dict[str, Any], str]:
    output, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors[-3000:]
    assert "Traceback" not in errors, errors[-3000:]
    return json.loads(output), errors


def entered(server: Any) -> int:
    with redis.Redis(port=server.port, decode_responses=True) as client:
        state = next(iter(client.keys("{newsportal:known:*}")), None)
        return int(client.hget(state, "n0") or 0) if state else 0


def test_restarted_redis_filter_loses_and_duplicates_nothing(web: Any, redis_server: Any, tmp_path: Path) -> None:
    web.reset()
    sources = web.sources(tmp_path / "sources.yaml")
    sources.write_text(f"{sources.read_text('utf-8')}\nurl_filter: {{redis: '{redis_server.url}'}}\n", "utf-8")
    crawl = Started("crawl", "--json", "--sources", str(sources))
    while entered(redis_server) < 10 and crawl.poll() is None:
        sleep(0.05)
    assert entered(redis_server) >= 10, "stored URLs are added to the filter"
    redis_server.kill()
    sleep(1)
    redis_server.start()
    first, errors = end(crawl)
    assert "is unavailable" in errors or "refilled from the store" in errors
    store = open_store(f"sqlite:///{tmp_path}/data/newsportal.db")
    stored = {article.url for article in store.all_articles()}
    names, articles = sum(1 for _ in store.identities()), store.tally().articles
    store.close()
    expected = {row["url"] for row in web.manifest()["articles"] if row["expect"] == "store" and row["site"] != "maze"}
    assert expected <= stored
    assert first["total"]["stored"] + first["total"]["folded"] == articles
    assert entered(redis_server) >= names * 0.99, "missed URLs were added after the restart"
    second, _ = end(Started("crawl", "--json", "--sources", str(sources)))
    assert (second["total"]["stored"], second["total"]["folded"]) == (0, 0)


def test_crawl_survives_outage_of_cluster_master(web: Any, tmp_path: Path) -> None:
    web.reset()
    with masters() as cluster:
        sources = web.sources(tmp_path / "sources.yaml")
        sources.write_text(f"{sources.read_text('utf-8')}\nfrontier: {{redis: '{cluster.url}'}}\n", "utf-8")
        crawl = Started("crawl", "--json", "--sources", str(sources))
        file, before = tmp_path / "data" / "newsportal.db", 10
        for step in (lambda: cluster.servers[1].kill(), lambda: cluster.start(1)):
            while crawl.poll() is None and (not file.exists() or stored_in(file) < before):
                sleep(0.05)
            assert crawl.poll() is None, "the crawl is still running"
            step()
            before = stored_in(file) + 3  # others are stored during the outage
        first, errors = end(crawl)
        assert "is available again" in errors
        store = open_store(f"sqlite:///{file}")
        stored = {article.url for article in store.all_articles()}
        articles = store.tally().articles
        store.close()
        assert {
            article["url"] for article in web.manifest()["articles"] if article["expect"] == "store" and article["site"] != "maze"
        } <= stored
        assert first["total"]["stored"] + first["total"]["folded"] == articles
        second, _ = end(Started("crawl", "--json", "--sources", str(sources)))
        assert (second["total"]["stored"], second["total"]["folded"]) == (0, 0)


def stored_in(file: Path) -> int:
    store = open_store(f"sqlite:///{file}", create=False)
    try:
        return store.tally().articles
    finally:
        store.close()
