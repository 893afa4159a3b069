"""``/briefing``, its days, its feed and its operation of the API."""

from __future__ import annotations

import re

import httpx
import pytest


def test_briefing_has_sentences_with_links(client: httpx.Client) -> None:
    page = client.get("/briefing").text
    assert page.count("data-brief") >= 3
    assert "云岭峡谷步行观景桥今日开放" in page
    assert "<p>历时四年建设" in page or "这座桥全长六百二十米" in page
    assert 'href="/briefing/2026-05-19"' in page


def test_day_briefing_of_a_topic(client: httpx.Client) -> None:
    page = client.get("/briefing/2026-05-20", params={"topic": "旅游"}).text
    assert "今天" in page
    assert "云岭峡谷" in page
    assert 'rel="next" href="/briefing?topic=' in page
    assert 'rel="next" href="/briefing/2026-05-20"' in client.get("/briefing/2026-05-19").text


@pytest.mark.parametrize(
    "path",
    [
        "/briefing/tomorrow",
        "/briefing/2026-05-21",
        "/briefing/0001-01-01",
        "/briefing/1999-01-01",
        "/briefing/20260520",
        "/briefing?topic=无",
    ],
)
def test_unknown_briefing_is_not_found(client: httpx.Client, path: str) -> None:
    assert client.get(path).status_code == 404


def test_news_since_last_briefing_are_marked(client: httpx.Client) -> None:
    client.cookies.clear()
    page = client.get("/briefing", headers={"cookie": "briefed=0.1779240000"}).text  # two hours before
    assert "上次简报之后有" in page
    client.cookies.clear()
    assert "上次简报之后有" not in client.get("/briefing").text


def test_feed_has_one_entry_per_day(client: httpx.Client) -> None:
    items = client.get("/briefing/feed.json").json()["items"]
    assert [item["title"] for item in items][:1] == ["简报 2026-05-19"]
    assert "/story/" in items[0]["content_html"]
    assert client.get("/briefing/feed.xml").status_code == 404


def test_feeds_of_the_page_exist(client: httpx.Client) -> None:
    feeds = set(re.findall(r'href="(/briefing/feed\.[^"]+)"', client.get("/briefing").text))
    assert {client.get(url).status_code for url in feeds} == {200}


def test_api_returns_briefing(client: httpx.Client) -> None:
    data = client.get("/api/v1/briefing", params={"day": "2026-05-20", "topic": "旅游"}).json()
    assert data["topic"] == "旅游"
    assert data["events"][0]["sentences"][0]["url"].startswith("https://")
    assert client.get("/api/v1/briefing", params={"day": "2999-01-01"}).status_code == 404
