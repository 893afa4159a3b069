"""The project under Scrapy's own command: spiders by name, and our commands beside Scrapy's."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from forked import run

from newsportal.store import open_store

if TYPE_CHECKING:
    from madeup import MadeUpWeb

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.slow


def scrapy(*arguments: str) -> subprocess.CompletedProcess[str]:
    """In the project's folder, where ``scrapy.cfg`` lies."""
    return run(*arguments, module="scrapy", cwd=ROOT)


def test_the_spiders_are_listed() -> None:
    assert scrapy("list").stdout.split() == ["forum", "gallery", "hub", "lists", "metasearch", "newsletter", "rss", "sitemap"]


def test_our_commands_stand_beside_scrapys() -> None:
    shown = scrapy("--help").stdout
    files = {path.stem for path in (ROOT / "newsportal" / "cli" / "scrapy_commands").glob("[a-z]*.py")}
    listed = {line.split()[0] for line in shown.splitlines() if "The same as `newsportal" in line}
    assert listed == files - {"crawl", "shell"}  # Scrapy's own, with a little more


def test_a_command_of_ours_takes_the_same_options() -> None:
    shown = scrapy("extract", "--help")
    assert (shown.returncode, "--algorithm" in shown.stdout) == (0, True)
    assert scrapy("doctor", "--no-network", "--json").stdout.startswith('{"what": "Python"')
    refused = scrapy("search", "词", "--sources", "nowhere.yaml")
    assert (refused.returncode, "Traceback" in refused.stderr) == (1, False)
    assert "nowhere.yaml" in refused.stderr


def test_a_spider_runs_for_one_source(web: MadeUpWeb, tmp_path: Path) -> None:
    web.reset()
    sources = web.sources(tmp_path / "sources.yaml")
    done = scrapy("crawl", "rss", "-a", "source=溪峰在线", "-s", f"NEWSPORTAL_SOURCES={sources}", "-s", "LOG_LEVEL=WARNING")
    assert (done.returncode, done.stderr) == (0, "")
    assert {visit.site for visit in web.requests} == {"xifeng"}
    store = open_store(f"sqlite:///{tmp_path}/data/newsportal.db")
    try:
        assert set(store.tally().by_source) == {"feed:溪峰在线"}
    finally:
        store.close()


def test_a_source_that_is_not_there_is_told(web: MadeUpWeb, tmp_path: Path) -> None:
    sources = web.sources(tmp_path / "sources.yaml")
    done = scrapy("crawl", "rss", "-a", "source=没有", "-s", f"NEWSPORTAL_SOURCES={sources}")
    assert "no enabled feed named '没有'; it has: " in done.stderr
    assert "Traceback" not in done.stderr
