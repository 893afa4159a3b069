"""Figures of a topic page, similar stories, and functions of a story page."""

from __future__ import annotations

from datetime import date, timedelta

import httpx
import pytest
from lxml import html as lxml_html

from newsportal.portal.reading.story_lists import HEIGHT, bars, width
from newsportal.portal.safe_text import reading_minutes
from newsportal.portal.ttl_cache import TtlCache
from newsportal.search.base import Index
from newsportal.store.store import Store


def test_topic_page_shows_days_sites_and_categories(client: httpx.Client) -> None:
    page = lxml_html.document_fromstring(client.get("/topic/旅游").text)
    [chart] = page.xpath("//figure[@class='curve-days']//*[name()='svg']")
    assert chart.get("aria-label").endswith(tuple("123456789"))
    assert len(chart.xpath("*[name()='rect']")) == 30
    sites = page.xpath("//ul[@class='shares'][1]/li/a")
    assert "云岭晚报" in [site.text for site in sites]
    for site in sites[:2]:
        narrowed = lxml_html.document_fromstring(client.get(site.get("href")).text)
        assert narrowed.xpath("//*[contains(@class, 'headline')]")
        assert not narrowed.xpath("//figure")  # filtered lists have no chart
    assert not lxml_html.document_fromstring(client.get("/latest").text).xpath("//figure")


def test_topic_page_without_index_is_a_list(serve, store: Store) -> None:
    assert "云岭峡谷" in serve(store, None).get("/topic/旅游").text


def test_story_links_to_similar_stories(client: httpx.Client, ids: dict[str, str]) -> None:
    texts = [client.get(f"/story/{id}").text for name, id in ids.items() if name != "repost"]
    found = [lxml_html.document_fromstring(text).xpath("//section[@aria-labelledby='similar-name']//h3/a/@href") for text in texts]
    assert any(found)
    for text, links in zip(texts, found, strict=True):
        article_id = lxml_html.document_fromstring(text).xpath("//article/@data-article")[0]
        assert f"/story/{article_id}" not in links
        assert len(links) == len(set(links)) <= 4


def test_text_size_is_set_on_story_page(client: httpx.Client, ids: dict[str, str]) -> None:
    path = f"/story/{ids['bridge']}"
    form = lxml_html.document_fromstring(client.get(path).text).xpath("//form[@class='sizes']")[0]
    answer = client.get("/settings", params={"size": "large", "next": form.xpath(".//input/@value")[0]})
    assert answer.headers["location"] == path
    page = lxml_html.document_fromstring(client.get(path, headers={"cookie": "size=large"}).text)
    assert page.xpath("//form[@class='sizes']//button[@aria-pressed='true']/@value") == ["large"]
    client.cookies.clear()


@pytest.mark.parametrize(
    ("text", "expected"), [("", 0), ("。", 0), ("短讯", 1), ("字" * 4_000, 10), ("word " * 2_380, 10), ("字" * 2_000 + "word " * 1_190, 10)]
)
def test_reading_time_in_minutes(text: str, expected: int) -> None:
    assert reading_minutes(text) == expected


def test_bars_are_scaled_to_the_maximum() -> None:
    days = [(date(2026, 5, 1) + timedelta(days=number), count) for number, count in enumerate((0, 1, 1000))]
    scaled = bars(days)
    assert [bar.height for bar in scaled] == [0, 2, HEIGHT]
    assert all(bar.y + bar.height == HEIGHT for bar in scaled)
    assert scaled[-1].x + 16 == width(days)
    assert bars([]) == ()
    assert width([]) == 0


def test_ttl_cache_expires_and_is_bounded() -> None:
    clock, calls = [0.0], []
    cache: TtlCache[int] = TtlCache(10, 2, lambda: clock[0])

    def make() -> int:
        calls.append(1)
        return len(calls)

    assert [cache.get("a", make), cache.get("a", make)] == [1, 1]
    clock[0] = 10
    assert cache.get("a", make) == 2
    assert [cache.get(key, make) for key in ("b", "c", "b", "a")] == [3, 4, 3, 5]


def test_pages_work_without_search(serve, store: Store, index: Index, ids: dict[str, str]) -> None:
    from newsportal.errors import SearchError

    class Broken:
        def __getattr__(self, name: str) -> object:
            raise SearchError("away")

    client = serve(store, Broken())
    assert client.get("/topic/旅游").status_code == 200
    assert client.get(f"/story/{ids['bridge']}").status_code == 200
