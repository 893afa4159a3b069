"""Processes of one queue on disk are killed repeatedly: every task is done, and no task is leased twice at a time."""

from __future__ import annotations

import random
import signal
from collections import Counter
from pathlib import Path
from time import monotonic, sleep

import pytest
from forked import Started
from queue_benches import tasks

from newsportal.crawl.queues import open_table
from newsportal.crawl.queues.base import Terms

WORKERS, KILLS, HOSTS, EACH = 3, 12, 6, 150
TERMS = Terms(lease=60.0, tries=50)
"""Enough tries that no innocent request is set aside, so every task must be done."""

LIFE = 0.03, 0.2
"""Range of processor seconds after which the kernel kills a worker; independent of other load."""

WORKER = """
import os, signal, sys
from pathlib import Path
from time import sleep
from newsportal.crawl.queues.base import Terms
from newsportal.crawl.queues import open_table

signal.setitimer(signal.ITIMER_PROF, float(sys.argv[3]))
queue = open_table(Path(sys.argv[1]), "rss", terms=Terms(lease=60.0, tries=50))
log = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

def say(what, task):
    os.write(log, f"{what} {os.getpid()} {task.id} {task.host} {task.lane or '-'}\\n".encode())

while True:
    taken = queue.take(4, delay=0, ahead=1)
    for lease in taken.leases:
        say("begin", lease.task)
    for lease in taken.leases:
        sleep(0.002)
        say("end", lease.task)
        queue.done([lease.task.id])
    queue.free(dict.fromkeys(taken.held, 0.0))
    if not taken.leases:
        sleep(0.02)
"""


@pytest.mark.slow
def test_killed_workers_lose_no_tasks(tmp_path: Path) -> None:
    seed = 20260301
    chance, log = random.Random(seed), tmp_path / "log"
    queue = open_table(tmp_path / "queue", "rss", terms=TERMS)
    everything = [task for n in range(HOSTS) for task in tasks(EACH, f"h{n}.example", lane=f"x{n // 2}" if n % 3 else None, source="甲")]
    queue.push(everything)
    lives = [chance.uniform(*LIFE) for _ in range(KILLS)] + [0.0] * WORKERS
    workers = [begin(tmp_path, log, lives.pop(0)) for _ in range(WORKERS)]
    killed: set[int] = set()
    while len(killed) < KILLS:
        for place, worker in enumerate(workers):
            if worker.poll() is not None:
                assert worker.wait() == -signal.SIGPROF
                killed.add(worker.pid)
                workers[place] = begin(tmp_path, log, lives.pop(0))
        sleep(0.005)
    assert queue.outstanding(["甲"])["甲"], "the last kill was not during the work"
    until = monotonic() + 600
    while queue.outstanding(["甲"])["甲"] and monotonic() < until:
        sleep(0.1)
    for worker in workers:
        worker.kill()
        worker.wait()
    state = queue.state()
    queue.close()
    assert (state.waiting, state.leased, state.aside) == (0, 0, 0), f"seed {seed}"
    lines = [line.split() for line in log.read_text().splitlines()]
    ended = Counter(id for event, _, id, _, _ in lines if event == "end")
    assert set(ended) == {task.id for task in everything}, f"seed {seed}"
    assert sum(number - 1 for number in ended.values()) <= KILLS, "only finished tasks without acknowledgement are repeated"
    assert_no_overlap(lines, killed)


def begin(folder: Path, log: Path, life: float) -> Started:
    return Started(str(folder / "queue"), str(log), str(life), script=WORKER)


def assert_no_overlap(lines: list[list[str]], killed: set[int]) -> None:
    """Assert that no request begins while a living worker has it, its lane or its host. When killed workers let go is unknown."""
    running: dict[str, tuple[str, str, int]] = {}
    for event, text, id, host, lane in lines:
        pid = int(text)
        if event == "end":
            running.pop(id, None)
            continue
        for other, (its_host, its_lane, of) in list(running.items()):
            if of in killed and of != pid:
                continue
            assert other != id
            assert lane == "-" or lane != its_lane
            assert host != its_host or of == pid
        running[id] = (host, lane, pid)
