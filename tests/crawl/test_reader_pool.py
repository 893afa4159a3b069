"""Reader processes: a page that exceeds a limit fails alone, and the caller learns which limit it was."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from time import sleep
from typing import Any

import pytest
from forked import run

from newsportal.crawl import reader_pool
from newsportal.crawl.article_reader import apply_rule
from newsportal.crawl.reader_pool import Interrupted, ReaderPool, usual_processes
from newsportal.errors import NotApplicable
from newsportal.extractors.article.rule import ArticleRule
from newsportal.extractors.pages import read_article, read_list
from newsportal.items import Article, Page
from newsportal.text import dom

SENTENCE = "今天早上六点，滨海新线的首班列车从东站出发，车厢里坐满了赶早的市民，他们说这是一个好消息。"
GOOD = f"<html><head><title>滨海新线今晨通车</title></head><body><h1>滨海新线今晨通车</h1>{f'<p>{SENTENCE}</p>' * 5}</body></html>"
LONG = f"<title>滨海新线</title>{'<p>a' * (dom.MAX_TAGS - 10)}"
ENDLESS = ArticleRule(title="//*[count(preceding::*[count(preceding::*[count(preceding::*)=-1])=-1])=-1]")
"""A rule whose XPath takes the fourth power of the page's size: days for some thousand elements."""

MEMORY = 300 * 1024 * 1024
Started = Callable[..., ReaderPool]


def page(html: str) -> Page:
    return Page("https://a.example/2026/0305/1.html", html.encode(), datetime(2026, 3, 5, tzinfo=UTC))


@pytest.fixture
def started() -> Iterator[Started]:
    pools = []

    def start(processes: int = 1, memory: int = MEMORY, seconds: float = 60.0) -> ReaderPool:
        pool = ReaderPool()
        pools.append(pool)
        pool.start(processes, memory, seconds)
        return pool

    yield start
    for pool in pools:
        pool.close()


def read(pool: ReaderPool, function: Callable[..., Any], *args: Any) -> Any:
    return asyncio.run(pool.run(pool.call, lambda: None, function, *args))


@pytest.mark.parametrize("processes", [0, 1, 2])
def test_result_is_the_same_in_any_process(started: Started, processes: int) -> None:
    pool = started(processes)
    assert read(pool, read_article, page(GOOD)) == read_article(page(GOOD))
    with pytest.raises(NotApplicable, match="no-body") as refusal:
        read(pool, read_article, page("<title>滨海新线今晨通车</title>"))
    assert refusal.value.reason == "no-body"
    assert read(pool, read_list, page("<a href=/2026/0305/2.html>滨海新线今晨通车，市民说这是好消息</a>")).links


def test_page_over_the_time_limit_fails_alone(started: Started) -> None:
    pool = started(seconds=0.3)
    with pytest.raises(NotApplicable) as refusal:
        read(pool, apply_rule, ENDLESS, page(LONG))
    assert refusal.value.reason == "reading-time"
    assert isinstance(read(pool, read_article, page(GOOD)), Article)


GREEDY = """
from tests.crawl.test_reader_pool import GOOD, LONG, NotApplicable, ReaderPool, page, read, read_article

pool = ReaderPool()
pool.start(1, 30_000_000, 60.0)
try:
    read(pool, read_article, page(LONG))
except NotApplicable as refusal:
    print(refusal.reason, type(read(pool, read_article, page(GOOD))).__name__)
pool.close()
"""


@pytest.mark.slow
def test_page_over_the_memory_limit_fails_alone() -> None:
    done = run(script=GREEDY)  # this process may have freed more memory in other tests than the page needs
    assert done.stdout == "reading-memory Article\n", done.stderr


def test_killed_reader_fails_its_page_only(started: Started) -> None:
    pool = started()

    async def killed() -> None:
        reading = asyncio.ensure_future(pool.run(pool.call, lambda: None, apply_rule, ENDLESS, page(LONG)))
        os.kill(await asyncio.to_thread(first_reader, pool), signal.SIGSEGV)
        await reading

    with pytest.raises(NotApplicable) as refusal:
        asyncio.run(killed())
    assert refusal.value.reason == "reading-crash"
    assert isinstance(read(pool, read_article, page(GOOD)), Article)


def test_ending_crawl_does_not_wait_for_pages(started: Started, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_pool, "GRACE", 0.0)
    pool = started(seconds=3600.0)
    ending: float | None = None

    async def ended() -> None:
        nonlocal ending
        reading = asyncio.ensure_future(pool.run(pool.call, lambda: ending, apply_rule, ENDLESS, page(LONG)))
        await asyncio.to_thread(first_reader, pool)
        ending = 0.0
        await reading

    with pytest.raises(Interrupted):
        asyncio.run(ended())
    with pytest.raises(Interrupted):
        pool.call(lambda: reader_pool.FINISH_SECONDS + 1, read_article, page(GOOD))


def test_ending_crawl_reads_fetched_pages(started: Started) -> None:
    pool = started()
    assert isinstance(asyncio.run(pool.run(pool.call, lambda: 0.5, read_article, page(GOOD))), Article)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks /proc who runs")
def test_suspended_reader_loses_no_page(started: Started, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = started()
    read(pool, read_article, page(GOOD))
    stopped = first_reader(pool)
    os.kill(stopped, signal.SIGSTOP)

    def goes_on() -> None:
        """Called while waiting: the time limit is over as long as the stopped reader exists."""
        monkeypatch.setattr(reader_pool, "MAX_SECONDS", 0.0 if runs(stopped) else 300.0)

    assert isinstance(asyncio.run(pool.run(pool.call, goes_on, read_article, page(GOOD))), Article)


def test_page_is_tried_by_at_most_two_readers(started: Started, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_pool, "MAX_SECONDS", 0.0)
    with pytest.raises(NotApplicable) as refusal:
        read(started(seconds=3600.0), apply_rule, ENDLESS, page(LONG))
    assert refusal.value.reason == "reading-time"


def test_pages_are_read_in_process_without_the_fork_server(started: Started) -> None:
    pool = started()
    os.kill(pool.server, signal.SIGKILL)
    assert isinstance(read(pool, read_article, page(GOOD)), Article)


def test_close_ends_all_processes(started: Started) -> None:
    pool = started(2)
    read(pool, read_article, page(GOOD))
    readers = [pool.server, *children(pool)]
    assert len(readers) == 2
    pool.close()
    while any(map(runs, readers)):  # a signal takes some time
        sleep(0.01)


def test_processes_per_core(monkeypatch: pytest.MonkeyPatch) -> None:
    for cores, processes in ((1, 1), (2, 2), (8, 4)):
        monkeypatch.setattr(os, "sched_getaffinity", lambda pid, cores=cores: set(range(cores)))
        assert usual_processes() == processes


def children(pool: ReaderPool) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{pool.server}/task/{pool.server}/children").read_text("ascii").split()]


def first_reader(pool: ReaderPool) -> int:
    while not (readers := children(pool)):
        sleep(0.01)
    return readers[0]


def runs(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False
