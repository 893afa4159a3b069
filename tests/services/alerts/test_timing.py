"""Time of sending: digests, quiet hours and hourly limits, across midnight and the change to summer time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from newsportal.services.accounts.alerts import Alert
from newsportal.services.alerts.matching import due_at, is_quiet, schedule_messages

SHANGHAI, BERLIN = ZoneInfo("Asia/Shanghai"), ZoneInfo("Europe/Berlin")


def alert(**options: object) -> Alert:
    return Alert("a", "p", "旅游", "topic", "旅游", "webhook", {}, datetime(2026, 1, 1, tzinfo=UTC), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("found", "due", "options"),
    [
        ("2026-05-20T10:00", "2026-05-20T10:00", {}),
        ("2026-05-20T10:00", "2026-05-20T18:00", {"digest": (8, 18)}),
        ("2026-05-20T18:00", "2026-05-20T18:00", {"digest": (18, 8)}),
        ("2026-05-20T18:01", "2026-05-21T08:00", {"digest": (8, 18)}),
        ("2026-05-20T21:59", "2026-05-20T21:59", {"quiet": (22, 7)}),
        ("2026-05-20T22:00", "2026-05-21T07:00", {"quiet": (22, 7)}),
        ("2026-05-20T23:30", "2026-05-21T07:00", {"quiet": (22, 7)}),
        ("2026-05-20T03:30", "2026-05-20T07:00", {"quiet": (22, 7)}),
        ("2026-05-20T07:00", "2026-05-20T07:00", {"quiet": (22, 7)}),
        ("2026-05-20T12:30", "2026-05-20T14:00", {"quiet": (12, 14)}),
        ("2026-05-20T12:30", "2026-05-20T12:30", {"quiet": (12, 12)}),
        ("2026-05-20T20:00", "2026-05-21T07:00", {"quiet": (22, 7), "digest": (23,)}),
    ],
)
def test_due_at(found: str, due: str, options: dict[str, object]) -> None:
    moment = datetime.fromisoformat(found).replace(tzinfo=SHANGHAI).astimezone(UTC)
    assert due_at(moment, alert(**options), SHANGHAI) == datetime.fromisoformat(due).replace(tzinfo=SHANGHAI)


def test_change_of_summer_time() -> None:
    """In Berlin, 02:30 does not exist on 29 March 2026 and exists twice on 25 October."""
    quiet, digest = alert(quiet=(22, 3)), alert(digest=(2,))
    assert due_at(datetime(2026, 3, 29, 0, 30, tzinfo=UTC), quiet, BERLIN) == datetime(2026, 3, 29, 1, tzinfo=UTC)
    assert due_at(datetime(2026, 10, 25, 0, 30, tzinfo=UTC), quiet, BERLIN) == datetime(2026, 10, 25, 2, tzinfo=UTC)
    moment = datetime(2026, 10, 25, 1, 30, tzinfo=UTC)  # the second 02:30
    assert moment <= due_at(moment, digest, BERLIN) <= moment + timedelta(days=1)


@pytest.mark.parametrize(("hour", "quiet", "holds"), [(23, (22, 7), True), (7, (22, 7), False), (12, (12, 13), True), (0, (0, 0), False)])
def test_is_quiet(hour: int, quiet: tuple[int, int], holds: bool) -> None:
    assert is_quiet(hour, quiet) is holds


def test_stories_of_one_minute_are_one_message() -> None:
    start = datetime(2026, 5, 20, tzinfo=UTC)
    found = [start + timedelta(seconds=seconds) for seconds in (0, 1, 2, 9, 50, 60, 300)]
    sent = schedule_messages(found, alert(), SHANGHAI, 10)
    assert sent == [(found[4], [0, 1, 2, 3, 4]), (found[5], [5]), (found[6], [6])]


def test_gathered_messages_contain_every_story() -> None:
    start = datetime(2026, 5, 20, tzinfo=UTC)
    found = [start + timedelta(minutes=7 * place) for place in range(100)]
    for options in ({}, {"per_hour": 1}, {"quiet": (8, 20)}, {"digest": (9, 21), "per_hour": 2}):
        messages = schedule_messages(found, alert(**options), SHANGHAI, 3)
        assert sorted(place for _, places in messages for place in places) == list(range(100))
        assert [at for at, _ in messages] == sorted(at for at, _ in messages)
        for at, _ in messages:
            within = [time for time, _ in messages if at - timedelta(hours=1) < time <= at]
            assert len(within) <= alert(**options).per_hour
            assert options.get("quiet") is None or not is_quiet(at.astimezone(SHANGHAI).hour, (8, 20))
