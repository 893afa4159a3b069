"""After a visit: changes are told once, a source in quarantine rests, an address that has gone for ever is remembered."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response

from newsportal.crawl.ledger import Ledger, ledger_of, utcnow
from newsportal.crawl.source_visits import moved_to, note_health, note_moved
from newsportal.items.visits import Visit
from newsportal.spiders.visiting import Visiting

A, B = "feed:甲", "feed:乙"
HOUR = timedelta(hours=1)


def notes(ledger: Ledger) -> list[str]:
    return [str(note) for row in ledger.report() for note in row.notes]


def visit(ledger: Ledger, hours: float, **told: Any) -> None:
    ledger.store.visits.add(Visit(A, utcnow() - hours * HOUR, **told))


def test_a_change_is_told_once_by_the_visit_that_made_it(ledger: Ledger) -> None:
    for hours in range(10, 2, -1):
        visit(ledger, hours, list_pages=1, entries=5, new=1, stored=1)
    asyncio.run(note_health(ledger, [A], utcnow()))
    assert notes(ledger) == []
    visit(ledger, 2, list_failed={"http-500": 1})
    asyncio.run(note_health(ledger, [A], utcnow()))
    assert notes(ledger) == []
    visit(ledger, 1, list_failed={"http-500": 1})
    asyncio.run(note_health(ledger, [A], utcnow()))
    assert len(notes(ledger)) == 1
    assert "“failing” now (was “healthy”)" in notes(ledger)[0]
    visit(ledger, 0.5, list_failed={"http-500": 1})
    asyncio.run(note_health(ledger, [A], utcnow()))
    assert len(notes(ledger)) == 1


def test_a_source_in_quarantine_rests_until_one_visit_answers(ledger: Ledger) -> None:
    for days in range(10):
        visit(ledger, 24 * days, list_failed={"timeout": 1})
    now = utcnow()
    asyncio.run(note_health(ledger, [A], now))
    asyncio.run(ledger.close([A], now))
    rest = ledger.store.source_state(A).rest_until
    assert rest is not None
    assert timedelta(hours=47) < rest - now <= timedelta(hours=48)
    ledger.forget(A)
    visit(ledger, -0.001, list_pages=1, entries=5)
    asyncio.run(note_health(ledger, [A], now))
    assert any("again" in note for note in notes(ledger))


def test_a_visit_that_has_only_begun_says_nothing(ledger: Ledger) -> None:
    for hours in range(5, 1, -1):
        visit(ledger, hours, list_failed={"http-500": 1})
    visit(ledger, 0)
    asyncio.run(note_health(ledger, [A], utcnow()))
    assert notes(ledger) == []


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
def test_where_a_list_page_has_gone_for_ever(answered: str, statuses: list[int], moved: bool) -> None:
    assert moved_to("http://a.example/rss", answered, statuses) == (answered if moved else None)


def test_what_scrapy_says_of_redirects_is_understood(ledger: Ledger) -> None:
    request = Request("https://new.example/rss", meta={"redirect_urls": ["http://a.example/rss"], "redirect_reasons": [301]})
    note_moved(ledger, A, Response(request.url, request=request))
    assert [part.moved for part in ledger.visit_counts.taken(utcnow())] == ["https://new.example/rss"]
    refreshed = Request(request.url, meta={"redirect_urls": ["http://a.example/rss"], "redirect_reasons": ["meta refresh"]})
    note_moved(ledger, A, Response(request.url, request=refreshed))
    assert ledger.visit_counts.taken(utcnow()) == []


async def visited(ledger: Ledger, *failed: tuple[str, str]) -> None:
    """One visit each of A and B, all list pages of which failed so, written down every few seconds and at their end."""

    async def over(source: str) -> None:
        """Nobody looks for an end here."""

    visiting = Visiting(ledger, lambda: None, over)
    for source in (A, B):
        await visiting.begin(source)
    for source, reason in failed:
        host = {A: "a", B: "b"}[source]
        ledger.list_failed(source, reason, f"https://{host}.example/rss: no address for {host}.example")
        await visiting.write()
    await visiting.write([A, B])
    await ledger.close([A, B], utcnow())
    await visiting.stop()


def failures(ledger: Ledger) -> list[tuple[int, int]]:
    """For A and B: visits in which something failed, and how many in a row the state of the source says."""
    told = ((ledger.store.visits.of(source), ledger.store.source_state(source)) for source in (A, B))
    return [(sum(bool(one.list_failed) for one in visits), state.failures_in_row) for visits, state in told]


def test_visits_while_the_network_is_away_are_no_failures(ledger: Ledger) -> None:
    asyncio.run(visited(ledger, (A, "dns"), (A, "dns"), (B, "robots-unreachable")))
    assert failures(ledger) == [(0, 0), (0, 0)]
    assert ledger.store.visits.of(A) == []
    assert ledger.store.source_state(A).last_run is None  # it stays due


def test_a_host_alone_that_is_not_reached_has_failed(ledger: Ledger) -> None:
    asyncio.run(visited(ledger, (A, "dns"), (B, "http-404")))
    assert failures(ledger) == [(1, 1), (1, 1)]


def test_spiders_of_a_process_know_together_that_the_network_is_away(ledger: Ledger, crawler_for: Any) -> None:
    ledger.list_failed(A, "dns", "https://a.example/rss: no address")
    other = ledger_of(crawler_for())
    other.list_failed(B, "dns", "https://b.example/rss: no address")
    assert ledger.offline
    assert other.offline
    other.count(B, "list_pages")
    assert not ledger.offline
