"""``newsportal up``: the portal responds while the crawl runs, both end together, and a missing network ends neither."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from forked import Started

from newsportal.dedup.canonical import identity
from newsportal.portal.listen import listen

if TYPE_CHECKING:
    from madeup import MadeUpWeb

pytestmark = pytest.mark.slow

PATIENCE = 900.0
"""Seconds until a test gives up waiting for both to end."""


@contextmanager
def up(sources: Path, *options: str) -> Iterator[tuple[Started, str]]:
    """Start ``newsportal up``; yield the process and the portal's URL from its output."""
    with Started("up", "--sources", str(sources), *options, piped=True, merged=True, PYTHONUNBUFFERED="1") as process:
        found = next((match[0] for line in process.stdout if (match := re.search(r"http://127\.0\.0\.1:\d+", line))), None)
        assert found, process.communicate()[0]
        yield process, found


def children(sources: Path) -> list[int]:
    """Return the process ids of crawls of this file."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"crawl" in words and os.fsencode(sources) in words:
            found.append(int(folder.name))
    return found


linux = pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="asks /proc who runs")


@linux
@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_portal_responds_during_crawl_and_both_end_together(portal: Any, web: MadeUpWeb, undisturbed: Any, sign: signal.Signals) -> None:
    urls = [article["url"] for article in web.manifest()["articles"] if identity(article["url"]) in undisturbed["hub"]][:1]
    with up(portal.sources, "--port", "0") as (process, address):
        with web.holding(urls):
            portal.wait_until(lambda: bool(children(portal.sources)))
            portal.wait_until(lambda: len(portal.identities()) > 0)
            assert httpx.get(address, timeout=600).status_code == 200
            assert httpx.get(f"{address}/health", timeout=600).json()["status"] == "ok"
            assert children(portal.sources), "the crawl still runs"
        process.send_signal(sign)
        output, _ = process.communicate(timeout=PATIENCE)
    assert (process.returncode, "Traceback" in output) == (0, False), output
    assert children(portal.sources) == []


@linux
def test_crawl_ends_after_parent_is_killed(portal: Any) -> None:
    with up(portal.sources, "--port", "0") as (process, _):
        portal.wait_until(lambda: bool(children(portal.sources)))
        process.kill()
    portal.wait_until(lambda: not children(portal.sources))


def test_new_stories_are_logged_and_shown_on_the_next_free_port(portal: Any) -> None:
    with ExitStack() as stack:
        with suppress(Exception):  # the default port is already in use, which serves as well
            stack.enter_context(closing(listen("127.0.0.1", 8000)))
        process, address = stack.enter_context(up(portal.sources))
        assert 8000 < int(address.rpartition(":")[2]) < 8020
        message = next(line for line in process.stdout if "new stories" in line)
        assert re.search(r"[1-9]\d* new stories", message)
        portal.wait_until(lambda: "/story/" in httpx.get(address, timeout=600).text)
        process.terminate()


def test_portal_serves_and_reports_missing_network(tmp_path: Path) -> None:
    sources = tmp_path / "sources.yaml"
    feeds = ", ".join(f'{{name: {name}, url: "http://{number}.newsportal-nowhere.invalid/rss"}}' for number, name in enumerate("甲乙丙"))
    sources.write_text(f"feeds: [{feeds}]\npoliteness: {{delay: 0}}\n", "utf-8")
    with up(sources, "--port", "0") as (process, address):
        lines = []
        for line in process.stdout:
            lines.append(line)
            if "there is no network" in line:
                break
        assert httpx.get(address, timeout=600).status_code == 200
        process.terminate()
    for name in "甲乙丙":
        assert any(f"feed:{name}: list page: " in line and "dns × 1" in line for line in lines), lines
