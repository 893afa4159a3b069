"""Which hub pages of a region are fetched, and when again."""

from __future__ import annotations

from newsportal.schedule.policies import (
    DAY,
    MAX_HUBS,
    MAX_TRIES,
    MAX_UNLINKED,
    HubPage,
    Rules,
    add_hubs,
    choose_hubs,
    hub_interval,
    hub_rate,
    record_articles,
    record_request,
)

NOW = 1_772_700_000.0
HOUR = 3600.0
RULES = Rules("region:甲")


def chosen(pages: dict[str, HubPage], **limits: object) -> list[str]:
    return choose_hubs(pages, RULES, None, NOW, **{"depth": 2, "limit": 30, "began": NOW - 1, **limits})  # type: ignore[arg-type]


def productive_page(days: int, each_day: int) -> HubPage:
    """Return a hub page that was fetched every six hours and yielded ``each_day`` articles a day."""
    page = HubPage(1, NOW - days * DAY, NOW)
    for hour in range(0, days * 24, 6):
        page = record_articles(record_request(page, NOW - days * DAY + hour * HOUR), each_day if hour % 24 == 6 else 0)
    return page


def test_productive_page_is_fetched_more_often() -> None:
    intervals = [hub_interval(productive_page(20, number), RULES, 50.0, NOW) for number in (40, 10, 2, 0)]
    assert intervals == sorted(intervals)
    assert intervals[0] < 2 * HOUR
    assert intervals[-1] == RULES.longest * 60


def test_rate_matches_articles_per_day() -> None:
    assert 9 < hub_rate(productive_page(40, 10), NOW) < 11
    assert hub_rate(productive_page(40, 0), NOW) < 0.3


def test_first_response_does_not_count_as_recent() -> None:
    page = record_articles(record_request(HubPage(1, NOW, NOW), NOW), 20)
    assert (page.found, page.recent) == (20, 0.0)
    assert record_articles(page, 2).recent == 2.0


def test_higher_price_means_longer_interval() -> None:
    dear = Rules("region:甲", price=RULES.usual)
    assert hub_interval(productive_page(20, 40), dear, 50.0, NOW) > hub_interval(productive_page(20, 40), RULES, 50.0, NOW)


def test_new_pages_go_first_by_depth() -> None:
    pages = {"a": HubPage(1, NOW - DAY, NOW, NOW - DAY, 3), "b": HubPage(2, NOW, NOW), "c": HubPage(1, NOW, NOW), "d": HubPage(3, NOW, NOW)}
    assert chosen(pages) == ["c", "b", "a"]
    assert chosen(pages, limit=2) == ["c", "b"]


def test_page_is_not_fetched_twice_per_visit_or_too_early() -> None:
    assert chosen({"a": HubPage(1, NOW, NOW, NOW)}) == []
    assert chosen({"a": HubPage(1, NOW, NOW, NOW - 120)}) == []
    assert chosen({"a": HubPage(1, NOW, NOW, NOW - 13 * HOUR)}) == ["a"]


def test_fetched_pages_count_against_visit_limit() -> None:
    pages = {"a": HubPage(1, NOW, NOW, NOW), "b": HubPage(1, NOW, NOW), "c": HubPage(1, NOW, NOW)}
    assert chosen(pages, limit=2) == ["b"]


def test_unproductive_numbered_pages_are_given_up() -> None:
    days = {f"https://a.example/day?d=2026-03-{day:02}": HubPage(1, NOW, NOW) for day in range(1, 31)}
    assert len(chosen(days)) == MAX_TRIES
    vain = {url: page._replace(asked=NOW - 60) if place < MAX_TRIES else page for place, (url, page) in enumerate(days.items())}
    assert chosen(vain) == []
    first = next(iter(vain))
    assert len(chosen(vain | {first: vain[first]._replace(found=1)})) == MAX_TRIES + 1


def test_unlinked_pages_are_forgotten_and_count_is_bounded() -> None:
    pages = {"old": HubPage(1, NOW - MAX_UNLINKED, NOW - MAX_UNLINKED), "b": HubPage(2, NOW - DAY, NOW - DAY)}
    found = add_hubs(pages, ["b", *(f"n{number}" for number in range(MAX_HUBS))], 1, NOW)
    assert "old" not in found
    assert found["b"] == HubPage(1, NOW - DAY, NOW)
    assert len(found) == MAX_HUBS
