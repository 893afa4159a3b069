"""A continuous crawl has one report per day, and the days add up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from link_rows import SPIDER, ask
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector

from newsportal.crawl import extensions
from newsportal.crawl.addon import SourcesAddon
from newsportal.crawl.extensions import RunReport
from newsportal.items import Link
from newsportal.items.report import Run

A = "feed:甲"
LINKS = [Link(f"https://a.example/{number}", A, title="题") for number in (1, 2, 3)]


class Plain(Spider):
    name = "rss"


@pytest.fixture
def report_of(tmp_path: Path) -> Callable[..., RunReport]:
    def make(**settings: Any) -> RunReport:
        path = tmp_path / "sources.yaml"
        path.write_text('feeds: [{name: 甲, url: "https://a.example/rss"}]\n', "utf-8")
        crawler = Crawler(Plain, Settings({"NEWSPORTAL_SOURCES": str(path), "ADDONS": {SourcesAddon: 1}, **settings}))
        crawler.addons.load_settings(crawler.settings)
        crawler.stats = MemoryStatsCollector(crawler)
        return RunReport.from_crawler(crawler)

    return make


async def crawl_two_days(report: RunReport, monkeypatch: pytest.MonkeyPatch) -> None:
    """Find two links and store one; then end a day while the other is being saved, and find a third link."""
    await report.opened(Plain())
    await report.tracker.filter_new(LINKS[:2], SPIDER, ask)
    await report.tracker.settle(LINKS[0], "stored")
    first = report.run.id
    monkeypatch.setattr(extensions, "DAY", timedelta(seconds=-1))
    while report.run.id == first:  # noqa: ASYNC110 - nothing tells
        await asyncio.sleep(0.01)
    monkeypatch.setattr(extensions, "DAY", timedelta(days=1))
    await report.tracker.settle(LINKS[1], "stored")
    await report.tracker.filter_new(LINKS[2:], SPIDER, ask)
    await report.closed(Plain(), "shutdown")


def saved_runs(report: RunReport) -> list[Run]:
    return sorted(report.tracker.store.runs(limit=100), key=lambda run: run.started)


def test_continuous_crawl_reports_day_by_day(report_of: Callable[..., RunReport], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extensions, "SAVE_EVERY", 0.02)
    report = report_of(NEWSPORTAL_STANDING=True)
    asyncio.run(asyncio.wait_for(crawl_two_days(report, monkeypatch), 600))
    runs = saved_runs(report)
    assert len(runs) >= 2
    assert [run.reason for run in runs] == ["finished"] * (len(runs) - 1) + ["shutdown"]
    assert sum(run.total.stored for run in runs) == 2
    assert runs[0].total.left == 1
    assert runs[-1].total.left == 1, "the third link"


def test_other_crawls_have_one_report(report_of: Callable[..., RunReport], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extensions, "DAY", timedelta(seconds=-1))
    report = report_of()

    async def crawl() -> None:
        await report.opened(Plain())
        await asyncio.sleep(0.05)
        await report.closed(Plain(), "finished")

    asyncio.run(crawl())
    assert len(saved_runs(report)) == 1
