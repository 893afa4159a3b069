"""The delay of ``sources.yaml`` is a host's: a feed and a region of one site share it, although two spiders visit them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from forked import crawl

from newsportal.crawl.handlers.guarded import HostPacer

DELAY = 0.3
SHARE = 0.8
"""Of all pauses together: the first request may arrive late on a busy machine. Spiders that do not share a delay take half as long."""

SOURCES = """\
store: sqlite:///data/newsportal.db
politeness: {{delay: {delay}, allow_private: [{host}]}}
feeds:
  - {{name: feed, url: "{base}/feed"}}
regions:
  - {{name: region, prefix: "{base}/"}}
"""


START = 1000.0
"""Of :class:`Clock`, as a machine's that has run for a while."""


class Clock(asyncio.SelectorEventLoop):
    """An event loop whose time is the sum of the waits: nothing else makes it pass."""

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


def passed(hosts: str, delay: float) -> list[float]:
    """When each of ``hosts``, one letter each, that all come at once, is let through."""
    pacer = HostPacer()

    async def passes(host: str) -> float:
        await pacer.wait_turn(host, delay)
        return asyncio.get_running_loop().time() - START

    async def all_pass() -> list[float]:
        return await asyncio.gather(*map(passes, hosts))

    with asyncio.Runner(loop_factory=Clock) as runner:
        return runner.run(all_pass())


def test_a_host_is_passed_at_its_pace_and_others_do_not_wait() -> None:
    assert passed("aaab", 0.1) == pytest.approx([0.0, 0.1, 0.2, 0.0])


def test_no_delay_is_no_delay() -> None:
    assert passed("a" * 1000, 0) == [0.0] * 1000


@pytest.mark.slow
def test_two_spiders_share_the_delay_of_a_host(web: Any, tmp_path: Path) -> None:
    web.reset()
    base = web.url("haitang", "")
    sources = tmp_path / "sources.yaml"
    sources.write_text(SOURCES.format(delay=DELAY, host=base.split("/")[2].split(":")[0], base=base), encoding="utf-8")
    crawl(sources)
    moments = sorted(visit.time for visit in web.requests if visit.site == "haitang")
    pauses = len(moments) - 1
    assert pauses > 10
    assert moments[-1] - moments[0] >= SHARE * pauses * DELAY, moments
