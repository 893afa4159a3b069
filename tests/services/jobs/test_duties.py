"""Jobs that ``newsportal up`` starts: when a crawl, a training and the nightly jobs are due."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from newsportal.items import Article, Link
from newsportal.items.report import Run
from newsportal.services.events.following import EventFollower
from newsportal.services.jobs import duties
from newsportal.services.jobs.base import Job, JobRequest
from newsportal.services.jobs.duties import Nightly, RepeatedCrawl, Retraining, last_due
from newsportal.services.jobs.supervisor import SourcesReloader
from newsportal.sources import load
from newsportal.store import open_store
from newsportal.store.readers import Fit

SHANGHAI = ZoneInfo("Asia/Shanghai")
NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)  # 20:00 in Shanghai
HOUR = timedelta(hours=1)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def file(tmp_path: Path) -> SourcesReloader:
    """Sources with a store that has a reader's view."""
    path = tmp_path / "sources.yaml"
    path.write_text("feeds: []\n", "utf-8")
    sources = load(path)
    store = open_store(sources.store)
    link = Link("https://news.example/a", "feed:甲")
    added = store.add(Article(link.url, link, NOW, identity="news.example/a", title="题", text="文"), now=NOW)
    store.readers.record_view("林", added.id, [1], pictures=1, now=NOW)
    store.close()
    return SourcesReloader(path, sources, print)


def tonight(
    file: SourcesReloader, moment: datetime, jobs: Sequence[Job] = (), *, learn: bool = True, pruned: bool = True
) -> list[JobRequest]:
    """Return the jobs that are started next; ``pruned``: after that night's pruning."""
    jobs = [*jobs, *([Job("p", kind="prune", state="done", started=moment)] if pruned else [])]
    clock = Clock()
    duty = Nightly(file, 4, SHANGHAI, learn=learn, clock=clock)
    assert not list(duty.requests(jobs, moment)), "not during start-up"
    clock.now = duties.NIGHTLY_FIRST
    return list(duty.requests(jobs, moment))


def test_nightly_hour_is_in_the_portals_time_zone() -> None:
    four = datetime(2026, 3, 5, 4, tzinfo=SHANGHAI)
    assert last_due(NOW, 4, SHANGHAI) == four
    assert last_due(four.astimezone(UTC), 4, SHANGHAI) == four
    assert last_due(four - timedelta(seconds=1), 4, SHANGHAI) == four - timedelta(days=1)


@pytest.mark.parametrize(
    ("now", "due"),
    [
        ("2026-10-25T00:10", "2026-10-25T00:00"),  # 02:10 of summer time
        ("2026-10-25T01:10", "2026-10-25T00:00"),  # 02:10 again
        ("2026-10-25T23:00", "2026-10-25T00:00"),
        ("2026-03-29T00:59", "2026-03-28T01:00"),  # 01:59, a second before 03:00
        ("2026-03-29T01:00", "2026-03-29T01:00"),
    ],
)
def test_repeated_hour_of_summer_time_is_due_once(now: str, due: str) -> None:
    found = last_due(datetime.fromisoformat(f"{now}+00:00"), 2, ZoneInfo("Europe/Berlin"))
    assert found.astimezone(UTC) == datetime.fromisoformat(f"{due}+00:00")


def test_fit_is_due_once_a_night_and_after_a_missed_night(file: SourcesReloader, tmp_path: Path) -> None:
    (request,) = tonight(file, NOW)
    assert (request.kind, request.words) == ("fit", ("recommend", "fit", "--json"))
    store = open_store(file.sources.store)
    store.readers.save_fit(Fit(NOW, {}, b""))
    store.close()
    assert not tonight(file, NOW + HOUR)
    assert not tonight(file, NOW + 7 * HOUR)
    assert tonight(file, NOW + 8 * HOUR)
    assert tonight(file, NOW + 100 * HOUR)
    path = tmp_path / "empty" / "sources.yaml"
    path.parent.mkdir()
    path.write_text("feeds: []\n", "utf-8")
    empty = SourcesReloader(path, load(path), print)
    assert not tonight(empty, NOW), "no store"
    open_store(empty.sources.store).close()
    assert not tonight(empty, NOW), "no views"


def test_failed_fit_waits_for_the_next_night(file: SourcesReloader) -> None:
    failed = Job("a", kind="fit", state="failed", started=NOW)
    assert not tonight(file, NOW + HOUR, [failed])
    assert not tonight(file, NOW + 9 * HOUR, [Job("a", kind="fit", started=NOW)]), "it is still running"
    assert tonight(file, NOW + 9 * HOUR, [failed])
    assert tonight(file, NOW - HOUR, [failed]), "a clock set back does not block the fit"


def test_prune_is_due_each_night_before_the_fit(file: SourcesReloader, tmp_path: Path) -> None:
    (request,) = tonight(file, NOW, [], pruned=False)
    assert (request.kind, request.words) == ("prune", ("prune", "--json"))
    assert not tonight(file, NOW, [Job("p", kind="prune", started=NOW - HOUR)], pruned=False), "it is still running"
    ended = Job("p", kind="prune", state="failed", started=NOW - HOUR)
    assert not tonight(file, NOW, [ended], pruned=False, learn=False), "a failed one counts for this night, too"
    assert [job.kind for job in tonight(file, NOW, [ended], pruned=False)] == ["fit"]
    assert [job.kind for job in tonight(file, NOW + 8 * HOUR, [ended], pruned=False)] == ["prune"]
    path = tmp_path / "unread" / "sources.yaml"
    path.parent.mkdir()
    path.write_text("feeds: []\n", "utf-8")
    unread = SourcesReloader(path, load(path), print)
    assert not tonight(unread, NOW, [], pruned=False), "no store"
    open_store(unread.sources.store).close()
    assert tonight(unread, NOW, [], pruned=False), "also without readers"


def test_revision_of_events_is_due_between_prune_and_fit(file: SourcesReloader) -> None:
    store = open_store(file.sources.store)
    EventFollower().follow(store)
    (request,) = tonight(file, NOW)
    assert (request.kind, request.words) == ("revise", ("event", "revise", "--json"))
    assert not tonight(file, NOW, [Job("r", kind="revise", started=NOW)]), "it is still running"
    assert [job.kind for job in tonight(file, NOW, [Job("r", kind="revise", state="failed", started=NOW)])] == ["fit"]
    store.events.save_position("revised", store.events.position("changed"))
    store.close()
    assert [job.kind for job in tonight(file, NOW)] == ["fit"]


def test_night_without_changed_events_is_finished(file: SourcesReloader) -> None:
    store, clock = open_store(file.sources.store), Clock()
    duty = Nightly(file, 4, SHANGHAI, learn=False, clock=clock)

    def look(moment: datetime) -> list[JobRequest]:
        clock.now += duties.NIGHTLY_INTERVAL
        return list(duty.requests([Job("p", kind="prune", state="done", started=moment)], moment))

    assert not look(NOW)
    EventFollower().follow(store)
    store.close()
    assert not look(NOW + HOUR), "changes during the day wait for the next night"
    assert [job.kind for job in look(NOW + 8 * HOUR)] == ["revise"]


def crawl_job(minutes: float, stored: int) -> Job:
    return Job(f"c{minutes}", state="done", started=NOW, ended=NOW + timedelta(minutes=minutes), outcome=({"stored": stored},))


def test_training_is_due_after_enough_new_articles_and_a_pause() -> None:
    duty = Retraining(50)
    assert not list(duty.requests([crawl_job(1, 30)], NOW + HOUR))
    jobs = [crawl_job(1, 30), crawl_job(2, 20)]
    (request,) = duty.requests(jobs, NOW + HOUR)
    assert (request.kind, request.words, request.limit) == ("retrain", ("retrain", "--json"), duties.RETRAIN_LIMIT)
    training = Job("t", kind="retrain", state="running", started=NOW + timedelta(minutes=3))
    assert not list(duty.requests([*jobs, training, crawl_job(4, 500)], NOW + 9 * HOUR)), "one is running"
    ended = Job("t", kind="retrain", state="failed", started=NOW + timedelta(minutes=3))
    assert not list(duty.requests([*jobs, ended, crawl_job(4, 500)], NOW + timedelta(minutes=62))), "the pause is not over"
    assert not list(duty.requests([*jobs, ended], NOW + 9 * HOUR)), "earlier articles do not count again"
    assert list(duty.requests([*jobs, ended, crawl_job(4, 500)], NOW + timedelta(minutes=63)))
    assert list(duty.requests([*jobs, ended], NOW)), "a clock set back does not block training"


def test_zero_turns_training_off() -> None:
    assert not list(Retraining(0).requests([crawl_job(1, 10_000)], NOW + HOUR))


def test_crawls_repeat_one_at_a_time_or_on_request() -> None:
    clock, events = Clock(), list[str]()
    duty = RepeatedCrawl(600, lambda: False, lambda run: False, lambda event, facts: events.append(event), clock=clock)
    ended = Job("a", state="done")

    def words() -> list[tuple[str, ...]]:
        return [request.words[:2] for request in duty.requests([], NOW)]

    assert words() == [("crawl", "--due")]
    clock.now = 6 * 3600.0  # a crawl that took long, or a machine in standby
    duty.trigger()
    assert words() == [], "one is running"
    duty.on_end(ended, None)
    assert words() == [("crawl", "--due")], "requested meanwhile"
    duty.on_end(ended, None)
    assert words() == []
    clock.now += 599
    assert words() == []
    duty.trigger()
    assert words() == [("crawl", "--due")]
    duty.on_end(ended, None)
    clock.now += 600
    assert words() == [("crawl", "--due")]
    assert words() == []
    assert events == []


def test_offline_crawl_waits_for_network_and_then_visits_everything() -> None:
    clock, events, offline = Clock(), list[str](), [True]
    duty = RepeatedCrawl(600, lambda: offline[0], lambda run: True, lambda event, facts: events.append(event), clock=clock)
    list(duty.requests([], NOW))
    duty.on_end(Job("a", state="done"), Run("r", NOW))
    assert events == ["offline"]
    duty.trigger()
    for _ in range(5):
        clock.now += duties.OFFLINE
        assert not list(duty.requests([], NOW))
    offline[0] = False
    clock.now += duties.OFFLINE
    assert [request.words[:2] for request in duty.requests([], NOW)] == [("crawl", "--once")]
    duty.on_end(Job("b", state="done"), Run("r", NOW))
    assert events == ["offline"], "its hosts failed, but the network is available"
