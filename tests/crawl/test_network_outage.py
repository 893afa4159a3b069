"""Detection of a missing network from failed hosts."""

from __future__ import annotations

import pytest

from newsportal.crawl.visit_counters import REACHED_SECONDS, NetworkReach, is_outage


def test_several_unreachable_hosts_mean_no_network() -> None:
    now = [1000.0]
    reach = NetworkReach(lambda: now[0])
    reach.missed("feed:甲", "https://a.example/feed: no address")
    assert not reach.offline
    reach.missed("feed:甲", "https://b.example/feed: no address")
    assert reach.offline
    reach.reached()
    assert not reach.offline


def test_several_urls_of_one_host_do_not_mean_no_network() -> None:
    reach = NetworkReach()
    for path in ("news", "sport", "weather"):
        reach.missed("feed:甲", f"https://a.example/{path}: no address")
    assert not reach.offline


def test_recently_reached_host_means_network_is_available() -> None:
    now = [1000.0]
    reach = NetworkReach(lambda: now[0])
    reach.reached()
    reach.missed("feed:甲", "https://a.example/: no address")
    reach.missed("feed:甲", "https://b.example/: no address")
    assert not reach.offline
    now[0] += REACHED_SECONDS + 1
    assert reach.offline


@pytest.mark.parametrize(
    ("reasons", "expected"),
    [(["dns"], True), (["robots-unreachable", "connection"], True), (["dns", "http-404"], False), (["timeout"], False), ([], False)],
)
def test_reasons_that_mean_unreached(reasons: list[str], expected: bool) -> None:
    assert is_outage(reasons) is expected
