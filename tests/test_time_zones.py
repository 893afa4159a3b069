"""Hours in ``sources.yaml`` are in ``portal.timezone``, and the command line prints times in that zone with its offset."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from forked import run
from scrapy.crawler import Crawler
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector

from newsportal.cli.options import moment
from newsportal.cli.recommend import view_moment as clicked
from newsportal.crawl.addon import SourcesAddon
from newsportal.messages import Message, format_time, set_zone
from newsportal.sources import load
from newsportal.sources.timing import due_at, rules
from newsportal.spiders.metasearch import MetasearchSpider
from newsportal.store import open_store
from newsportal.store.results import SourceState

ZONE = "Asia/Kolkata"  # half an hour off most zones, and without summer time
EIGHT = datetime(2026, 3, 5, 2, 30, tzinfo=UTC)  # eight o'clock there
FILE = f"""\
portal: {{timezone: {ZONE}}}
topics: [{{name: 旅游, engines: [bing_news], breadth: {{8: 4, default: 1}}}}]
regions: [{{name: 甲, prefix: "https://a.example/", hours: 9-10}}]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "sources.yaml"
    path.write_text(FILE, "utf-8")
    return path


@pytest.mark.parametrize(("minutes", "pages"), [(0, 4), (59, 4), (60, 1)])
def test_breadth_uses_configured_zone(file: Path, monkeypatch: pytest.MonkeyPatch, minutes: int, pages: int) -> None:
    now = datetime.fromtimestamp(EIGHT.timestamp() + 60 * minutes, UTC)
    monkeypatch.setattr("newsportal.spiders.metasearch.utcnow", lambda: now)
    crawler = Crawler(MetasearchSpider, Settings({"NEWSPORTAL_SOURCES": str(file), "ADDONS": {SourcesAddon: 1}}))
    crawler.addons.load_settings(crawler.settings)
    crawler.stats = MemoryStatsCollector(crawler)
    spider: Any = MetasearchSpider()
    spider._set_crawler(crawler)

    async def requested_pages() -> list[int]:
        (source,) = spider.sources()
        return [request.cb_kwargs["pages"] async for request in spider.visit(source, SourceState(source.key))]

    assert asyncio.run(requested_pages()) == [pages]
    assert format_time(EIGHT) == "2026-03-05 08:00+05:30", "run reports of `scrapy crawl` use it too"
    spider.tracker.store.close()


def test_region_hours_use_configured_zone(file: Path) -> None:
    settings = load(file)
    (region,) = settings.regions
    at = due_at(None, rules(settings, region), EIGHT)
    assert at.astimezone(ZoneInfo(ZONE)).hour == 9


@pytest.fixture
def in_zone() -> Iterator[None]:
    set_zone(ZoneInfo(ZONE))
    yield
    set_zone(None)


def test_messages_use_configured_zone(in_zone: None) -> None:
    assert str(Message("note.paused", until=EIGHT, reason="x")) == "paused until 2026-03-05 08:00+05:30: x"
    last = datetime.max.replace(tzinfo=UTC)
    assert str(Message("note.paused", until=last, reason="x")).startswith("paused until 9999-12-31")


def test_times_without_zone_are_in_configured_zone(in_zone: None) -> None:
    assert moment("2026-03-05T08:00") == moment("2026-03-05T02:30+00:00") == EIGHT
    assert clicked("2026-03-05T08:00") == EIGHT


@pytest.mark.slow
def test_commands_print_configured_zone(file: Path) -> None:
    store = open_store(f"sqlite:///{file.parent}/data/newsportal.db")
    until = datetime.now(UTC) + timedelta(hours=2)
    store.save_source_state(SourceState("region:甲", last_run=EIGHT, last_success=EIGHT, rest_until=until))
    store.close()
    planned = run("source", "schedule", "--sources", str(file))
    assert "next (+0530)" in planned.stdout, planned.stderr
    visit = run("source", "visit", "region:甲", "--sources", str(file))
    local = until.astimezone(ZoneInfo(ZONE))
    assert visit.stdout == f"region:甲 is due at {local:%Y-%m-%d %H:%M}+05:30: it sent Retry-After\n", visit.stderr
