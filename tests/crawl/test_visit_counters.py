"""Counts of visits in a worker until they are saved."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from newsportal.crawl.visit_counters import VisitCounters
from newsportal.items.visits import Visit

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)


def test_counts_are_taken_once() -> None:
    counts = VisitCounters()
    counts.count("feed:甲", "list_pages")
    counts.count("feed:甲", "entries", number=5)
    counts.count("feed:甲", "new", number=2)
    counts.count("feed:甲", "failed", "http-404")
    counts.count("feed:甲", "repeated")  # not a column of a visit
    counts.count("feed:乙", "list_failed", "dns")
    counts.record_published("feed:甲", [None, NOW, NOW - timedelta(hours=1)])
    counts.record_wait("feed:甲", 60.0)
    counts.record_wait("feed:甲", 30.0)
    counts.record("feed:甲", "hub", "https://hub.example/")
    counts.record("feed:甲", "moved", "https://new.example/feed")
    parts = sorted(counts.take_visits(NOW), key=lambda part: part.source)
    assert parts == [
        Visit("feed:乙", NOW, list_failed={"dns": 1}),
        Visit(
            "feed:甲",
            NOW,
            list_pages=1,
            entries=5,
            new=2,
            failed={"http-404": 1},
            published=(NOW, NOW - timedelta(hours=1)),
            asked_wait=60.0,
            moved="https://new.example/feed",
            hub="https://hub.example/",
        ),
    ]
    assert counts.take_visits(NOW) == []


def test_visit_is_not_modified_if_all_its_list_pages_are() -> None:
    counts = VisitCounters()
    for column in ("list_pages", "not_modified", "list_pages"):
        counts.count("region:甲", column)
    assert [part.not_modified for part in counts.take_visits(NOW)] == [False]
    counts.count("region:甲", "list_pages")
    counts.count("region:甲", "not_modified")
    assert [part.not_modified for part in counts.take_visits(NOW)] == [True]


def test_entry_of_a_known_article_is_not_new() -> None:
    counts = VisitCounters()
    counts.count("engine:甲", "new", number=-1)
    assert [part.new for part in counts.take_visits(NOW)] == [0]


def test_unreached_host_is_counted_at_the_end_of_the_visit() -> None:
    counts = VisitCounters()
    for source, reason in (("feed:甲", "dns"), ("feed:乙", "dns"), ("feed:丙", "http-404")):
        counts.count(source, "list_failed", reason)
    assert [part.source for part in counts.take_visits(NOW, going={"feed:甲", "feed:丙"})] == ["feed:乙", "feed:丙"]
    assert counts.uncounted == {"feed:甲"}
    counts.count("feed:甲", "list_failed", "dns")
    assert counts.take_visits(NOW) == [Visit("feed:甲", NOW, list_failed={"dns": 2})]


def test_unreached_host_without_network_is_not_counted() -> None:
    counts = VisitCounters()
    counts.count("feed:甲", "list_failed", "dns")
    counts.count("feed:乙", "list_failed", "dns")
    counts.count("feed:乙", "list_pages")
    assert [part.source for part in counts.take_visits(NOW, away=True)] == ["feed:乙"]
    assert counts.take_visits(NOW) == []
