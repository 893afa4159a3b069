"""What every store guarantees about visits: all their values, newest first, for one source or thousands."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from newsportal.items.visits import Visit
from newsportal.store.store import Store

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)

FULL = Visit(
    "feed:甲",
    NOW,
    seconds=2.5,
    list_pages=2,
    entries=20,
    new=3,
    stored=2,
    folded=1,
    not_modified=True,
    failed={"http-404": 1},
    list_failed={"timeout": 2},
    published=(NOW - HOUR, NOW - 2 * HOUR),
    asked_wait=60.0,
    shaky=1,
    garbled=1,
    moved="https://new.example/feed",
    hub="https://hub.example/",
)


def test_every_value_of_a_visit_is_kept(store: Store) -> None:
    store.visits.add(FULL)
    store.visits.add(Visit("feed:乙", NOW, list_pages=1))
    assert store.visits.of("feed:甲") == [FULL]
    assert store.visits.of("feed:乙") == [Visit("feed:乙", NOW, list_pages=1)]


def test_visit_reported_twice_is_replaced(store: Store) -> None:
    store.visits.add(Visit("feed:甲", NOW, new=1))
    store.visits.add(Visit("feed:甲", NOW, new=2))
    assert store.visits.of("feed:甲") == [Visit("feed:甲", NOW, new=2)]


def test_visits_are_newest_first_with_limit_and_since(store: Store) -> None:
    for hour in range(5):
        store.visits.add(Visit("feed:甲", NOW + hour * HOUR, new=hour))
    assert [visit.new for visit in store.visits.of("feed:甲", limit=2)] == [4, 3]
    assert [visit.new for visit in store.visits.of("feed:甲", since=NOW + 3 * HOUR)] == [4, 3]


def test_recent_visits_of_many_sources(store: Store) -> None:
    for number in range(3):
        for hour in range(4):
            store.visits.add(Visit(f"feed:{number}", NOW + hour * HOUR, new=hour))
    found = store.visits.recent(each=2)
    assert {source: [visit.new for visit in visits] for source, visits in found.items()} == {f"feed:{n}": [3, 2] for n in range(3)}
    assert set(store.visits.recent(["feed:1", "feed:none"])) == {"feed:1"}


def test_productive_visits_of_a_silent_source_are_found(store: Store) -> None:
    for hour in range(6):
        store.visits.add(Visit("feed:甲", NOW + hour * HOUR, new=2 if hour < 2 else 0))
    store.visits.add(Visit("feed:甲", NOW + HOUR, new=0))  # reported again: nothing new after all
    assert [visit.at for visit in store.visits.of("feed:甲", limit=3, bringing=True)] == [NOW]
    assert [visit.at for visit in store.visits.recent(each=3, bringing=True)["feed:甲"]] == [NOW]


def test_old_visits_are_deleted(store: Store) -> None:
    for hour in range(4):
        store.visits.add(Visit("feed:甲", NOW + hour * HOUR, list_pages=1))
    assert store.visits.forget(NOW + 2 * HOUR) == 2
    assert len(store.visits.of("feed:甲")) == 2


def test_parts_of_a_visit_by_several_workers_are_merged(store: Store) -> None:
    store.visits.add(Visit("feed:甲", NOW - HOUR, new=7))
    store.visits.add(Visit("feed:甲", NOW))
    assert [visit.new for visit in store.visits.of("feed:甲")] == [7], "an unfinished visit does not count"
    assert [visit.new for visit in store.visits.recent()["feed:甲"]] == [7]
    later = NOW + HOUR
    store.visits.merge([Visit("feed:甲", later, list_pages=1, entries=3, new=2, stored=1, failed={"dns": 1}, published=(NOW,))])
    more = Visit("feed:甲", later, seconds=9.0, stored=1, failed={"dns": 1, "tls": 1}, published=(later,), asked_wait=5.0)
    store.visits.merge([more, Visit("feed:乙", NOW, entries=1)])
    assert store.visits.of("feed:甲") == [
        Visit(
            "feed:甲",
            NOW,
            seconds=9.0,
            list_pages=1,
            entries=3,
            new=2,
            stored=2,
            failed={"dns": 2, "tls": 1},
            published=(NOW + HOUR, NOW),
            asked_wait=5.0,
        ),
        Visit("feed:甲", NOW - HOUR, new=7),
    ]


def test_part_of_an_unknown_visit_is_stored(store: Store) -> None:
    store.visits.merge([FULL])
    assert store.visits.of("feed:甲") == [FULL]


def test_future_visits_are_deleted_when_the_next_one_begins(store: Store) -> None:
    store.visits.add(Visit("feed:甲", NOW + 400 * 24 * HOUR, new=9))
    store.visits.add(Visit("feed:甲", NOW + HOUR / 2, new=1))  # the clock of another machine
    store.visits.add(Visit("feed:乙", NOW + 2 * HOUR, new=4))
    store.visits.add(Visit("feed:甲", NOW - 9 * HOUR, new=2))
    assert len(store.visits.of("feed:甲")) == 3, "reporting an old visit deletes none"
    store.visits.add(Visit("feed:甲", NOW))
    assert [visit.new for visit in store.visits.of("feed:甲")] == [1, 2]
    assert len(store.visits.of("feed:乙")) == 1
