from __future__ import annotations

from datetime import datetime, timedelta, timezone
from itertools import pairwise

import pytest

from newsportal.schedule import Visits, due, next_visit, period

ZONE = timezone(timedelta(hours=8))
NOON = datetime(2026, 3, 5, 12, 0, tzinfo=ZONE)


def test_a_source_never_visited_is_due() -> None:
    assert due(Visits(), 60, (), NOON)


@pytest.mark.parametrize(("minutes", "expected"), [(59, False), (60, True), (600, True)])
def test_the_interval_decides(minutes: int, expected: bool) -> None:
    assert due(Visits(last=NOON - timedelta(minutes=minutes)), 60, (), NOON) is expected


def test_failures_double_the_wait_up_to_a_day() -> None:
    assert next_visit(Visits(last=NOON, failures=2), 60, (), NOON) == NOON + timedelta(hours=4)
    assert next_visit(Visits(last=NOON, failures=40), 60, (), NOON) == NOON + timedelta(days=1)
    assert next_visit(Visits(last=NOON, failures=40), 7 * 1440, (), NOON) == NOON + timedelta(days=7)


def test_a_resting_source_is_left_alone() -> None:
    rest = NOON + timedelta(hours=5)
    assert next_visit(Visits(rest_until=rest), 60, (), NOON) == rest


def test_outside_its_hours_a_source_waits_for_the_next_one() -> None:
    assert next_visit(Visits(), 60, {6, 7}, NOON) == datetime(2026, 3, 6, 6, 0, tzinfo=ZONE)
    assert next_visit(Visits(), 60, {12}, NOON + timedelta(minutes=30)) == NOON + timedelta(minutes=30)


def test_the_heavier_an_index_page_the_sooner_it_is_visited_again() -> None:
    periods = [period(weight, 10, 240) for weight in range(1, 11)]
    assert (periods[0], round(periods[-1], 9)) == (240, 10)
    assert all(1.42 < one / other < 1.43 for one, other in pairwise(periods)), "each step shortens it alike"
    assert (period(0, 10, 240), period(99, 10, 240)) == (240, periods[-1])
    assert period(3, 30, 30) == 30
