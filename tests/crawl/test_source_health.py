"""After a visit: changes of health are reported once, a source in quarantine is paused, and a permanent redirect is recorded."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response

from newsportal.crawl.link_tracker import LinkTracker, tracker_of, utcnow
from newsportal.crawl.source_visits import moved_to, note_health, note_moved
from newsportal.items.visits import Visit
from newsportal.spiders.visiting import ActiveVisits

A, B = "feed:甲", "feed:乙"
HOUR = timedelta(hours=1)


def notes(tracker: LinkTracker) -> list[str]:
    return [str(note) for row in tracker.report() for note in row.notes]


def visit(tracker: LinkTracker, hours: float, **values: Any) -> None:
    tracker.store.visits.add(Visit(A, utcnow() - hours * HOUR, **values))


def test_change_of_health_is_reported_once(tracker: LinkTracker) -> None:
    for hours in range(10, 2, -1):
        visit(tracker, hours, list_pages=1, entries=5, new=1, stored=1)
    asyncio.run(note_health(tracker, [A], utcnow()))
    assert notes(tracker) == []
    visit(tracker, 2, list_failed={"http-500": 1})
    asyncio.run(note_health(tracker, [A], utcnow()))
    assert notes(tracker) == []
    visit(tracker, 1, list_failed={"http-500": 1})
    asyncio.run(note_health(tracker, [A], utcnow()))
    assert len(notes(tracker)) == 1
    assert "“failing” now (was “healthy”)" in notes(tracker)[0]
    visit(tracker, 0.5, list_failed={"http-500": 1})
    asyncio.run(note_health(tracker, [A], utcnow()))
    assert len(notes(tracker)) == 1


def test_quarantined_source_is_paused_until_a_successful_visit(tracker: LinkTracker) -> None:
    for days in range(10):
        visit(tracker, 24 * days, list_failed={"timeout": 1})
    now = utcnow()
    asyncio.run(note_health(tracker, [A], now))
    asyncio.run(tracker.close([A], now))
    until = tracker.store.source_state(A).rest_until
    assert until is not None
    assert timedelta(hours=47) < until - now <= timedelta(hours=48)
    tracker.forget(A)
    visit(tracker, -0.001, list_pages=1, entries=5)
    asyncio.run(note_health(tracker, [A], now))
    assert any("again" in note for note in notes(tracker))


def test_unfinished_visit_does_not_count(tracker: LinkTracker) -> None:
    for hours in range(5, 1, -1):
        visit(tracker, hours, list_failed={"http-500": 1})
    visit(tracker, 0)
    asyncio.run(note_health(tracker, [A], utcnow()))
    assert notes(tracker) == []


@pytest.mark.parametrize(
    ("answered", "statuses", "moved"),
    [
        ("https://new.example/rss", [301], True),
        ("https://new.example/rss", [308, 301], True),
        ("https://new.example/rss", [302], False),
        ("https://new.example/rss", [301, 302], False),
        ("https://a.example/rss", [301], False),
        ("http://www.a.example/rss", [301], False),
        ("https://a.example/feed.xml", [301], True),
        ("http://a.example/rss", [], False),
    ],
)
def test_permanent_redirect_of_a_list_page(answered: str, statuses: list[int], moved: bool) -> None:
    assert moved_to("http://a.example/rss", answered, statuses) == (answered if moved else None)


def test_redirects_in_scrapy_meta_are_recorded(tracker: LinkTracker) -> None:
    request = Request("https://new.example/rss", meta={"redirect_urls": ["http://a.example/rss"], "redirect_reasons": [301]})
    note_moved(tracker, A, Response(request.url, request=request))
    assert [part.moved for part in tracker.visit_counts.take_visits(utcnow())] == ["https://new.example/rss"]
    refreshed = Request(request.url, meta={"redirect_urls": ["http://a.example/rss"], "redirect_reasons": ["meta refresh"]})
    note_moved(tracker, A, Response(request.url, request=refreshed))
    assert tracker.visit_counts.take_visits(utcnow()) == []


async def run_visits(tracker: LinkTracker, *failed: tuple[str, str]) -> None:
    """Visit A and B with the given failures of list pages, saving counts after each failure and at the end."""

    async def over(source: str) -> None:
        """The end of a visit is not tested here."""

    visiting = ActiveVisits(tracker, lambda: None, over)
    for source in (A, B):
        await visiting.begin(source)
    for source, reason in failed:
        host = {A: "a", B: "b"}[source]
        tracker.list_failed(source, reason, f"https://{host}.example/rss: no address for {host}.example")
        await visiting.write()
    await visiting.write([A, B])
    await tracker.close([A, B], utcnow())
    await visiting.stop()


def failures(tracker: LinkTracker) -> list[tuple[int, int]]:
    """Return for A and B the number of failed visits, and of consecutive failures in the source's state."""
    states = ((tracker.store.visits.of(source), tracker.store.source_state(source)) for source in (A, B))
    return [(sum(bool(visit.list_failed) for visit in visits), state.failures_in_row) for visits, state in states]


def test_visits_without_network_are_not_failures(tracker: LinkTracker) -> None:
    asyncio.run(run_visits(tracker, (A, "dns"), (A, "dns"), (B, "robots-unreachable")))
    assert failures(tracker) == [(0, 0), (0, 0)]
    assert tracker.store.visits.of(A) == []
    assert tracker.store.source_state(A).last_run is None  # it stays due


def test_single_unreachable_host_is_a_failure(tracker: LinkTracker) -> None:
    asyncio.run(run_visits(tracker, (A, "dns"), (B, "http-404")))
    assert failures(tracker) == [(1, 1), (1, 1)]


def test_spiders_of_a_process_share_offline_detection(tracker: LinkTracker, crawler_for: Any) -> None:
    tracker.list_failed(A, "dns", "https://a.example/rss: no address")
    other = tracker_of(crawler_for())
    other.list_failed(B, "dns", "https://b.example/rss: no address")
    assert tracker.offline
    assert other.offline
    other.count(B, "list_pages")
    assert not tracker.offline
