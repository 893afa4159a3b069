"""What is started when: no overlap, no stampede, nothing missed, nobody raced."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from newsportal.services.jobs.base import Job, Wanted
from newsportal.services.jobs.duties import LONGEST_AGAIN, Attempt, Caps, Due, attempted, plan

NOW = datetime(2026, 3, 5, 8, 30, tzinfo=UTC)
CAPS = Caps(jobs=2, batch=3)


def due(key: str, spider: str = "rss", minutes: float = 0.0, last: datetime | None = None) -> Due:
    return Due(key, spider, NOW - timedelta(minutes=minutes), last)


def running(*sources: str, spider: str = "rss") -> Job:
    return Job("a", spider, "running", sources=sources or None)


def test_what_is_due_goes_into_jobs_of_one_spider_each_the_longest_due_first() -> None:
    wanted = plan([due("a", minutes=1), due("h", "hub", 2), due("b", minutes=3)], [], {}, CAPS, NOW)
    assert wanted == [Wanted("rss", ("b", "a")), Wanted("hub", ("h",))]


def test_after_a_pause_only_as_much_starts_as_is_allowed_at_once_and_every_spider_has_its_turn() -> None:
    many = [*(due(f"f{number:04}", minutes=9) for number in range(5000)), due("h", "hub", 1)]
    wanted = plan(many, [], {}, CAPS, NOW)
    assert [(one.subject, len(one.sources)) for one in wanted] == [("rss", 3), ("hub", 1)]
    assert plan(many, [running("x"), running("y")], {}, CAPS, NOW) == []


def test_a_source_that_is_being_visited_is_not_given_to_another_job() -> None:
    assert plan([due("a"), due("b")], [running("a")], {}, CAPS, NOW) == [Wanted("rss", ("b",))]


def test_a_job_that_waits_for_its_turn_counts_too_and_one_that_ended_does_not() -> None:
    waiting, ended = Job("a", "rss", "waiting", sources=("a",)), Job("b", "rss", "done", sources=("b",))
    assert plan([due("a"), due("b")], [waiting, ended], {}, CAPS, NOW) == [Wanted("rss", ("b",))]


def test_somebody_elses_job_may_visit_any_source_of_its_spider() -> None:
    assert plan([due("a"), due("h", "hub")], [running(spider="rss")], {}, CAPS, NOW) == [Wanted("hub", ("h",))]


def test_a_source_whose_job_died_waits_longer_each_time() -> None:
    attempts: dict[str, Attempt] = {}
    now, waits = NOW, []
    for _ in range(9):
        (wanted,) = plan([due("a")], [], attempts, CAPS, now)
        attempts = attempted(wanted, [due("a")], attempts, now)
        began = now
        while not plan([due("a")], [], attempts, CAPS, now):
            now += timedelta(seconds=10)
        waits.append((now - began).total_seconds())
    assert waits[:4] == [60, 120, 240, 480]
    assert waits[-1] == LONGEST_AGAIN


def test_a_source_that_was_visited_is_forgotten_by_then() -> None:
    attempts = attempted(Wanted("rss", ("a",)), [due("a")], {}, NOW)
    visited = due("a", last=NOW)
    assert plan([visited], [], attempts, CAPS, NOW) == [Wanted("rss", ("a",))]
    assert attempted(Wanted("rss", ("a",)), [visited], attempts, NOW)["a"].times == 1


def test_a_clock_that_was_put_back_holds_nobody_back() -> None:
    attempts = attempted(Wanted("rss", ("a",)), [due("a")], {}, NOW + timedelta(hours=5))
    assert plan([due("a")], [], attempts, CAPS, NOW) == [Wanted("rss", ("a",))]
