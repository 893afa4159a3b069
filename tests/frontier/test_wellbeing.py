"""After a visit: changes are told once, a source in quarantine rests, an address that has gone for ever is remembered."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response

from newsportal.frontier.ledger import Ledger, utcnow
from newsportal.frontier.wellbeing import look, moved_to, tell_moved
from newsportal.visits import Visit

A = "feed:甲"
HOUR = timedelta(hours=1)


def notes(ledger: Ledger) -> list[str]:
    return [note for row in ledger.report() for note in row.notes]


def visit(ledger: Ledger, hours: float, **told: Any) -> None:
    ledger.store.visits.add(Visit(A, utcnow() - hours * HOUR, **told))


def test_a_change_is_told_once_by_the_visit_that_made_it(ledger: Ledger) -> None:
    for hours in range(10, 2, -1):
        visit(ledger, hours, list_pages=1, entries=5, new=1, stored=1)
    asyncio.run(look(ledger, [A], utcnow()))
    assert notes(ledger) == []
    visit(ledger, 2, list_failed={"http-500": 1})
    asyncio.run(look(ledger, [A], utcnow()))
    assert notes(ledger) == []
    visit(ledger, 1, list_failed={"http-500": 1})
    asyncio.run(look(ledger, [A], utcnow()))
    assert len(notes(ledger)) == 1
    assert "failing now (was healthy)" in notes(ledger)[0]
    visit(ledger, 0.5, list_failed={"http-500": 1})
    asyncio.run(look(ledger, [A], utcnow()))
    assert len(notes(ledger)) == 1


def test_a_source_in_quarantine_rests_until_one_visit_answers(ledger: Ledger) -> None:
    for days in range(10):
        visit(ledger, 24 * days, list_failed={"timeout": 1})
    now = utcnow()
    asyncio.run(look(ledger, [A], now))
    asyncio.run(ledger.close([A], now))
    rest = ledger.store.source_state(A).rest_until
    assert rest is not None
    assert timedelta(hours=47) < rest - now <= timedelta(hours=48)
    ledger.forget(A)
    visit(ledger, -0.001, list_pages=1, entries=5)
    asyncio.run(look(ledger, [A], now))
    assert any("again" in note for note in notes(ledger))


def test_a_visit_that_has_only_begun_says_nothing(ledger: Ledger) -> None:
    for hours in range(5, 1, -1):
        visit(ledger, hours, list_failed={"http-500": 1})
    visit(ledger, 0)
    asyncio.run(look(ledger, [A], utcnow()))
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
    tell_moved(ledger, A, Response(request.url, request=request))
    assert [part.moved for part in ledger.told.taken(utcnow())] == ["https://new.example/rss"]
    refreshed = Request(request.url, meta={"redirect_urls": ["http://a.example/rss"], "redirect_reasons": ["meta refresh"]})
    tell_moved(ledger, A, Response(request.url, request=refreshed))
    assert ledger.told.taken(utcnow()) == []
