"""Every health state of a source, from synthetic histories just above and below its threshold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from newsportal.items.visits import Visit
from newsportal.messages.reasons import CAUSES, cause_of
from newsportal.schedule.health import BAD, STATES, Health, find_change, health, merge_visits, sparkline

NOW = datetime(2026, 3, 16, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


@dataclass(frozen=True)
class RestingState:
    rest_until: datetime | None = None
    last_error: str | None = None
    next_visit: datetime | None = None


def good(hours: float, **more: object) -> Visit:
    """Return a visit ``hours`` ago that found one new article."""
    defaults: dict[str, object] = {"list_pages": 1, "entries": 20, "new": 1, "stored": 1}
    return Visit("feed:x", NOW - hours * HOUR, **(defaults | more))  # type: ignore[arg-type]


def idle(hours: float) -> Visit:
    return good(hours, new=0, stored=0)


def unchanged(hours: float) -> Visit:
    return Visit("feed:x", NOW - hours * HOUR, list_pages=1, not_modified=True)


def bad(hours: float, reason: str = "http-500") -> Visit:
    return Visit("feed:x", NOW - hours * HOUR, list_failed={reason: 1})


def visits_every(step: float, times: int, make: Callable[[float], Visit] = good, first: float = 0.0) -> list[Visit]:
    return [make(first + number * step) for number in range(times)]


HISTORIES: dict[str, list[Visit]] = {
    "new": visits_every(1, 2),
    "healthy": visits_every(6, 30),
    "quiet": [*visits_every(6, 5, idle), *visits_every(6, 30, good, 30)],
    "silent": [*visits_every(6, 60, idle), *visits_every(6, 30, good, 360)],
    "empty": [*visits_every(6, 3, lambda hours: good(hours, entries=0, new=0, stored=0)), *visits_every(6, 20, good, 18)],
    "failing": [*visits_every(6, 2, bad), *visits_every(6, 20, good, 12)],
    "quarantined": [*visits_every(24, 9, bad), *visits_every(6, 20, good, 216)],
    "moved": [good(0, moved="https://new.example/feed"), *visits_every(6, 20, good, 6)],
    "shaky": [*visits_every(6, 12, lambda hours: good(hours, shaky=1)), *visits_every(6, 30, good, 72)],
    "garbled": [*visits_every(6, 12, lambda hours: good(hours, garbled=1)), *visits_every(6, 30, good, 72)],
    "duplicate": visits_every(6, 30, lambda hours: good(hours, stored=0, folded=1)),
}


@pytest.mark.parametrize("state", HISTORIES)
def test_state_is_reached_and_explained(state: str) -> None:
    found = health(HISTORIES[state], NOW)
    assert found.state == state
    assert found.bad is (state in BAD)
    assert str(found.reason()).endswith(".")
    assert "%(" not in str(found.reason())
    assert bool(found.remedy()) is found.bad


def test_every_state_and_cause_has_text() -> None:
    assert set(HISTORIES) | {"off", "resting"} == set(STATES)
    for cause in {*CAUSES.values(), "articles-robots"}:
        verdict = Health("quarantined", cause, NOW, {"visits": 9, "days": 8, "wait": 2, "reason": "x"})
        assert "9 visits" not in str(verdict.reason())
        assert "8 days" in str(verdict.reason())
        assert verdict.remedy()


def test_disabled_and_resting_states() -> None:
    assert health(HISTORIES["quarantined"], NOW, enabled=False).state == "off"
    resting = health(HISTORIES["healthy"], NOW, previous=RestingState(NOW + HOUR, "blocked: captcha"))
    assert (resting.state, resting.bad) == ("resting", False)
    assert "blocks the crawler" in str(resting.reason())
    assert resting.values["until"] == NOW + HOUR
    later = health(HISTORIES["healthy"], NOW, previous=RestingState(NOW + HOUR, "blocked: captcha", NOW + 2 * HOUR))
    assert later.values["until"] == NOW + 2 * HOUR
    assert health(HISTORIES["healthy"], NOW, previous=RestingState(NOW - HOUR)).state == "healthy"


def test_source_without_visits_is_new() -> None:
    assert health([], NOW).state == "new"
    assert find_change([]) is None


# failing


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        ("dns", "dns"),
        ("tls", "tls"),
        ("timeout", "timeout"),
        ("connection-refused", "connection"),
        ("http-404", "gone"),
        ("http-410", "gone"),
        ("http-418", "http-4xx"),
        ("http-403", "blocked"),
        ("http-429", "busy"),
        ("http-503", "busy"),
        ("http-502", "http-5xx"),
        ("robots", "robots"),
        ("robots-unreachable", "robots-unreachable"),
        ("challenge", "blocked"),
        ("blocked: captcha", "blocked"),
        ("login", "login"),
        ("egress-denied", "denied"),
        ("store-unavailable", "local"),
        ("error: KeyError", "broken"),
        ("not-a-feed", "unread"),
    ],
)
def test_failures_are_reported_by_cause(reason: str, cause: str) -> None:
    assert cause_of(reason) == cause
    found = health([*visits_every(6, 2, lambda hours: bad(hours, reason)), *visits_every(6, 20, good, 12)], NOW)
    assert (found.state, found.cause) == ("failing", cause)
    assert reason in str(found.reason())


def test_single_failure_counts_only_without_other_visits() -> None:
    assert health([bad(0), *visits_every(6, 20, good, 6)], NOW).state == "healthy"
    assert health([bad(0)], NOW).state == "failing"


def test_partial_failure_and_304_are_not_failures() -> None:
    part = [good(hours, list_failed={"http-500": 1}) for hours in range(0, 60, 6)]
    assert health(part, NOW).state == "healthy"
    assert health([*visits_every(1, 20, unchanged), *visits_every(6, 20, good, 20)], NOW).state == "healthy"


def test_source_whose_articles_cannot_be_fetched_fails() -> None:
    refused = [good(hours, new=3, stored=0, failed={"http-403": 3}) for hours in range(0, 60, 6)]
    found = health(refused, NOW)
    assert (found.state, found.cause) == ("failing", "blocked")
    assert "articles" in str(found.reason())
    forbidden = [good(hours, new=3, stored=0, failed={"robots": 3}) for hours in range(0, 60, 6)]
    assert health(forbidden, NOW).cause == "articles-robots"
    assert health([replace(visit, stored=1) for visit in refused], NOW).state == "healthy"


# quarantine


def test_quarantine_needs_many_failures_over_days() -> None:
    assert health(visits_every(24, 7, bad), NOW).state == "failing"  # long enough, but too few
    assert health(visits_every(1, 30, bad), NOW).state == "failing"  # many, but within a day
    assert health(visits_every(24, 9, bad), NOW).state == "quarantined"
    assert health(visits_every(24, 9, lambda hours: bad(hours, "store-unavailable")), NOW).state == "failing"


def test_quarantine_backs_off_and_ends_with_one_success() -> None:
    delays = [health(visits_every(24, days, bad), NOW).wait for days in (9, 16, 23, 60)]
    assert delays == [2 * DAY, 4 * DAY, 7 * DAY, 7 * DAY]
    shut = health(visits_every(24, 9, bad), NOW)
    assert shut.not_before() == NOW + 2 * DAY
    assert "2 days" in str(shut.reason())
    back = health([good(0), *visits_every(24, 9, bad, 24), *visits_every(6, 20, good, 300)], NOW)
    assert (back.state, back.not_before()) == ("healthy", None)
    assert health([unchanged(0), *visits_every(24, 9, bad, 24)], NOW).state != "quarantined"


# silence


def test_silence_depends_on_own_cadence() -> None:
    weekly = [*visits_every(24, 14, idle), *visits_every(7 * 24, 20, good, 14 * 24)]
    assert health(weekly, NOW).state != "silent"  # two weeks at a weekly cadence
    assert health([*visits_every(24, 60, idle), *visits_every(7 * 24, 20, good, 60 * 24)], NOW).state == "silent"


def test_nights_weekends_and_holidays_are_not_silence() -> None:
    """A source that publishes on weekdays from nine to five, in China."""
    zone = ZoneInfo("Asia/Shanghai")
    monday = datetime(2026, 3, 16, 8, 30, tzinfo=zone)
    working = []
    for hours in range(1, 24 * 28):
        moment = monday - timedelta(hours=hours)
        new = int(moment.weekday() < 5 and 9 <= moment.hour < 17)
        working.append(Visit("feed:x", moment, list_pages=1, entries=20, new=new, stored=new))
    assert health(working, monday).state == "healthy"
    assert health(working, monday + 12 * HOUR).state in ("healthy", "quiet")
    assert health(working, monday + DAY).state == "quiet"
    assert health(working, monday + 3 * DAY).state == "silent"


def test_few_gaps_are_not_silence() -> None:
    assert health([*visits_every(24, 40, idle), *visits_every(1, 4, good, 960)], NOW).state == "healthy"


def test_publication_dates_of_first_visit_give_cadence() -> None:
    """A feed without news for months is silent from the first days; wrong dates do not change that."""
    dates = tuple(NOW - 90 * DAY - number * DAY for number in range(30))
    first = good(240, new=30, stored=30, published=(*dates, NOW + 400 * DAY, datetime(1, 1, 2, tzinfo=UTC)))
    found = health([*visits_every(24, 10, idle), first], NOW)
    assert found.cadence is not None
    assert found.cadence.last == first.at
    assert health([*visits_every(24, 10, idle), replace(first, at=NOW - 300 * HOUR, published=dates)], NOW).state in ("quiet", "healthy")


def test_very_old_entry_does_not_prevent_silence() -> None:
    old = good(540, published=(NOW - 4000 * DAY,))
    assert health([*visits_every(6, 60, idle), *visits_every(6, 30, good, 360), old], NOW).state == "silent"


# quality of extraction


def test_always_low_confidence_is_not_shaky() -> None:
    assert health(visits_every(6, 60, lambda hours: good(hours, shaky=1)), NOW).state == "healthy"
    failing = [*visits_every(6, 12, lambda hours: good(hours, stored=0, failed={"no-body": 1})), *visits_every(6, 30, good, 72)]
    assert health(failing, NOW).state == "shaky"


def test_few_doubtful_articles_are_ignored() -> None:
    assert health([good(0, shaky=1, garbled=1), *visits_every(6, 30, good, 6)], NOW).state == "healthy"


def test_source_without_own_articles_is_duplicate() -> None:
    found = health(visits_every(6, 12, idle), NOW)
    assert (found.state, found.cause) == ("duplicate", "entries")
    assert found.reason()
    assert health(visits_every(6, 9, idle), NOW).state == "healthy"
    assert health(visits_every(6, 12, unchanged), NOW).state == "healthy"


# transitions


def test_each_change_is_reported_once() -> None:
    """A history with an outage: failing, quarantined, healthy again; each change is reported once, without flapping."""
    story = [*visits_every(6, 40, good), *visits_every(24, 12, bad, 240), *visits_every(6, 40, good, 528)]
    changes = [changed for number in range(len(story)) if (changed := find_change(story[number:]))]
    assert [(changed.before.state, changed.after.state) for changed in reversed(changes)] == [
        ("healthy", "failing"),
        ("failing", "quarantined"),
        ("quarantined", "healthy"),
    ]
    assert "failed" in str(changes[1].message)
    assert "again" in str(changes[0].message)


@pytest.mark.parametrize("state", HISTORIES)
def test_state_does_not_change_within_an_hour(state: str) -> None:
    visits = HISTORIES[state]
    states = {health(visits, NOW + minutes * timedelta(minutes=1)).state for minutes in range(0, 50, 10)}
    assert states == {state}
    assert health(list(visits), NOW) == health(tuple(visits), NOW)


def test_occasional_failure_does_not_flap() -> None:
    mixed = [bad(hours) if hours % 18 == 0 else good(hours) for hours in range(0, 600, 6)]
    assert {health(mixed[number:], mixed[number].at).state for number in range(60)} == {"healthy"}


# other functions


def test_recent_and_productive_visits_are_merged() -> None:
    recent, productive = visits_every(1, 5, idle), [good(10), good(20)]
    assert [visit.at for visit in merge_visits(recent, productive, recent)] == [visit.at for visit in (*recent, *productive)]


def test_sparkline_counts_days_in_time_zone() -> None:
    zone = ZoneInfo("Asia/Shanghai")
    now = datetime(2026, 3, 16, 1, tzinfo=zone)
    visits = [
        Visit("feed:x", now - timedelta(minutes=30), new=2),
        Visit("feed:x", now - 2 * HOUR, new=3),
        Visit("feed:x", now - 40 * DAY, new=9),
    ]
    assert sparkline(visits, now, days=3) == (0, 3, 2)


@pytest.mark.slow
def test_health_of_5000_sources() -> None:
    """No benchmark, but a computation that took minutes would be noticed."""
    many = [visits_every(0.5 + number % 24, 60, idle if number % 3 else good) for number in range(200)]
    assert {health(many[number % 200], NOW).state for number in range(5000)} == {"healthy", "duplicate"}
