"""The system's Chromium: found, started in isolation, shared by a process, and ended in every case.

Three independent barriers isolate it: no network device, if the kernel allows removing it (:mod:`newsportal.net.rendering.launch`); an
unreachable proxy for every connection; and no name or IP address that resolves. The browser is controlled through a pipe.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
import shlex
import shutil
import signal
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Final

from newsportal.errors import DependencyMissing, RenderFailed
from newsportal.net.rendering import launch

if TYPE_CHECKING:
    from playwright.async_api import Browser, Playwright

    from newsportal.net.rendering.exchange import Limits

logger = logging.getLogger(__name__)
VARIABLE: Final = "NEWSPORTAL_CHROMIUM"  # names the browser for one run; overrides sources.yaml
# Names of the systems' packages; the headless shell starts in a quarter of the time and processor time
BROWSER_NAMES: Final = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
INSTALL: Final = "install Chromium, e.g. with: sudo apt install chromium"
CLOSE_SECONDS: Final = 10.0  # time for a browser to end by itself; then it is killed
START_SECONDS: Final = 60.0  # time for a browser to start on a busy machine; usually half a second
WATCH_SECONDS: Final = 0.5  # interval of memory checks
FOLDER_PREFIX: Final = "newsportal-browser-"  # prefix of the folders' names
ABANDONED_SECONDS: Final = 3600.0  # seconds; a browser writes its process number within a minute
ISOLATION_FLAGS: Final = (
    "--proxy-server=http://127.0.0.1:9",  # also for WebSocket; WebTransport does not work behind a proxy
    "--proxy-bypass-list=<-loopback>",  # loopback is no exception
    "--host-resolver-rules=MAP * ~NOTFOUND",  # no name, no IP address and no proxy resolves
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--dns-prefetch-disable",
)
# Not needed for a page's text and URLs.
RESOURCE_FLAGS: Final = ("--disable-gpu", "--disable-3d-apis", "--mute-audio", "--disable-remote-fonts", "--disable-notifications")


def find_chromium(configured: str | None = None) -> str | None:
    """Return the path of the browser: given by the environment or ``configured``, else the first installed; ``None`` if there is none."""
    if browser := os.environ.get(VARIABLE) or configured:
        return shutil.which(browser)
    return next((path for name in BROWSER_NAMES if (path := shutil.which(name))), None)


def missing_parts(configured: str | None = None) -> str | None:
    """Return what must be installed to render pages, with the commands; ``None`` if nothing is missing."""
    lacking = []
    if find_spec("playwright") is None or find_spec("scrapy_playwright") is None:
        lacking.append(str(DependencyMissing("render: true", "render")))
    if find_chromium(configured) is None:
        name = os.environ.get(VARIABLE) or configured
        lacking.append(f"there is no browser {name!r}; fix {VARIABLE} or rendering.browser" if name else f"no browser found; {INSTALL}")
    return "; and ".join(lacking) or None


@dataclass(frozen=True, slots=True)
class Setup:
    """Browser to use, and its limits. ``isolate`` False omits the first barrier (to test the others)."""

    limits: Limits
    browser: str | None = None
    isolate: bool = True


class Chromium:
    """A browser started on first use. Users call :meth:`acquire` and, at the end, :meth:`release`."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.slots = asyncio.Semaphore(setup.limits.pages)
        self.watch = MemoryMonitor(setup.limits.memory)
        self.isolated = False
        self._lock = asyncio.Lock()
        self._users = 0
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._folder: Path | None = None
        self._failure: RenderFailed | None = None

    @property
    def connected(self) -> bool:
        return self._browser is not None and self._browser.is_connected()

    def acquire(self) -> None:
        self._users += 1

    async def release(self) -> None:
        self._users -= 1
        if self._users <= 0:
            await self.close()

    async def ensure_started(self) -> Browser:
        """Return the browser, started if necessary. Raises ``RenderFailed``; a failed start is not repeated."""
        async with self._lock:
            if self._failure is not None:
                raise self._failure
            if self._browser is None or not self._browser.is_connected():
                try:
                    self._browser = await self._start()
                except Exception as error:
                    self._failure = RenderFailed("about:blank", "no-browser", _short_message(error))
                    logger.error("the browser does not start: %s (see newsportal doctor)", _short_message(error))
                    await self._clear()
                    raise self._failure from error
            return self._browser

    async def _start(self) -> Browser:
        problem = missing_parts(self.setup.browser)
        program = find_chromium(self.setup.browser)
        if problem or program is None:
            raise RuntimeError(problem)
        await self._clear()
        if self._playwright is None:
            from playwright.async_api import async_playwright

            self._playwright = await async_playwright().start()
        await asyncio.to_thread(remove_abandoned_folders)
        self._folder = new_folder()
        wrapper = self._folder / "chromium"
        source = inspect.getsource(launch)  # it may be in an egg, from which Python cannot run it
        words = (sys.executable, "-I", "-c", source, str(self._folder / "pid"), "1" if self.setup.isolate else "0", program)
        wrapper.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', "utf-8")
        wrapper.chmod(0o700)
        browser = await self._playwright.chromium.launch(
            executable_path=wrapper,
            args=[*ISOLATION_FLAGS, *RESOURCE_FLAGS, f"--js-flags=--max-old-space-size={self.setup.limits.heap_megabytes}"],
            chromium_sandbox=os.geteuid() != 0,  # Chromium has none for root
            handle_sigint=False,  # the crawl ends in its own order, including its browser
            handle_sigterm=False,
            handle_sighup=False,
            timeout=START_SECONDS * 1000,
        )
        pid, isolated = (int(word) for word in (self._folder / "pid").read_text().split())
        self.isolated = bool(isolated)
        self.watch.start(pid)
        logger.info("browser %s started%s", browser.version, "" if isolated else " (not in a network namespace of its own)")
        return browser

    async def watch_memory(self) -> None:
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            await asyncio.to_thread(self.watch.check)

    async def close(self) -> None:
        """End the browser and its driver; safe to call twice, and after either died."""
        async with self._lock:
            self._failure = None  # the next user may try again
            await self._clear()
            driver, self._playwright = self._playwright, None
            if driver is not None:
                await _within(CLOSE_SECONDS, driver.stop())

    async def _clear(self) -> None:
        browser, self._browser = self._browser, None
        if browser is not None and browser.is_connected():
            await _within(CLOSE_SECONDS, browser.close())
        if (pid := self.watch.stop()) is not None:
            with suppress(ProcessLookupError, PermissionError):
                if os.getpgid(pid) == pid:  # Playwright starts a browser as the leader of a process group
                    os.killpg(pid, signal.SIGKILL)
        folder, self._folder = self._folder, None
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


async def _within(seconds: float, doing: object) -> None:
    """Await something that may hang or fail, no longer than ``seconds``: it is being ended anyway."""
    try:
        async with asyncio.timeout(seconds):
            await doing  # type: ignore[misc]
    except Exception as error:  # noqa: BLE001 - it may be dead already, in many ways
        logger.debug("while a browser was closed: %s", error)


def _short_message(error: Exception) -> str:
    """Return the first informative lines of Playwright's message, which includes the command line and log."""
    lines: Iterable[str] = (line.strip() for line in str(error).splitlines())
    useful = [line for line in lines if line and "<launch" not in line and not line.startswith(("╔", "║", "╚", "Call log", "Browser logs"))]
    return " ".join(useful[:2])[:300] or type(error).__name__


# Folders of the launcher and profile of running browsers, and removal of those left by killed crawls


def folder_candidates() -> Iterator[Path]:
    """Yield possible parent folders, the system's temporary folder first. Some machines do not run programs there (noexec)."""
    yield Path(tempfile.gettempdir())
    cache = os.environ.get("XDG_CACHE_HOME")
    with suppress(RuntimeError):  # a user without a home
        yield Path(cache) if cache else Path.home() / ".cache"
    yield Path("/var/tmp")  # noqa: S108 - the folder within is created by mkdtemp, for us only


def runs_programs(folder: Path) -> bool:
    """Return whether programs in ``folder`` can be run, as far as the system reports."""
    noexec = getattr(os, "ST_NOEXEC", 0)  # only on Linux
    try:
        return not noexec or not os.statvfs(folder).f_flag & noexec
    except OSError:
        return False


def new_folder() -> Path:
    """Create a folder for a browser, in the first place that is writable and runs programs. Raises ``OSError`` with a remedy."""
    cause = None
    for place in folder_candidates():
        try:
            place.mkdir(parents=True, exist_ok=True)
            if runs_programs(place):
                return Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX, dir=place))
        except OSError as error:
            cause = error
    folders = ", ".join(map(str, folder_candidates()))
    raise OSError(f"no folder for the browser: in none of {folders} programs can be written and run; name a folder in TMPDIR") from cause


def remove_abandoned_folders() -> None:
    for place in dict.fromkeys(folder_candidates()):
        for folder in place.glob(f"{FOLDER_PREFIX}*"):
            with suppress(OSError):  # another user's, or deleted meanwhile
                if _abandoned(folder):
                    shutil.rmtree(folder, ignore_errors=True)


def _abandoned(folder: Path) -> bool:
    try:
        pid = int((folder / "pid").read_text().split()[0])
    except (FileNotFoundError, ValueError, IndexError):
        return time() - folder.stat().st_mtime > ABANDONED_SECONDS
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False  # or the number was reused by another user's process: removed when that ends


# V8 limits script objects per page; pictures, buffers and the DOM are only limited here.

PROC: Final = Path("/proc")
RENDERER: Final = b"--type=renderer"  # in the command line of a page's process


class MemoryMonitor:
    """Memory monitor of one browser, by its process number; without ``/proc`` it does nothing."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._pid: int | None = None
        self.peak = 0
        self.closed = 0

    def start(self, pid: int) -> None:
        self._pid = pid

    def stop(self) -> int | None:
        pid, self._pid = self._pid, None
        return pid

    def check(self) -> bool:
        """Kill the largest page if all together use too much memory; return whether one was killed."""
        if self._pid is None:
            return False
        memory = {pid: _private_bytes(pid) for pid in process_tree(self._pid)}
        total = sum(memory.values())
        self.peak = max(self.peak, total)
        pages = [pid for pid in memory if RENDERER in _command(pid)]
        if total <= self._max_bytes or not pages:
            return False
        with suppress(ProcessLookupError):
            os.kill(max(pages, key=lambda pid: memory[pid]), signal.SIGKILL)
        self.closed += 1
        return True


def process_tree(pid: int) -> list[int]:
    children: dict[int, list[int]] = defaultdict(list)
    for entry in PROC.glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            children[int(entry.read_text().rpartition(")")[2].split()[1])].append(int(entry.parent.name))
    pids = [pid]
    for parent in pids:
        pids.extend(children[parent])
    return pids


def _private_bytes(pid: int) -> int:
    """Return private memory in bytes, without shared files and libraries."""
    with suppress(OSError, ValueError, IndexError):
        for line in (PROC / str(pid) / "status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
    return 0


def _command(pid: int) -> bytes:
    with suppress(OSError):
        return (PROC / str(pid) / "cmdline").read_bytes()
    return b""
