"""Pages that hang in the browser three times in a row wait for a week."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from link_rows import SPIDER, ask
from sqlalchemy import update

from newsportal.crawl.link_tracker import HANG_PAUSE, LinkTracker, utcnow
from newsportal.crawl.requests import id_of
from newsportal.items import Link
from newsportal.store.link_tables import DEFERRED, LINKS

KEY = "feed:甲"
PAGE = Link("https://a.example/hangs.html", KEY, title="题")


def visit(tracker: LinkTracker, reason: str = "render-timeout") -> int:
    """Run a crawl whose list contains the page; return the number of requests."""

    async def run() -> int:
        await tracker.begin(await tracker.state(KEY))
        released, _ = await tracker.resume(KEY)
        fresh = (await tracker.filter_new([PAGE], SPIDER, ask)).fresh
        due = tracker.store.links.states([id_of(PAGE)])[id_of(PAGE)].state != DEFERRED
        assert due == bool(released or fresh)
        if due:
            await tracker.fail(PAGE, reason, later=True)
        await tracker.close([KEY], datetime.now(UTC))
        return int(due)

    return asyncio.run(run())


def wait(tracker: LinkTracker) -> float:
    """Return the seconds until the page is due."""
    at = tracker.store.links.states([id_of(PAGE)])[id_of(PAGE)].not_before
    return 0.0 if at is None else at - utcnow().timestamp()


def test_page_that_times_out_three_times_waits_for_a_week(tracker: LinkTracker) -> None:
    week = HANG_PAUSE.total_seconds()
    assert [visit(tracker) for _ in range(5)] == [1, 1, 1, 0, 0]
    assert week - 60 < wait(tracker) <= week
    row = next(row for row in tracker.report() if row.source == KEY)
    assert row.failed == {"render-timeout": 3}
    assert any("skipped for 7 days" in str(note) for note in row.notes)
    tracker.store.links.write(lambda tx: tx.connection.execute(update(LINKS).values(not_before=utcnow().timestamp() + 1)))
    assert [visit(tracker) for _ in range(2)] == [1, 0]  # once more, then another week
    assert week - 60 < wait(tracker) <= week


def test_other_failures_are_retried_as_usual(tracker: LinkTracker) -> None:
    """One that follows them is the first of its kind."""
    assert [visit(tracker, reason) for reason in ("timeout", "http-503", "timeout", "render-timeout", "timeout")] == [1] * 5
    assert wait(tracker) < HANG_PAUSE.total_seconds() / 2
