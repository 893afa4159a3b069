"""The store's server dies during a crawl: nothing is lost or stored twice, and the failure is reported."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml
from servers import MAKE, OVER_SERVERS, Server, not_needed, own_server

from newsportal.store import open_store
from tests.forked import Started

pytestmark = pytest.mark.slow

NAME = "crawled"


@pytest.fixture(params=OVER_SERVERS)
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    with own_server(request.param) as started:
        MAKE.get(started.name, not_needed)(started.port, NAME)
        yield started


def set_store(sources: Path, uri: str) -> None:
    """Set the store in ``sources``."""
    values = yaml.safe_load(sources.read_text("utf-8"))
    sources.write_text(yaml.safe_dump({**values, "store": uri}, allow_unicode=True), "utf-8")


def identities(uri: str) -> list[str]:
    with closing(open_store(uri)) as store:
        return sorted(found.identity for found in store.all_articles())


def resumed_report(crawl: Started) -> dict[str, Any]:
    """Return the report of a crawl that resumed when the store was back, or failed with a message."""
    output, errors = crawl.communicate(timeout=900)
    assert "Traceback" not in errors, errors[-3000:]
    report: dict[str, Any] = json.loads(output)
    assert set(report["total"]["failed"]) <= {"store-unavailable"}, "these are retried"
    if crawl.returncode != 0:
        assert "the crawl failed: store-unavailable; fix the cause and run it again: nothing is lost" in errors
    for row in report["sources"]:
        assert row["new"] == row["parsed"] + sum(row["failed"].values()) + row["left"], row
    return report


def test_killed_store_server_loses_nothing(portal: Any, undisturbed: Any, server: Server) -> None:
    uri = server.url(NAME)
    set_store(portal.sources, uri)
    with closing(open_store(uri)) as store:
        crawl = portal.start("hub")
        portal.wait_until(lambda: store.tally().articles >= 10 or crawl.poll() is not None)
    server.kill()
    server.start()
    resumed_report(crawl)
    assert set(identities(uri)) <= set(undisturbed["hub"])
    portal.crawl_report("hub")
    assert identities(uri) == undisturbed["hub"]
