"""Failures of database servers: unavailable, killed, slow, read-only, full; and writers that are killed.

Nothing is lost or stored twice, and every message says what happened, where, and what to do.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

import pytest
from forked import Started, run
from invariants import assert_consistent
from killed_writers import NOW, article
from servers import DROP, KINDS, MAKE, OVER_SERVERS, Database, Server, Servers, in_mariadb, in_postgresql, not_needed, own_server, scratch
from slow_relay import slow_relay

from newsportal.errors import StoreError, StoreUnavailable
from newsportal.store import open_store

pytestmark = pytest.mark.slow

WRITER = Path(__file__).with_name("killed_writers.py")
REMEDY = ("start it", "try again", "check ", "correct ", "free space", "see ", "give ", "grant ", "create ", "close ", "wait ", "name ")
"""Every message contains one of these."""

ROOM = {"postgresql": "110m", "mariadb": "230m"}
"""Disk usage of each empty server, and a little more."""

LONG = 20_000
"""Length in characters of the articles that fill a disk."""

ARTICLES = 60
KILLS = 10


@pytest.fixture(scope="module", params=OVER_SERVERS)
def killable_server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A separate server that these tests may kill."""
    with own_server(request.param) as server:
        yield server


@pytest.fixture
def database(killable_server: Server, request: pytest.FixtureRequest) -> Iterator[Database]:
    """An empty database in it."""
    killable_server.start()
    name = f"faults_{abs(hash(request.node.name)) % 10**8}"
    MAKE.get(killable_server.name, not_needed)(killable_server.port, name)
    yield Database(killable_server.name, killable_server.port, name, killable_server.url(name))
    killable_server.start()
    DROP[killable_server.name](killable_server.port, name)


@contextmanager
def writer(kind: str, uri: str, log: Path, count: int = 0, length: int = 0) -> Iterator[Started]:
    """Yield a writing process whose standard error is in ``says``."""
    with Started(kind, uri, str(count), str(length), script=WRITER, piped=True, log=log) as process:
        yield process


def lines(stream: TextIO, count: int) -> list[str]:
    return [stream.readline().strip() for _ in range(count)]


def assert_helpful(message: str, place: str) -> None:
    """Assert that ``message`` says where the problem is and what to do."""
    assert place in message, message
    assert any(word in message for word in REMEDY), message


def assert_complete(uri: str, confirmed: list[str]) -> None:
    """Assert that everything confirmed to writers is stored once."""
    store = open_store(uri)
    stored = [found.id for found in store.all_articles()]
    assert len(stored) == len(set(stored))
    assert set(confirmed) <= set(stored)
    changes = store.changes(limit=10**6)
    assert sorted(change.id for change in changes) == sorted(stored)
    assert len({change.seq for change in changes}) == len(changes)
    assert_consistent(store)


@pytest.mark.parametrize("server", OVER_SERVERS)
def test_unavailable_server_is_reported_at_start(server: str) -> None:
    from local_servers.running import free_port

    port = free_port()
    uri = KINDS[server].uri(port, "newsportal")
    scheme, _, address = uri.partition("://")
    start = time.monotonic()
    with pytest.raises(StoreUnavailable) as raised:
        open_store(f"{scheme}://somebody:secret@{address.rpartition('@')[2]}")
    assert time.monotonic() - start < 600
    assert_helpful(str(raised.value), f"127.0.0.1:{port}")
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("server", OVER_SERVERS)
@pytest.mark.parametrize("command", [("crawl", "rss"), ("doctor", "--no-network"), ("up", "--port", "0")])
def test_every_command_reports_unavailable_server(server: str, command: tuple[str, ...], tmp_path: Path) -> None:
    from local_servers.running import free_port

    port = free_port()
    uri = KINDS[server].uri(port, "newsportal")
    sources = tmp_path / "sources.yaml"
    sources.write_text(f"store: {uri}\nfeeds:\n  - {{name: 快讯, url: http://127.0.0.1:9/feed.xml}}\n", "utf-8")
    done = run(*command, "--sources", str(sources), cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Traceback" not in done.stderr, done.stderr[-2000:]
    assert_helpful(" ".join((done.stdout + done.stderr).split()), f"127.0.0.1:{port}")


def test_writing_resumes_after_server_was_killed(killable_server: Server, database: Database, tmp_path: Path) -> None:
    with writer("patient", database.uri, tmp_path / "says", ARTICLES) as process:
        ids = lines(process.stdout, 10)
        killable_server.kill()
        killable_server.start()
        ids += lines(process.stdout, 20)
        killable_server.kill()
        time.sleep(1.0)  # unavailable for a second
        killable_server.start()
        ids += lines(process.stdout, ARTICLES - 30)
        assert process.wait(600) == 0
    assert len(set(ids)) == ARTICLES
    for message in (tmp_path / "says").read_text("utf-8").splitlines():
        assert_helpful(message, f"127.0.0.1:{killable_server.port}")
    assert_complete(database.uri, ids)


def test_randomly_killed_writers_leave_store_consistent(database: Database, tmp_path: Path) -> None:
    chance, ids = random.Random(database.server), []  # the same moments in each run, as far as timing allows
    with writer("killed", database.uri, tmp_path / "says") as process:
        for kill in range(KILLS):
            process.stdin.write(f"{kill}\n")
            process.stdin.flush()
            number = int(lines(process.stdout, 1)[0].split()[1])
            ids += lines(process.stdout, chance.randrange(4))
            time.sleep(chance.random() / 10)
            os.kill(number, signal.SIGKILL)
            while (line := lines(process.stdout, 1)[0]) != "dead":
                ids.append(line)
        process.stdin.close()
        assert process.wait(600) == 0, (tmp_path / "says").read_text("utf-8")[-2000:]
    store = open_store(database.uri)
    stored = sum(1 for _ in store.all_articles())
    assert len(ids) <= stored <= len(ids) + KILLS
    assert store.add(article("0-0", topic="旅游"), now=NOW).outcome in ("stored", "same")
    store.close()
    assert_complete(database.uri, ids)


def test_slow_server_stores_everything_once(database: Database) -> None:
    with slow_relay(database.port, 0.02) as relay:
        store = open_store(KINDS[database.server].uri(relay.port, database.name))
        ids = [store.add(article(str(number), topic="旅游"), now=NOW).id for number in range(5)]
        store.close()
    assert_complete(database.uri, ids)


def test_server_that_never_responds_times_out(database: Database) -> None:
    open_store(database.uri).close()
    with slow_relay(database.port, 0.0) as relay:
        relay.hung = True
        start = time.monotonic()
        with pytest.raises(StoreUnavailable) as raised:
            open_store(KINDS[database.server].uri(relay.port, database.name))
        assert time.monotonic() - start < 90
        assert_helpful(str(raised.value), f"127.0.0.1:{relay.port}")


@contextmanager
def read_only(database: Database) -> Iterator[str]:
    """Forbid writing as an administrator or the server would; yield the URI for a user who is not the administrator."""
    if database.server == "postgresql":
        in_postgresql(database.port, f'ALTER DATABASE "{database.name}" SET default_transaction_read_only = on')
        yield database.uri
        in_postgresql(database.port, f'ALTER DATABASE "{database.name}" RESET default_transaction_read_only')
    else:
        in_mariadb(database.port, "CREATE USER IF NOT EXISTS writer@'%'")
        in_mariadb(database.port, f"GRANT ALL ON `{database.name}`.* TO writer@'%'")
        in_mariadb(database.port, "SET GLOBAL read_only = 1")
        yield database.uri.replace("root@", "writer@")
        in_mariadb(database.port, "SET GLOBAL read_only = 0")


def test_read_only_server_is_reported_and_recovers(database: Database) -> None:
    open_store(database.uri).close()
    with read_only(database) as uri:
        store = open_store(uri)
        with pytest.raises(StoreError) as raised:
            store.add(article("a", topic="旅游"), now=NOW)
        assert_helpful(str(raised.value), f"127.0.0.1:{database.port}")
        store.close()
    store = open_store(database.uri)
    ids = [store.add(article(name, topic="旅游"), now=NOW).id for name in "ab"]
    store.close()
    assert_complete(database.uri, ids)


def test_user_without_write_permission_is_reported(servers: Servers) -> None:
    with servers.database("mariadb") as database:
        open_store(database.uri).close()
        in_mariadb(database.port, "CREATE USER IF NOT EXISTS reader@'%' IDENTIFIED BY 'secret'")
        in_mariadb(database.port, f"GRANT SELECT ON `{database.name}`.* TO reader@'%'")
        store = open_store(database.uri.replace("root@", "reader:secret@"))
        with pytest.raises(StoreError) as raised:
            store.add(article("a"), now=NOW)
        store.close()
    assert_helpful(str(raised.value), f"127.0.0.1:{database.port}")
    assert "secret" not in str(raised.value)


@pytest.fixture(params=OVER_SERVERS)
def small_disk_server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server on its own small disk."""
    folder = scratch(request.param)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={ROOM[request.param]},mode=755", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        folder.rmdir()
        pytest.skip("only root may mount a small disk")
    server = Server(KINDS[request.param], folder)
    try:
        server.start()
        yield server
    finally:
        server.kill()
        subprocess.run(["umount", "-l", str(folder)], capture_output=True, check=False)
        folder.rmdir()


def fill(disk: Path) -> Path:
    """Fill the remaining space and return the file."""
    filler = disk / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(1 << 16))
    return filler


def test_full_disk_is_reported_and_writing_resumes(small_disk_server: Server, tmp_path: Path) -> None:
    log, name = tmp_path / "says", "full"
    MAKE.get(small_disk_server.name, not_needed)(small_disk_server.port, name)
    open_store(small_disk_server.url(name)).close()
    filler = fill(small_disk_server.place.folder)
    with writer("patient", small_disk_server.url(name), log, ARTICLES, LONG) as process:
        until = time.monotonic() + 600
        while not log.read_text("utf-8"):
            assert process.poll() is None, log.read_text("utf-8")
            assert time.monotonic() < until, "the disk is not full"
            time.sleep(0.1)
        filler.unlink()
        subprocess.run(["mount", "-o", "remount,size=500m", str(small_disk_server.place.folder)], check=True, capture_output=True)
        while process.poll() is None:  # a server that could not write may stop even after space was freed
            if not small_disk_server.alive:
                small_disk_server.kill()
                small_disk_server.start()
            time.sleep(0.1)
        assert process.wait(600) == 0, log.read_text("utf-8")[-2000:]
        ids = lines(process.stdout, ARTICLES)
    for message in log.read_text("utf-8").splitlines():
        assert_helpful(message, f"127.0.0.1:{small_disk_server.port}")
    assert_complete(small_disk_server.url(name), ids)
