"""The delay of ``sources.yaml`` applies to a host: a feed and a region of one site share it, although two spiders visit them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from forked import crawl

from newsportal.crawl.handlers.guarded import HostPacer

DELAY = 0.3
SHARE = 0.8
"""Share of all pauses together: the first request may arrive late on a busy machine. Spiders without a shared delay take half as long."""

SOURCES = """\
store: sqlite:///data/newsportal.db
politeness: {{delay: {delay}, allow_private: [{host}]}}
feeds:
  - {{name: feed, url: "{base}/feed"}}
regions:
  - {{name: region, prefix: "{base}/"}}
"""


START = 1000.0
"""Start of :class:`Clock`, like a machine that has been running for a while."""


class Clock(asyncio.SelectorEventLoop):
    """An event loop whose time advances only by its waits."""

    def __init__(self) -> None:
        self.now = START
        super().__init__()
        wait = self._selector.select  # type: ignore[attr-defined]

        def select(timeout: float | None = None) -> Any:
            self.now += timeout or 0.0
            return wait(0)

        self._selector.select = select  # type: ignore[attr-defined]

    def time(self) -> float:
        return self.now


def pass_times(hosts: str, delay: float) -> list[float]:
    """Return when each of ``hosts``, one letter each and all arriving at once, may proceed."""
    pacer = HostPacer()

    async def passes(host: str) -> float:
        await pacer.wait(host, delay)
        return asyncio.get_running_loop().time() - START

    async def all_pass() -> list[float]:
        return await asyncio.gather(*map(passes, hosts))

    with asyncio.Runner(loop_factory=Clock) as runner:
        return runner.run(all_pass())


def test_delay_applies_per_host() -> None:
    assert pass_times("aaab", 0.1) == pytest.approx([0.0, 0.1, 0.2, 0.0])


def test_zero_delay_never_waits() -> None:
    assert pass_times("a" * 1000, 0) == [0.0] * 1000


@pytest.mark.slow
def test_spiders_share_delay_of_host(web: Any, tmp_path: Path) -> None:
    web.reset()
    base = web.url("haitang", "")
    sources = tmp_path / "sources.yaml"
    sources.write_text(SOURCES.format(delay=DELAY, host=base.split("/")[2].split(":")[0], base=base), encoding="utf-8")
    crawl(sources)
    moments = sorted(visit.time for visit in web.requests if visit.site == "haitang")
    pauses = len(moments) - 1
    assert pauses > 10
    assert moments[-1] - moments[0] >= SHARE * pauses * DELAY, moments
