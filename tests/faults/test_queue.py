"""A crawl whose queue is unavailable waits for a while, then reports it and ends without losing anything."""

from __future__ import annotations

from typing import Any

import pytest
from forked import run

pytestmark = pytest.mark.slow

IMPATIENT = "import newsportal.crawl.scheduler as it, newsportal.cli as cli; it.AWAY_SECONDS = 2.0; cli.main()"
"""The command line with a wait of two seconds instead of five minutes."""


def test_crawl_gives_up_waiting_for_queue(portal: Any) -> None:
    text = portal.sources.read_text("utf-8")
    portal.sources.write_text(f"{text}\nfrontier:\n  redis: redis://127.0.0.1:1/0\n", "utf-8")  # no server listens there
    done = run(*portal.command("rss"), script=IMPATIENT, timeout=900)
    assert done.returncode == 1
    assert "the queue of requests is unavailable" in done.stderr
    assert "the crawl failed: queue-unavailable; fix the cause and run it again: nothing is lost" in done.stderr
    assert "Traceback" not in done.stderr
    portal.sources.write_text(text, "utf-8")
    assert portal.crawl_report("rss")["total"]["stored"] > 10
