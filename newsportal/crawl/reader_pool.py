"""Processes with limits for reading pages: memory and CPU time consumed by a page are freed with its process.

A crawl forks one server process at its start, with modules and tables loaded and no network connections; it forks readers on demand and
when one has died. Each thread of the pool owns one reader: it sends a function with its arguments, and waits for the result. The kernel
kills a reader that exceeds its limits: ``RLIMIT_DATA`` for memory, ``ITIMER_PROF`` for CPU time, so that no busy machine refuses a page.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import resource
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from itertools import accumulate, pairwise
from multiprocessing.connection import Connection, Pipe
from multiprocessing.reduction import recv_handle, send_handle
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Never
from weakref import ref

from newsportal.classify.keywords import keywords
from newsportal.crawl import plain_values
from newsportal.errors import NotApplicable
from newsportal.extractors.pages import make_page, read_article

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

MAX_PROCESSES: Final = 4  # Default maximum of processes: fetching and storing, in one process, take a third of the work
MAX_SECONDS: Final = 300.0
"""Seconds of wall-clock time after which a reader is replaced: it was stopped, or the machine swaps. There is one replacement."""

GRACE: Final = 2.0  # Seconds of wall-clock time for a page being read while the crawl ends
FINISH_SECONDS: Final = 6.0
"""Seconds of wall-clock time during which an ending crawl still starts reading fetched pages. With :data:`GRACE` it ends within ten."""

EXAMPLE: Final = "古镇的石板路重新铺好，店家把凳子搬到了门外。"
CHECK_SECONDS: Final = 0.25  # seconds between checks whether the crawl ends
YOUNG: Final = 50_000  # allocations between garbage collections: a page makes as many objects and leaves none (the default of 700 cost 5 %)

NO_MEMORY: Final = 3  # exit status of a reader that ran out of memory
GIVEN_UP: Final = -signal.SIGUSR1  # exit status of a reader that was given up
REASONS: Final = {NO_MEMORY: "reading-memory", -signal.SIGKILL: "reading-memory", -signal.SIGPROF: "reading-time", GIVEN_UP: "reading-time"}
"""Reasons for refusing a page, by the exit status of its reader. SIGKILL comes from the kernel when the machine is out of memory."""

SHUTDOWN: Final = "shutdown"  # reason for pages neither fetched nor read because the crawl ends


class Interrupted(Exception):
    """Raised when a page is not fetched or read because the crawl is ending. The caller leaves its link to the next run."""


@dataclass(frozen=True, slots=True)
class _Reader:
    pid: int
    channel: Connection


def usual_processes() -> int:
    """Return the number of cores, at most :data:`MAX_PROCESSES`; 0 on systems other than Linux, where the limits do not work."""
    return min(MAX_PROCESSES, len(os.sched_getaffinity(0))) if sys.platform == "linux" else 0


class ReaderPool:
    """Runs functions in reader processes; until it is started, in threads of this process."""

    def __init__(self) -> None:
        self._threads: ThreadPoolExecutor | None = None
        self._local = threading.local()
        self._lock = threading.Lock()
        self._control: Connection | None = None
        self.server = 0

    def start(self, processes: int, memory: int, seconds: float) -> None:
        """Fork the server process. ``memory``: bytes per page; ``seconds``: CPU time per page. Call it early: a lock held by another thread
        at the fork is never released in the child."""
        if processes < 1 or self._threads is not None or sys.platform != "linux":
            return
        self._control, theirs = Pipe()
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # Python 3.12 warns of locks held by other threads
            self.server = os.fork()
        if self.server == 0:
            _serve_forks(theirs, memory, seconds)
        theirs.close()
        self._threads = ThreadPoolExecutor(processes, thread_name_prefix="newsportal-reader")

    def close(self) -> None:
        """Kill all processes and discard their work."""
        if self._control is not None:
            self._control.close()
            self._control = None
            with suppress(OSError):
                os.killpg(self.server, signal.SIGKILL)
            with suppress(OSError):
                os.waitpid(self.server, 0)
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)

    async def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Run ``function(*args)`` in a thread that may :meth:`call`."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, copy_context().run, function, *args)

    def call(self, ending: Callable[[], float | None], function: Callable[..., Any], *args: Any, times: float = 1.0) -> Any:
        """Run ``function(*args)`` in a reader, or in place if there is none, for ``times`` the time limit of a page. Raises its errors,
        ``NotApplicable`` for an exceeded limit, :class:`Interrupted` if the crawl has been ``ending`` too long (seconds)."""
        if (ending() or 0.0) > FINISH_SECONDS:
            raise Interrupted
        if self._control is None:
            return function(*args)
        task = plain_values.dumps((function, args, times))
        status, spare = 0, 1
        while status == 0 or (status == GIVEN_UP and ending() is None and (spare := spare - 1) >= 0):  # 0: it had grown, and exited
            if (reader := self._reader()) is None:
                return function(*args)
            if (answer := self._exchange(reader, task, ending)) is not None:
                succeeded, result = plain_values.loads(answer)
                if succeeded:
                    return result
                raise plain_values.rebuild_error(result)
            status = self._ended(reader)
        if ending() is not None:
            raise Interrupted
        reason = REASONS.get(status, "reading-crash")
        raise NotApplicable(reason, f"its reader process ended with {status}")

    def _exchange(self, reader: _Reader, task: list[bytes], ending: Callable[[], float | None]) -> list[bytes] | None:
        """Return the answer; ``None`` if the reader has exited."""
        waited = 0.0
        try:
            _send(reader.channel, task)
            while not reader.channel.poll(CHECK_SECONDS):
                if (waited := waited + CHECK_SECONDS) >= (MAX_SECONDS if ending() is None else GRACE):
                    os.kill(reader.pid, -GIVEN_UP)
                    os.kill(reader.pid, signal.SIGCONT)  # a stopped process would not exit
            return _receive(reader.channel)
        except (EOFError, OSError):
            return None

    def _reader(self) -> _Reader | None:
        """Return this thread's reader, made if needed; ``None`` if there are no processes any more."""
        reader: _Reader | None = getattr(self._local, "reader", None)
        if reader is None:
            ours, theirs = Pipe()
            pid = self._ask(theirs)
            theirs.close()
            reader = self._local.reader = None if pid is None else _Reader(pid, ours)
        return reader

    def _ended(self, reader: _Reader) -> int:
        """Return the exit status of a reader: negative for a signal."""
        self._local.reader = None
        reader.channel.close()
        status = self._ask(reader.pid)
        return -signal.SIGKILL if status is None else os.waitstatus_to_exitcode(status)

    def _ask(self, target: Connection | int) -> int | None:
        """Return the process id of a new reader for this connection, or a reader's exit status by its id; ``None``: the server died."""
        with self._lock:
            if self._control is None:
                return None
            try:
                self._control.send_bytes(b"%d" % (0 if isinstance(target, Connection) else target))
                if isinstance(target, Connection):
                    send_handle(self._control, target.fileno(), self.server)
                return int(self._control.recv_bytes())
            except (EOFError, OSError) as error:
                logger.error("pages are now read in the crawl's own process, since the one that forks readers has ended: %s", error)
                self._control = None
                return None


class CrawlReaders:
    """The pool as used by one crawl: when the crawl ends, it still reads fetched pages for :data:`FINISH_SECONDS` seconds."""

    def __init__(self, pool: ReaderPool, crawler: Crawler) -> None:
        self.pool = pool
        self._crawler = ref(crawler)
        self._ends_since: float | None = None

    async def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Run ``function(*args)`` in a thread that may :meth:`call`."""
        return await self.pool.run(function, *args)

    async def read(self, function: Callable[..., Any], *args: Any, times: float = 1.0) -> Any:
        return await self.pool.run(lambda: self.call(function, *args, times=times))

    def call(self, function: Callable[..., Any], *args: Any, times: float = 1.0) -> Any:
        """Run ``function(*args)``, which reads one page and has no side effects. Raises as :meth:`ReaderPool.call`."""
        return self.pool.call(self._ending, function, *args, times=times)

    def _ending(self) -> float | None:
        crawler = self._crawler()
        try:
            if crawler is not None and (crawler.engine is None or crawler.engine.running):
                return None
        except RuntimeError:  # the crawl has not started
            return None
        if self._ends_since is None:
            self._ends_since = monotonic()
        return monotonic() - self._ends_since


def _serve_forks(control: Connection, memory: int, seconds: float) -> Never:
    """Run the server that forks readers. It exits when the crawl closes its end of the connection."""
    try:
        os.setpgid(0, 0)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPROF, signal.SIGUSR1):
            signal.signal(number, signal.SIG_IGN if number in (signal.SIGINT, signal.SIGTERM) else signal.SIG_DFL)
        os.closerange(3, control.fileno())
        os.closerange(control.fileno() + 1, os.sysconf("SC_OPEN_MAX"))
        logging.disable()
        gc.freeze()  # the crawl's files and connections are closed here: the garbage collector must not close them again
        ready = False
        while True:
            if pid := int(control.recv_bytes()):
                control.send_bytes(b"%d" % os.waitpid(pid, 0)[1])
                continue
            if not ready:  # load what the first page needs, once for all readers
                read_article(make_page(f"<title>{EXAMPLE}</title><p>{EXAMPLE * 9}", "https://example.com/2024/1.html"))
                keywords(EXAMPLE, EXAMPLE)
                gc.freeze()  # exclude the loaded tables from collection
                gc.set_threshold(YOUNG)
                ready = True
            channel = Connection(recv_handle(control))
            pid = os.fork()
            if pid == 0:
                control.close()
                _serve_pages(channel, memory, seconds)
            channel.close()
            control.send_bytes(b"%d" % pid)
    finally:
        os._exit(1)


def _serve_pages(channel: Connection, memory: int, seconds: float) -> Never:
    """Run a reader: one page after the other, until the crawl ends or this process has grown."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text("ascii").splitlines())
    limit = int(fields["VmData"].split()[0]) * 1024 + memory  # in addition to the current size
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    size = _peak()
    while _peak() - size < memory // 2:
        try:
            task = _receive(channel)
            answer = _answer(task, seconds)
            signal.setitimer(signal.ITIMER_PROF, 0)
            _send(channel, answer)
        except MemoryError:
            os._exit(NO_MEMORY)
        except (EOFError, OSError):
            break
    os._exit(0)


def _answer(task: list[bytes], seconds: float) -> list[bytes]:
    try:
        function, args, times = plain_values.loads(task, functions=True)
        signal.setitimer(signal.ITIMER_PROF, seconds * times)
        return plain_values.dumps((True, function(*args)))
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  raised in the calling thread
        return plain_values.dumps((False, plain_values.describe(error, traceback.format_exc())))


def _send(channel: Connection, parts: list[bytes]) -> None:
    """Send one message: separate parts would cost as many thread switches."""
    channel.send_bytes(b"".join((b",".join(b"%d" % len(part) for part in parts), b"\n", *parts)))


def _receive(channel: Connection) -> list[bytes]:
    data = channel.recv_bytes()
    start = data.index(b"\n") + 1
    ends = list(accumulate(map(int, data[: start - 1].split(b",")), initial=start))
    return [data[begin:end] for begin, end in pairwise(ends)]


def _peak() -> int:
    """Return the peak memory of this process, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
