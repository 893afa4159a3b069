"""``newsportal frontier``: state of the queue, on disk and in Redis, and handling of requests set aside."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from scrapy.settings import Settings
from typer.testing import CliRunner

from newsportal import cli
from newsportal.cli.doctor import findings
from newsportal.cli.serve import poller, settler
from newsportal.crawl.addon import scrapy_settings
from newsportal.crawl.queues import open_queue
from newsportal.crawl.queues.base import Queue, Task
from newsportal.errors import NewsportalError
from newsportal.sources import load
from newsportal.store import open_store

FILE = "feeds: [{name: 甲, url: 'https://a.example/rss'}]\n"
ON_DISK = "frontier: {tries: 2}\n"


class Portal:
    """A ``sources.yaml``, its queues, and the command line for it."""

    def __init__(self, path: Path, more: str = ON_DISK) -> None:
        self.path = path
        path.write_text(f"{FILE}{more}", "utf-8")
        self.opened: list[Queue] = []

    def queue(self, name: str = "rss") -> Queue:
        sources = load(self.path)
        queue = open_queue(sources, Settings(scrapy_settings(sources)), name)
        self.opened.append(queue)
        return queue

    def says(self, *words: str, **more: Any) -> Result:
        return CliRunner().invoke(cli.app, ["frontier", *words, "--sources", str(self.path)], **more)

    def lines(self, *words: str) -> list[dict[str, Any]]:
        result = self.says(*words, "--json")
        assert result.exit_code == 0, result.output
        return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def portal(tmp_path: Path) -> Iterator[Portal]:
    portal = Portal(tmp_path / "sources.yaml")
    yield portal
    for queue in portal.opened:
        queue.close()


@pytest.fixture
def shared(tmp_path: Path, redis_server: Any) -> Iterator[Portal]:
    portal = Portal(tmp_path / "sources.yaml", f"frontier: {{redis: '{redis_server.url}'}}\n")
    yield portal
    for queue in portal.opened:
        queue.close()


def task(name: str, host: str = "a.example") -> Task:
    return Task(name, host, json.dumps({"url": f"https://{host}/{name}"}), source="feed:甲")


def set_aside(portal: Portal, *names: str) -> None:
    """Let two workers of ended processes lease each of these tasks; ``tries`` is 2. Bodies are requests."""
    from newsportal.crawl.queues.base import Identity, Terms, machine
    from newsportal.crawl.queues.table import TableQueue
    from newsportal.store.link_tables import Moments
    from newsportal.store.links import Links

    sources, now = load(portal.path), [1000.0]
    links = Links(open_store(sources.store).links._engine, lambda _: Moments(now[0], time.time()))
    for name in names:
        for n in range(2):
            dead = Identity(f"x:{n}:1", machine(), 2**22 + 1, None)
            victim = TableQueue(links, "rss", terms=Terms(sources.frontier.lease, sources.frontier.tries), worker=dead)
            portal.opened.append(victim)
            victim.push([replace(task(name), priority=9)])
            assert [lease.task.id for lease in victim.take(1, delay=0, ahead=1).leases] == [name]
            now[0] += 10
            other = TableQueue(links, "rss", terms=Terms(sources.frontier.lease, sources.frontier.tries))
            portal.opened.append(other)
            other.heartbeat()
            other.leave()


def test_empty_frontier(portal: Portal, tmp_path: Path) -> None:
    result = portal.says()
    assert result.exit_code == 0
    assert "no requests and no workers" in result.output
    assert "newsportal.db" in result.output
    assert portal.lines("status") == portal.lines("aside") == []
    assert portal.lines("clear", "--yes") == [{"cleared": 0}]
    assert portal.lines("again") == [{"again": 0}]
    assert [path.name for path in tmp_path.iterdir()] == ["sources.yaml"], "reading creates nothing"


def test_status(portal: Portal) -> None:
    rss, hub = portal.queue("rss"), portal.queue("hub")
    rss.push([task("1"), task("2"), task("3", "b.example")])
    hub.push([task("1")])
    rss.take(1, delay=1, ahead=1)
    rss.heartbeat({"visit": "feed:甲[b]"})
    first, second = portal.lines()
    assert (first["queue"], first["waiting"], first["leased"]) == ("hub", 1, 0)
    assert (second["queue"], second["waiting"], second["leased"], second["later"], second["aside"]) == ("rss", 2, 1, 0, 0)
    (worker,) = second["workers"]
    assert worker["leased"] == 1
    assert worker["hosts"] == ["a.example"]
    assert worker["activity"] == {"visit": "feed:甲[b]"}
    assert worker["heartbeat"] >= worker["since"] > "2020"
    assert {host["host"]: host["waiting"] for host in second["hosts"]} == {"a.example": 1, "b.example": 1}
    text = portal.says("status", "--spider", "rss").output
    for words in (worker["name"], "visit: feed:甲[b]", "b.example", "s ago", "waiting"):
        assert words in text
    assert "hub" not in text
    assert len(portal.lines("status", "--hosts", "1", "--spider", "rss")[0]["hosts"]) == 1


def test_unknown_queue_is_reported(portal: Portal) -> None:
    portal.queue("rss").push([task("1")])
    result = portal.says("status", "--spider", "hub")
    assert isinstance(result.exception, NewsportalError)
    assert "no queue for the spider 'hub'; there is: rss" in str(result.exception)


def test_set_aside_requests_are_listed_retried_and_dropped(portal: Portal) -> None:
    set_aside(portal, "one", "two", "three")
    rows = {row["id"]: row for row in portal.lines("aside")}
    assert set(rows) == {"one", "two", "three"}
    assert rows["one"]["url"] == "https://a.example/one"
    assert rows["one"]["tries"] == 2
    assert rows["one"]["source"] == "feed:甲"
    assert "2 workers died" in rows["one"]["reason"]
    text = portal.says("aside").output
    assert "https://a.example/two" in text
    assert "newsportal frontier again" in text
    assert len(portal.lines("aside", "-n", "1")) == 1
    assert "newsportal frontier aside" in portal.says().output
    assert portal.lines("again", "https://a.example/one") == [{"again": 1}]
    assert portal.lines("drop", "tw") == [{"dropped": 1}]
    missing = portal.says("drop", "nothing", "thr")
    assert "not set aside: nothing" in str(missing.exception)
    assert [row["id"] for row in portal.lines("aside")] == ["three"]
    assert "1 request will be requested again" in portal.says("again").output
    assert portal.says("aside").output.strip() == "nothing is set aside"
    assert portal.lines()[0]["waiting"] == 2


def test_portal_shows_and_retries_set_aside_requests(portal: Portal) -> None:
    set_aside(portal, "one", "two?token=geheim")
    sources = load(portal.path)
    rows = poller(sources)().aside
    assert {row.address for row in rows} == {"https://a.example/one", "https://a.example/two?token=***"}
    settle = settler(sources)
    assert settle("again") == 2
    assert settle("drop") == 0
    assert portal.lines()[0]["waiting"] == 2


def test_clear_asks_for_confirmation(portal: Portal) -> None:
    queue = portal.queue()
    queue.push([task("1"), task("2"), task("3")])
    queue.take(1, delay=0, ahead=1)
    no = portal.says("clear", input="n\n")
    assert no.exit_code == 1
    assert "Forget 2 requests" in no.output
    assert portal.lines()[0]["waiting"] == 2
    assert "2 requests forgotten" in portal.says("clear", input="y\n").output
    assert (portal.lines()[0]["waiting"], portal.lines()[0]["leased"]) == (0, 1)


@pytest.mark.slow
def test_doctor_reports_the_queue(portal: Portal) -> None:
    def finding() -> Any:
        return next(check for check in findings(portal.path, network=False) if check.check == "queue of requests")

    assert finding().ok is None
    portal.queue().push([task("1")])
    assert finding().ok is True
    assert "1 request waits" in finding().message
    set_aside(portal, "poison")
    assert finding().ok is False
    assert "1 set aside" in finding().message
    assert "newsportal frontier aside" in finding().remedy


@pytest.mark.slow
def test_frontier_in_redis(shared: Portal, redis_server: Any) -> None:
    assert shared.lines() == []
    queue = shared.queue("rss")
    queue.push([task("1"), task("2")])
    queue.take(1, delay=0, ahead=1)
    (state,) = shared.lines("status")
    assert (state["queue"], state["waiting"], state["leased"], len(state["workers"])) == ("rss", 1, 1, 1)
    assert f"127.0.0.1:{redis_server.port}" in shared.says().output
    assert shared.lines("clear", "--yes") == [{"cleared": 1}]
    redis_server.kill()
    result = shared.says()
    assert isinstance(result.exception, NewsportalError)
    assert "is unavailable" in str(result.exception)


def test_location_of_the_queue(portal: Portal) -> None:
    from newsportal.crawl.queues import is_shared, place
    from newsportal.crawl.queues.table import TableQueue

    cases = {
        "{}": (False, None),
        "url_filter: {redis: 'redis://f.example/1'}": (False, None),
        "frontier: {redis: 'redis://q.example/2'}": (True, "redis://q.example/2"),
        "frontier: {redis: 'redis://:geheim@q.example/2'}\nurl_filter: {redis: 'redis://f.example/1'}": (True, "q.example/2"),
    }
    for text, (in_redis, address) in cases.items():
        portal.path.write_text(text, "utf-8")
        sources = load(portal.path)
        settings = Settings(scrapy_settings(sources))
        assert is_shared(sources, settings) is in_redis
        assert (address or "sqlite:") in place(sources, settings)
        assert "geheim" not in place(sources, settings)
        queue = open_queue(sources, settings, "rss")
        assert isinstance(queue, TableQueue) is not in_redis
        queue.close()
    sources = load(portal.path)
    assert is_shared(sources, Settings({"REDIS_HOST": "r.example"}))
