"""Shared fixtures. Real pages with gold answers are looked for beside the project and never copied into it."""

from __future__ import annotations

import gc
import logging
import os
import shutil
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import pytest
import scrapy.core.downloader.contextfactory  # noqa: F401  # deprecated classes look for their caller in every module: early there are few
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

if TYPE_CHECKING:
    from madeup import MadeUpWeb
    from servers import Servers

    from newsportal.store.store import Store

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("NEWSPORTAL_DATA", ROOT.parent / "shared" / "data"))
sys.path.insert(0, str(ROOT / "tests" / "site"))  # the made-up Web: to import madeup
sys.path.insert(0, str(ROOT / "scripts"))  # to import local_servers
sys.path.insert(0, str(ROOT / "tests"))  # to import servers
sys.path.insert(0, str(ROOT))  # training is not installed with the package

from tests.compiled_once import share_compiled_statements, share_parsers  # noqa: E402

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")  # each core already has a process
os.environ |= dict.fromkeys(("SPARK_LAUNCHER_OPTS", "SPARK_SUBMIT_OPTS"), "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")  # Java for seconds
os.environ["SSL_CERT_FILE"] = str(ROOT / "tests" / "authority.pem")  # reading all trusted CAs takes each connection 17 ms
os.environ.setdefault("NODE_COMPILE_CACHE", str(ROOT / ".pytest_cache" / "node"))  # playwright's driver starts with a quarter less
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # else each process that a test starts would compile all of newsportal,
sys.dont_write_bytecode = False  # and each test process would rewrite the assertions of all tests: 17 s of processor time

settings.register_profile(
    "newsportal",
    deadline=None,
    derandomize=True,  # same examples in every run
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)
settings.load_profile("newsportal")
# Otherwise it draws constants of the modules loaded so far: other examples in each run, after reading the sources of all modules
providers._get_local_constants = lambda: providers._local_constants

share_compiled_statements()
share_parsers()
gc.disable()  # while tests are collected: see pytest_collection_finish


LONGEST = (
    *("test_crawl_workers", "faults/test_workers", "classify/test_linear_floors", "extractors/test_scores", "services/jobs/test_schedule"),
    *("recommend/test_floors", "faults/", "dedup/test_judge_floors", "services/jobs/", "test_forums", "test_galleries", "net/", "test_"),
)
"""Prefixes of files that take minutes, which the whole run would wait for at its end: some wait, others compute meanwhile."""


def _place(path: Path) -> int:
    name = path.relative_to(ROOT / "tests").as_posix()
    return next((place for place, begin in enumerate(LONGEST) if name.startswith(begin)), len(LONGEST))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests of real pages, which read hundreds of them, as slow. Files that take longest come first, so quick ones fill the end."""
    for item in items:
        if "data" in item.keywords:
            item.add_marker(pytest.mark.slow)
    slow = {item.path for item in items if "slow" in item.keywords or "browser" in item.keywords}
    items.sort(key=lambda item: _place(item.path) if item.path in slow else len(LONGEST) + 1)
    if DATA.is_dir():
        return
    skip = pytest.mark.skip(reason=f"needs the real pages in {DATA} (set NEWSPORTAL_DATA)")
    for item in items:
        if "data" in item.keywords:
            item.add_marker(skip)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Exclude the ten thousand collected tests from garbage collection: they stay to the end, and each scan takes a second."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000)  # with Python's 700, a tenth of the tests' processor time is the search for cycles
    gc.enable()


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """In a worker of pytest-xdist, report only calls and what did not pass: five messages for each test keep another process busy."""
    if not hasattr(item.config, "workerinput"):
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


def _environ() -> dict[bytes, bytes]:
    """Return the environment as stored (decoding takes longer than a short test), without what pytest itself changes during a test."""
    stored: dict[bytes, bytes] = os.environb._data  # type: ignore[attr-defined]
    return {name: value for name, value in stored.items() if name != b"PYTEST_CURRENT_TEST"}


def _as_before() -> Iterator[None]:
    """Restore environment, time zone, log handlers and log context: commands that run in this process set them permanently."""
    from newsportal import messages
    from newsportal.logs import CONTEXT

    root, environ, zones = logging.getLogger(), _environ(), messages._ZONES[:]
    handlers, level, context = root.handlers[:], root.level, CONTEXT.get()
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    CONTEXT.set(context)
    messages._ZONES[:] = zones
    if (left := _environ()) != environ:
        for name in left.keys() - environ.keys():
            del os.environb[name]
        os.environb.update(environ)


module_as_before = pytest.fixture(autouse=True, scope="module")(_as_before)
test_as_before = pytest.fixture(autouse=True)(_as_before)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store in its own file."""
    from factories import empty_store

    with closing(empty_store(tmp_path / "news.db")) as opened:
        yield opened


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real pages with gold answers."""
    return DATA


@pytest.fixture(scope="session")
def web() -> Iterator[MadeUpWeb]:
    """The made-up Web on free loopback ports, shared by all tests; ``web.reset()`` restores its initial state."""
    from madeup import MadeUpWeb

    with MadeUpWeb(hosts=True) as web:
        yield web


@pytest.fixture(scope="session")
def run_folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder common to all processes of the run; each worker of pytest-xdist has a subfolder."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if hasattr(request.config, "workerinput") else base


@pytest.fixture(scope="session")
def servers(run_folder: Path) -> Iterator[Servers]:
    """Real servers, started on first use, one of each kind per run."""
    from servers import servers_of

    with servers_of(run_folder) as shared:
        yield shared


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Report which servers were missing; their tests were skipped."""
    reasons = [str(report.longrepr[2]) for report in terminalreporter.stats.get("skipped", ()) if isinstance(report.longrepr, tuple)]
    missing = Counter(reason.partition("no server: ")[2] for reason in reasons if "no server: " in reason)
    if missing:
        terminalreporter.section("servers that could not be had")
    for reason, tests in sorted(missing.items()):
        terminalreporter.write_line(f"{reason} ({tests} tests skipped)")


class RedisServer:
    """A redis-server for one test, on a free loopback port; ``kill`` and ``start`` may be called repeatedly."""

    def __init__(self, folder: Path) -> None:
        from local_servers.running import free_port

        self.port = free_port()  # no connection takes the port while the server is down
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, *options: str) -> None:
        command = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self._folder), "--save", "", *options]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = monotonic() + 600
        while monotonic() < until:
            with closing(socket.socket()) as asking:
                if asking.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            sleep(0.02)
        raise TimeoutError("redis-server did not start")

    def kill(self) -> None:
        """Kill the server as kill -9 does: nothing is saved."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@pytest.fixture
def redis_server(tmp_path: Path) -> Iterator[RedisServer]:
    """An empty Redis without persistence."""
    if shutil.which("redis-server") is None:
        pytest.skip("needs redis-server (make tools)")
    server = RedisServer(tmp_path)
    server.start()
    yield server
    server.kill()


@pytest.fixture(scope="session")
def redis_for_all(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """One Redis shared by tests that empty it first and leave it running."""
    if shutil.which("redis-server") is None:
        pytest.skip("needs redis-server (make tools)")
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    server.start()
    yield server
    server.kill()
