"""Who dies, sleeps or waits: a transaction is written whole or not at all, and one process writes after the other."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from made_up_tables import OTHERS, ROWS, TABLES

from newsportal.errors import StoreUnavailable
from newsportal.storage.documents import leases, transactions
from newsportal.storage.documents.base import Documents
from newsportal.storage.documents.journal import JOURNAL
from newsportal.storage.documents.opening import META, backend_of
from newsportal.storage.documents.transactions import Transactions
from newsportal.storage.documents.turns import KEPT_TURNS, TURNS

pytestmark = pytest.mark.slow

HERE = Path(__file__).resolve().parent

Opening = Callable[[], Documents]


@pytest.mark.parametrize(("uri", "length"), [("elasticsearch", "short"), ("mongodb", "short"), ("mongodb", "long")], indirect=["uri"])
def test_whoever_dies_whenever_leaves_nothing_half_written(uri: str, length: str) -> None:
    told = subprocess.run(
        [sys.executable, str(HERE / "dying.py"), uri, length], capture_output=True, text=True, timeout=240, check=False, cwd=HERE.parents[2]
    )
    lines = [json.loads(line) for line in told.stdout.splitlines()]
    assert told.returncode == 0, (told.stderr[-2000:], lines[-3:])
    deaths, seen = lines[::2], lines[1::2]
    assert [death["ended"] for death in deaths] == [signal.SIGKILL] * (len(deaths) - 1) + [0]
    assert [one for one in seen if one["wrong"] or one["left"]] == []
    written = [one["written"] for one in seen]
    assert written == sorted(written)  # up to one step nothing, from then on everything
    assert not written[0]
    assert not all(written[:-1])
    assert written.count(True) >= 4  # when it is decided; before, in the midst of and after writing the rows
    assert max(one["seconds"] for one in seen) < leases.LEASE_SECONDS  # who is dead is not waited for


COUNTING = """
import sys
sys.path.insert(0, {here!r})
from made_up_tables import OTHERS, ROWS, TABLES
from newsportal.storage.documents.opening import open_documents
documents = open_documents({uri!r}, TABLES, migrations={{}})
print("ready", flush=True)
sys.stdin.readline()
for _ in range({times}):
    with documents.writing() as transaction:
        number = transaction.get(ROWS, ["sum"]).get("sum", {{"number": 0}})["number"]
        transaction.put(ROWS, {{"id": "sum", "number": number + 1}})
        transaction.put(OTHERS, {{"id": str(transaction.next("numbers")), "number": number}})
documents.close()
"""


def test_processes_that_write_at_once_write_one_after_the_other(uri: str, opened: Opening) -> None:
    writers, times = 4, 8
    opened()
    with ExitStack() as stack:
        running = [_counting(stack, uri, times) for _ in range(writers)]
        for one in running:
            assert one.stdout is not None
            assert one.stdout.readline() == "ready\n"
        for one in running:
            assert one.communicate("\n", timeout=120)[1] == ""
    documents = opened()
    assert documents.get(ROWS, ["sum"])["sum"]["number"] == writers * times
    assert documents.last("numbers") == writers * times
    assert [row["id"] for row in documents.find(OTHERS, order=("number",))] == [str(number + 1) for number in range(writers * times)]
    assert documents.count(TURNS) <= 3 * KEPT_TURNS


def _counting(stack: ExitStack, uri: str, times: int) -> subprocess.Popen[str]:
    program = COUNTING.format(here=str(HERE), uri=uri, times=times)
    started = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=HERE.parents[2],
    )
    stack.enter_context(started)
    stack.callback(started.kill)
    return started


def test_threads_that_share_a_store_write_one_after_the_other(documents: Documents) -> None:
    def count() -> None:
        for _ in range(5):
            with documents.writing() as transaction:
                number = transaction.get(ROWS, ["sum"]).get("sum", {"number": 0})["number"]
                transaction.put(ROWS, {"id": "sum", "number": number + 1})

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert documents.get(ROWS, ["sum"])["sum"]["number"] == 20


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Who is silent for half a second is succeeded."""
    monkeypatch.setattr(leases, "LEASE_SECONDS", 0.5)
    monkeypatch.setattr(leases, "SURE_SECONDS", 0.25)
    return iter([None])


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("rows", [1, 3])
def test_who_slept_while_writing_writes_nothing(opened: Opening, rows: int) -> None:
    sleeper, other = opened(), opened()
    with pytest.raises(StoreUnavailable, match="another one writes now"), sleeper.writing() as transaction:  # noqa: PT012
        for number in range(rows):
            transaction.put(ROWS, {"id": str(number), "number": 1})
        transaction.find(ROWS)
        with other.writing() as theirs:
            theirs.put(ROWS, {"id": "0", "number": 2})
            theirs.put(OTHERS, {"id": "0", "number": 2})
    assert other.find(ROWS) == [{"id": "0", "number": 2}]
    with sleeper.writing() as transaction:
        assert transaction.find(ROWS) == [{"id": "0", "number": 2}]
        transaction.put(ROWS, {"id": "0", "number": 3})
    assert other.find(ROWS) == [{"id": "0", "number": 3}]


def test_who_works_long_shows_that_he_lives(opened: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "LEASE_SECONDS", 1.5)
    monkeypatch.setattr(leases, "RENEW_SECONDS", 0.3)
    monkeypatch.setattr(leases, "WAIT_SECONDS", 2.5)
    worker, other = opened(), opened()
    with worker.writing() as transaction:
        transaction.put(ROWS, {"id": "0"})
        transaction.put(ROWS, {"id": "1"})
        with pytest.raises(StoreUnavailable, match=r"process \d+ on .* has been writing since \d\d:\d\d:\d\d UTC"), other.writing():
            pass
    assert other.count(ROWS) == 2


def test_who_cannot_finish_leaves_it_to_the_next(opened: Opening, uri: str) -> None:
    class Failing:
        def __init__(self) -> None:
            self.backend = backend_of(uri)
            self.fails = False

        def __getattr__(self, name: str) -> Any:
            return getattr(self.backend, name)

        def apply(self, writes: Any, number: int, **told: Any) -> None:
            if self.fails and ROWS.name in writes:
                raise StoreUnavailable("the disk is full")
            self.backend.apply(writes, number, **told)

    opened()
    backend = Failing()
    failing = Transactions(backend, (*TABLES, META))
    backend.fails = True
    with pytest.raises(StoreUnavailable, match="full"), failing.writing() as transaction:  # noqa: PT012
        transaction.put(ROWS, {"id": "0"})
        transaction.put(ROWS, {"id": str(transaction.next("numbers"))})
    assert opened().last("numbers") == 0
    with pytest.raises(StoreUnavailable, match="full"), failing.writing() as transaction:
        transaction.put(OTHERS, {"id": "0"})
    backend.fails = False
    with failing.writing() as transaction:
        assert transaction.count(ROWS) == 2
        assert transaction.next("numbers") == 2
        transaction.put(OTHERS, {"id": "0"})
    assert (failing.count(ROWS), failing.count(OTHERS), failing.last("numbers")) == (2, 1, 2)
    failing.close()


def test_turns_and_journals_do_not_gather(opened: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transactions.journal, "SHORT", 10)
    documents = opened()
    for number in range(3 * KEPT_TURNS):
        with documents.writing() as transaction:
            transaction.put(ROWS, {"id": "0", "number": number})
            transaction.put(ROWS, {"id": "1", "number": number})
    assert documents.count(JOURNAL) == 0
    assert documents.count(TURNS) <= 2 * KEPT_TURNS + 2
    assert documents.get(ROWS, ["0"])["0"]["number"] == 3 * KEPT_TURNS - 1
