"""The delay of ``sources.yaml`` is a host's: a feed and a region of one site share it, although two spiders visit them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from newsportal.handlers.gate import Gate

DELAY = 0.3
SLACK = 0.12
"""Seconds by which two requests may come closer on their way: connections are opened, threads wait for the processor."""

SOURCES = """\
store: sqlite:///data/newsportal.db
politeness: {{delay: {delay}, allow_private: [{host}]}}
feeds:
  - {{name: feed, url: "{base}/feed"}}
regions:
  - {{name: region, prefix: "{base}/"}}
"""


def test_a_host_is_passed_at_its_pace_and_others_do_not_wait() -> None:
    async def three_and_one() -> list[float]:
        gate, began = Gate(), time.monotonic()

        async def passes(host: str) -> float:
            await gate.passing(host, 0.1)
            return time.monotonic() - began

        return await asyncio.gather(*(passes(host) for host in ("a", "a", "a", "b")))

    first, second, third, other = asyncio.run(three_and_one())
    assert second >= 0.09
    assert third >= 0.19
    assert max(first, other) < 0.09


def test_no_delay_is_no_delay() -> None:
    began = time.monotonic()
    gate = Gate()

    async def many() -> None:
        for _ in range(1000):
            await gate.passing("a", 0)

    asyncio.run(many())
    assert time.monotonic() - began < 1


@pytest.mark.slow
def test_two_spiders_share_the_delay_of_a_host(web: Any, tmp_path: Path) -> None:
    web.reset()
    base = web.url("haitang", "")
    sources = tmp_path / "sources.yaml"
    sources.write_text(SOURCES.format(delay=DELAY, host=base.split("/")[2].split(":")[0], base=base), encoding="utf-8")
    command = [sys.executable, "-m", "newsportal", "crawl", "--sources", str(sources)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    moments = sorted(visit.time for visit in web.requests if visit.site == "haitang")
    gaps = [later - earlier for earlier, later in pairwise(moments)]
    assert len(gaps) > 10
    assert min(gaps) >= DELAY - SLACK, gaps
