"""The schedule of ``sources.yaml``: rules of each source, due times, the budget."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from newsportal.items.visits import Visit
from newsportal.schedule.policies import Rules
from newsportal.sources import Sources, load, timing
from newsportal.store.results import SourceState

NOW = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
FILE = """\
schedule: {usual: 30, shortest: 5, longest: 300, per_hour: 6}
portal: {timezone: Asia/Shanghai}
feeds:
  - {name: 甲, url: "https://a.example/rss"}
  - {name: 乙, url: "https://b.example/rss", interval: 7}
regions:
  - {name: 丙, prefix: "https://c.example/news/", hours: 6-9}
  - {name: 丁, prefix: "https://d.example/news/"}
galleries:
  - {name: 戊, seeds: "https://e.example/", weight: 10, min_period: 20, max_period: 200}
"""


@pytest.fixture
def config(tmp_path: Path) -> Sources:
    (tmp_path / "sources.yaml").write_text(FILE, "utf-8")
    return load(tmp_path / "sources.yaml")


def rules(config: Sources, name: str) -> Rules:
    return timing.rules(config, config.find(name)[0])


def test_sources_get_their_rules(config: Sources) -> None:
    plain = rules(config, "甲")
    assert (plain.policy, plain.usual, plain.shortest, plain.longest, plain.interval) == ("learnt", 30, 5, 300, None)
    assert str(plain.zone) == "Asia/Shanghai"
    assert rules(config, "乙").interval == 7
    assert rules(config, "丙").hours == {6, 7, 8, 9}
    assert rules(config, "丁").hours == frozenset(), "all hours mean no restriction"
    weighed = rules(config, "戊")
    assert (weighed.policy, weighed.weight, weighed.shortest, weighed.longest) == ("weight", 10, 20, 200)


def test_search_engines_are_visited_at_most_hourly(config: Sources) -> None:
    from newsportal.sources.timing import Engine

    found = timing.rules(config, Engine("engine:bing_news"))
    assert (found.usual, found.shortest) == (60, 60)


def test_planned_visit_is_kept_but_bounded(config: Sources) -> None:
    rule = rules(config, "甲")
    state = SourceState("feed:甲", last_run=NOW - HOUR, next_visit=NOW + HOUR)
    assert timing.due_at(state, rule, NOW) == NOW + HOUR
    far = replace(state, next_visit=NOW + timedelta(days=300))
    assert timing.due_at(far, rule, NOW) <= NOW + timedelta(days=1)
    resting = replace(state, rest_until=NOW + 3 * HOUR)
    assert timing.due_at(resting, rule, NOW) == NOW + 3 * HOUR


def test_changed_interval_overrides_plan(config: Sources) -> None:
    state = SourceState("feed:乙", last_run=NOW, next_visit=NOW + 9 * HOUR)
    assert timing.due_at(state, rules(config, "乙"), NOW) == NOW + timedelta(minutes=7)


def test_source_without_state_or_with_future_visits_is_due(config: Sources) -> None:
    rule = rules(config, "甲")
    assert timing.due_at(None, rule, NOW) == NOW
    assert timing.due_at(SourceState("feed:甲", last_run=NOW + timedelta(days=9), next_visit=NOW + timedelta(days=10)), rule, NOW) == NOW


def test_implausible_rest_ends_immediately(config: Sources) -> None:
    rule = rules(config, "甲")
    state = SourceState("feed:甲", last_run=NOW - HOUR, next_visit=NOW, rest_until=NOW + timedelta(days=365))
    assert timing.due_at(state, rule, NOW) == NOW
    assert timing.due_at(replace(state, last_run=None), rule, NOW) == NOW
    assert timing.due_at(replace(state, rest_until=NOW + timedelta(days=7)), rule, NOW) == NOW + timedelta(days=7), "a quarantine"


def test_websub_hub_advances_source_with_fixed_interval(config: Sources) -> None:
    rule = rules(config, "乙")
    state = SourceState("feed:乙", last_run=NOW, next_visit=NOW + timedelta(minutes=2))
    assert timing.due_at(state, rule, NOW) == NOW + timedelta(minutes=2)
    assert timing.due_at(replace(state, rest_until=NOW + HOUR), rule, NOW) == NOW + HOUR


def test_outdated_plan_does_not_repeat_visits(config: Sources) -> None:
    stale = SourceState("feed:甲", last_run=NOW, next_visit=NOW - HOUR)
    assert timing.due_at(stale, rules(config, "甲"), NOW) >= NOW + timedelta(minutes=5)
    assert timing.due_at(replace(stale, source="feed:乙"), rules(config, "乙"), NOW) == NOW + timedelta(minutes=7)


def test_visits_with_future_dates_do_not_cause_immediate_plan(config: Sources) -> None:
    future = Visit("feed:甲", NOW + timedelta(days=300), list_pages=1, entries=9, new=3)
    found = timing.plan(SourceState("feed:甲", last_run=NOW), [future], rules(config, "甲"), NOW)
    assert found.at >= NOW + timedelta(minutes=5)


def test_plan_backs_off_after_failures_and_learns_rate(config: Sources) -> None:
    rule = rules(config, "甲")
    visits = [Visit("feed:甲", NOW - n * HOUR, list_pages=1, entries=9, new=3) for n in range(48)]
    good = timing.plan(SourceState("feed:甲", last_run=NOW), visits, rule, NOW)
    failing = timing.plan(SourceState("feed:甲", last_run=NOW, failures_in_row=4), visits, rule, NOW)
    assert good.rate is not None
    assert 50 < good.rate < 90
    assert failing.at == NOW + timedelta(minutes=30 * 16)


def test_price_meets_budget(config: Sources) -> None:
    states = [SourceState(f"feed:{n}", rate=float(rate)) for n, rate in enumerate((1, 10, 100))]
    keys = frozenset(state.source for state in states)
    found = timing.request_price(config, states, keys)
    assert found is not None
    visits = sum((rate / (2 * found)) ** 0.5 for rate in (1, 10, 100))
    assert visits == pytest.approx(6 * 24, rel=0.01)
    assert timing.request_price(config, [SourceState("feed:x")], frozenset({"feed:x"})) is None
    half = timing.request_price(config, states, keys | {"feed:3", "feed:4", "feed:5"})
    assert half == pytest.approx(4 * found, rel=0.01), "three of six sources get half of the budget"


def test_shortest_above_longest_is_refused(tmp_path: Path) -> None:
    from newsportal.errors import SourcesError

    (tmp_path / "sources.yaml").write_text("schedule: {shortest: 90, longest: 30}\n", "utf-8")
    with pytest.raises(SourcesError, match="more than longest"):
        load(tmp_path / "sources.yaml")
