"""Ranks of hot lists: current standings, since when, their curves, and retention."""

from __future__ import annotations

from datetime import timedelta

from factories import NOW

from newsportal.store.boards import Place
from newsportal.store.store import Store

HOUR = timedelta(hours=1)


def place(number: int, rank: int) -> Place:
    return Place(f"{number:020}", f"第{number}条", f"https://a.example/{number}", rank, float(rank))


def test_standings_are_those_of_the_last_visit(store: Store) -> None:
    boards = store.boards
    assert boards.standings("list:热") is None
    boards.add("list:热", NOW, [place(1, 1), place(2, 2)])
    boards.add("list:热", NOW + HOUR, [place(2, 1), place(3, 2)])
    boards.add("list:热", NOW + 2 * HOUR, [place(3, 1), place(2, 5)])
    boards.add("list:别", NOW + 3 * HOUR, [place(2, 9)])
    found = boards.standings("list:热")
    assert found is not None
    assert found.at == NOW + 2 * HOUR
    third, second = found.entries
    assert (third.place, third.since, third.best) == (place(3, 1), NOW + HOUR, 1)
    assert (second.since, second.best) == (NOW, 1)
    assert second.curve == ((NOW, 2), (NOW + HOUR, 1), (NOW + 2 * HOUR, 5))


def test_repeated_visit_and_duplicate_entry(store: Store) -> None:
    for _ in range(2):
        store.boards.add("list:热", NOW, [place(1, 1), place(1, 4)])
    found = store.boards.standings("list:热")
    assert found is not None
    assert [entry.place.rank for entry in found.entries] == [1]


def test_old_ranks_are_pruned(store: Store) -> None:
    store.boards.add("list:热", NOW, [place(1, 1)])
    store.boards.add("list:热", NOW + HOUR, [place(1, 2)])
    assert store.boards.prune(NOW + HOUR, dry_run=True) == 1
    assert store.boards.prune(NOW + HOUR) == 1
    found = store.boards.standings("list:热")
    assert found is not None
    assert found.entries[0].since == NOW + HOUR
