"""A crawl that cannot start reports the reason and exits with status 1."""

from __future__ import annotations

from pathlib import Path

import pytest
from forked import run

pytestmark = pytest.mark.slow

SOURCES = 'feeds: [{name: 甲, url: "http://127.0.0.1:9/rss"}]\n'

BROKEN_START = """
import sys
from newsportal.spiders.visiting import ActiveVisits

async def claim(self, source):
    raise RuntimeError("an error of ours")

ActiveVisits.claim = claim
from newsportal.cli import main
sys.argv = ["newsportal", "crawl", "rss"]
main()
"""


def test_error_at_start_of_visits_fails_the_crawl(tmp_path: Path) -> None:
    (tmp_path / "sources.yaml").write_text(SOURCES, "utf-8")
    result = run(script=BROKEN_START, cwd=tmp_path)
    assert result.returncode == 1
    assert "the crawl failed: start-failed" in result.stderr
    assert "RuntimeError: an error of ours" in result.stderr
