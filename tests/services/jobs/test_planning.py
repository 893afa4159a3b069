"""Planning of jobs: no overlaps, no stampede, no missed source, no conflict with other jobs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from newsportal.services.jobs.base import Job, JobRequest
from newsportal.services.jobs.duties import LONGEST_AGAIN, Attempt, Due, Limits, plan, update_attempts

NOW = datetime(2026, 3, 5, 8, 30, tzinfo=UTC)
CAPS = Limits(jobs=2, batch=3)


def due(key: str, spider: str = "rss", minutes: float = 0.0, last: datetime | None = None) -> Due:
    return Due(key, spider, NOW - timedelta(minutes=minutes), last)


def running(*sources: str, spider: str = "rss") -> Job:
    return Job("a", spider, "running", sources=sources or None)


def test_due_sources_are_grouped_by_spider_longest_due_first() -> None:
    requests = plan([due("a", minutes=1), due("h", "hub", 2), due("b", minutes=3)], [], {}, CAPS, NOW)
    assert requests == [JobRequest("rss", ("b", "a")), JobRequest("hub", ("h",))]


def test_backlog_is_limited_and_shared_among_spiders() -> None:
    many = [*(due(f"f{number:04}", minutes=9) for number in range(5000)), due("h", "hub", 1)]
    requests = plan(many, [], {}, CAPS, NOW)
    assert [(job.subject, len(job.sources)) for job in requests] == [("rss", 3), ("hub", 1)]
    assert plan(many, [running("x"), running("y")], {}, CAPS, NOW) == []


def test_source_being_visited_is_skipped() -> None:
    assert plan([due("a"), due("b")], [running("a")], {}, CAPS, NOW) == [JobRequest("rss", ("b",))]


def test_waiting_jobs_count_and_ended_jobs_do_not() -> None:
    waiting, ended = Job("a", "rss", "waiting", sources=("a",)), Job("b", "rss", "done", sources=("b",))
    assert plan([due("a"), due("b")], [waiting, ended], {}, CAPS, NOW) == [JobRequest("rss", ("b",))]


def test_job_without_sources_blocks_its_spider() -> None:
    assert plan([due("a"), due("h", "hub")], [running(spider="rss")], {}, CAPS, NOW) == [JobRequest("hub", ("h",))]


def test_source_of_failed_job_is_retried_with_longer_delays() -> None:
    attempts: dict[str, Attempt] = {}
    now, pauses = NOW, []
    for _ in range(9):
        (request,) = plan([due("a")], [], attempts, CAPS, now)
        attempts = update_attempts(request, [due("a")], attempts, now)
        start = now
        while not plan([due("a")], [], attempts, CAPS, now):
            now += timedelta(seconds=10)
        pauses.append((now - start).total_seconds())
    assert pauses[:4] == [60, 120, 240, 480]
    assert pauses[-1] == LONGEST_AGAIN


def test_attempts_are_reset_after_a_visit() -> None:
    attempts = update_attempts(JobRequest("rss", ("a",)), [due("a")], {}, NOW)
    visited = due("a", last=NOW)
    assert plan([visited], [], attempts, CAPS, NOW) == [JobRequest("rss", ("a",))]
    assert update_attempts(JobRequest("rss", ("a",)), [visited], attempts, NOW)["a"].times == 1


def test_clock_set_back_does_not_delay_sources() -> None:
    attempts = update_attempts(JobRequest("rss", ("a",)), [due("a")], {}, NOW + timedelta(hours=5))
    assert plan([due("a")], [], attempts, CAPS, NOW) == [JobRequest("rss", ("a",))]
