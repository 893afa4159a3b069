"""The project with Scrapy's command: spiders by name, and our commands beside Scrapy's."""

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
    """Run in the project's folder, which contains ``scrapy.cfg``."""
    return run(*arguments, module="scrapy", cwd=ROOT)


def test_spiders_are_listed() -> None:
    assert scrapy("list").stdout.split() == ["forum", "gallery", "hub", "lists", "metasearch", "newsletter", "rss", "sitemap"]


def test_our_commands_are_listed() -> None:
    output = scrapy("--help").stdout
    files = {path.stem for path in (ROOT / "newsportal" / "cli" / "scrapy_commands").glob("[a-z]*.py")}
    commands = {line.split()[0] for line in output.splitlines() if "The same as `newsportal" in line}
    assert commands == files - {"crawl", "shell"}  # Scrapy's own, extended


def test_our_command_has_the_same_options() -> None:
    result = scrapy("extract", "--help")
    assert (result.returncode, "--algorithm" in result.stdout) == (0, True)
    assert scrapy("doctor", "--no-network", "--json").stdout.startswith('{"check": "Python"')
    refused = scrapy("search", "词", "--sources", "nowhere.yaml")
    assert (refused.returncode, "Traceback" in refused.stderr) == (1, False)
    assert "nowhere.yaml" in refused.stderr


def test_spider_runs_for_one_source(web: MadeUpWeb, tmp_path: Path) -> None:
    web.reset()
    sources = web.sources(tmp_path / "sources.yaml")
    result = scrapy("crawl", "rss", "-a", "source=溪峰在线", "-s", f"NEWSPORTAL_SOURCES={sources}", "-s", "LOG_LEVEL=WARNING")
    assert (result.returncode, result.stderr) == (0, "")
    assert {visit.site for visit in web.requests} == {"xifeng"}
    store = open_store(f"sqlite:///{tmp_path}/data/newsportal.db")
    try:
        assert set(store.tally().by_source) == {"feed:溪峰在线"}
    finally:
        store.close()


def test_unknown_source_is_reported(web: MadeUpWeb, tmp_path: Path) -> None:
    sources = web.sources(tmp_path / "sources.yaml")
    result = scrapy("crawl", "rss", "-a", "source=没有", "-s", f"NEWSPORTAL_SOURCES={sources}")
    assert "no enabled feed named '没有'; it has: " in result.stderr
    assert "Traceback" not in result.stderr
