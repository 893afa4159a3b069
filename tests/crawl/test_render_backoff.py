"""Pages that time out in the browser are requested in three runs, then paused for a week."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from link_rows import SPIDER, ask, waiting

from newsportal.crawl import backoff
from newsportal.crawl.link_tracker import LinkTracker
from newsportal.crawl.requests import name_of
from newsportal.items import Link, content_id

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
KEY = "feed:甲"
PAGE = Link("https://a.example/hangs.html", KEY, title="题")


@pytest.fixture
def rendering(tracker: LinkTracker) -> LinkTracker:
    feeds = tuple(feed.model_copy(update={"render": feed.key == KEY}) for feed in tracker.sources.feeds)
    tracker.sources = tracker.sources.model_copy(update={"feeds": feeds})
    return tracker


def visit(tracker: LinkTracker, reason: str = "render-timeout") -> tuple[int, int]:
    """Run a crawl whose list contains the page; return the number of requested links and of links queued afterwards."""

    async def run() -> int:
        await tracker.begin(await tracker.state(KEY))
        await tracker.resume(KEY)
        fresh = list((await tracker.filter_new([PAGE], SPIDER, ask)).fresh)
        fresh += [PAGE] * (not fresh and bool(waiting(tracker.store, KEY)))
        for link in fresh:
            await tracker.fail(link, reason, later=True)
        await tracker.close([KEY], datetime.now(UTC))
        return len(fresh)

    requested = asyncio.run(run())
    tracker.hung.clear()
    return requested, len(waiting(tracker.store, KEY))


def test_page_that_times_out_in_three_runs_is_paused_for_a_week(rendering: LinkTracker) -> None:
    assert [visit(rendering) for _ in range(5)] == [(1, 1), (1, 1), (1, 0), (0, 0), (0, 0)]
    row = next(row for row in rendering.report() if row.source == KEY)
    assert (row.failed, row.known) == ({"render-timeout": 3}, 2)
    assert any("skipped for 7 days" in str(note) for note in row.notes)
    state = rendering.store.source_state(KEY)
    long_ago = (datetime.now(UTC) - timedelta(days=8)).isoformat()
    rendering.store.save_source_state(replace(state, hung={id: (runs, long_ago) for id, (runs, _) in state.hung.items()}))
    assert [visit(rendering) for _ in range(2)] == [(1, 0), (0, 0)]  # once more, then another week


def test_other_failures_are_retried_as_usual(rendering: LinkTracker) -> None:
    assert [visit(rendering, reason) for reason in ("timeout", "http-503", "no-browser", "timeout")] == [(1, 1)] * 4
    assert rendering.store.source_state(KEY).hung == {}


def test_sources_without_browser_are_not_paused(tracker: LinkTracker) -> None:
    tracker.store.save_source_state(replace(tracker.store.source_state(KEY), hung={content_id(name_of(PAGE)): (9, NOW.isoformat())}))
    assert asyncio.run(backoff.paused(tracker, [PAGE])) == set()


def test_old_timeouts_are_forgotten_and_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = backoff.count_hangs({}, ["a", "b"], NOW)
    assert backoff.count_hangs(counts, ["b"], NOW + timedelta(days=29)) == {content_id("b"): (2, (NOW + timedelta(days=29)).isoformat())}
    monkeypatch.setattr(backoff, "MAX_PAGES", 1)
    assert set(backoff.count_hangs(counts, ["c"], NOW + timedelta(days=1))) == {content_id("c")}


def test_pause_needs_three_runs_and_lasts_a_week() -> None:
    counts = backoff.count_hangs(backoff.count_hangs({}, ["a"], NOW), ["a"], NOW)
    assert backoff.paused_names(counts, ["a", "b"], NOW) == set()
    counts = backoff.count_hangs(counts, ["a"], NOW)
    assert backoff.paused_names(counts, ["a", "b"], NOW + timedelta(days=6)) == {"a"}
    assert backoff.paused_names(counts, ["a"], NOW + timedelta(days=7)) == set()
