"""The page of rising subjects, also without scripts: it fits a phone, and its rows link to events and searches."""

from __future__ import annotations

from typing import Any

import pytest
from factories import invented

from newsportal.store.events import Assignment

PHONE = {"width": 390, "height": 844}


@pytest.fixture
def site(own_site: Any) -> Any:
    """Return a portal with a story every six hours for two weeks, and ten about a storm in the last hours, in one event."""
    newsroom, store = own_site.newsroom, own_site.store

    def write(title: str, ago: int, number: int, *words: str) -> str:
        article = newsroom.article(
            title + invented(ago + number, 12), invented(ago + number), site=f"站点{number % 4}", ago=ago, keywords=words
        )
        return str(newsroom.write(store, article)[0])

    for number in range(4 * 14):
        write("天气预报", 1441 + 360 * number, number, "天气")
    storm = [write("台风海燕今晨在沿海三县登陆", 90, number, "台风", "海燕", "沿海三县", "Typhoon Haiyan") for number in range(10)]
    assert store.events.assign([Assignment(id, "storm", 1.0) for id in storm], {"storm": "[0,{},{},[]]"}, after=0, up_to=store.last_seq())
    return own_site


def test_page_fits_and_is_accessible(visit: Any, violations: Any, appearance: dict[str, Any]) -> None:
    page = visit(**appearance).go("/rising")
    assert page.locator("[data-rise]").count() == 2
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert violations(page) == []


def test_rows_link_to_event_and_search_without_scripts(visit: Any) -> None:
    page = visit(locale="en", viewport=PHONE, java_script_enabled=False).go("/rising")
    assert page.locator("[data-rise] svg rect").count() > 2
    page.locator("[data-rise=event] h3 a").click()
    assert page.url.endswith("/event/storm")
    page.go_back()
    page.locator("[data-rise=word] h3 a").first.click()
    assert "/search?q=" in page.url
    page.go_back()
    page.get_by_role("link", name="The day before").click()
    assert "at=2026-05-19" in page.url
