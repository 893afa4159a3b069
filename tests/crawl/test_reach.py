"""Whether there is a network, by what was met of the hosts."""

from __future__ import annotations

import pytest

from newsportal.crawl.visit_counters import LATELY, Reach, unreached


def test_several_hosts_that_are_not_reached_mean_that_the_network_is_away() -> None:
    now = [1000.0]
    reach = Reach(lambda: now[0])
    reach.missed("feed:甲", "https://a.example/feed: no address")
    assert not reach.away
    reach.missed("feed:甲", "https://b.example/feed: no address")
    assert reach.away
    reach.reached()
    assert not reach.away


def test_several_sources_of_one_host_say_nothing_of_the_network() -> None:
    reach = Reach()
    for path in ("news", "sport", "weather"):
        reach.missed("feed:甲", f"https://a.example/{path}: no address")
    assert not reach.away


def test_who_was_reached_lately_shows_that_there_is_a_network() -> None:
    now = [1000.0]
    reach = Reach(lambda: now[0])
    reach.reached()
    reach.missed("feed:甲", "https://a.example/: no address")
    reach.missed("feed:甲", "https://b.example/: no address")
    assert not reach.away
    now[0] += LATELY + 1
    assert reach.away


@pytest.mark.parametrize(
    ("reasons", "said"),
    [(["dns"], True), (["robots-unreachable", "connection"], True), (["dns", "http-404"], False), (["timeout"], False), ([], False)],
)
def test_which_reasons_say_that_a_host_was_not_reached(reasons: list[str], said: bool) -> None:
    assert unreached(reasons) is said
