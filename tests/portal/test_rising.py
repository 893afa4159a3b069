"""``/rising``, its days and topics, and its operation of the API."""

from __future__ import annotations

from datetime import timedelta
from types import ModuleType
from typing import Any

import httpx
import pytest
from factories import empty_store

from newsportal.store.events import Assignment
from newsportal.store.store import Store

EVIL = "<b>台风</b>"


@pytest.fixture
def own_store(newsroom: ModuleType) -> Store:
    """A store with two stories about 天气 each day, and six of one event about a storm in the last hours."""
    store = empty_store()

    def write(ago: int, number: int, *words: str, topics: tuple[str, ...] = ()) -> str:
        article = newsroom.article(f"{words[0]}{number}", f"{ago}", site=f"站点{number}", ago=ago, keywords=words, topics=topics)
        return str(newsroom.write(store, article)[0])

    for day in range(12):
        for number in range(2):
            write(day * 1440 + 120, number, "天气", topics=("旅游",))
    ids = [write(60, number, EVIL, "海燕", topics=("旅游",) if number < 4 else ()) for number in range(6)]
    assignments = [Assignment(id, "storm", 1.0) for id in ids]
    assert store.events.assign(assignments, {"storm": "[0,{},{},[]]"}, after=0, up_to=store.last_seq())
    return store


@pytest.fixture
def client(serve: Any, own_store: Store) -> httpx.Client:
    client: httpx.Client = serve(own_store)
    return client


def test_words_and_events_have_links(client: httpx.Client) -> None:
    page = client.get("/rising?lang=en").text
    assert page.count("data-rise") == 2
    assert '<a href="/event/storm">' in page
    assert "/search?q=%22%3Cb%3E" in page
    assert EVIL not in page
    assert "0.5 expected" in page
    assert "Stories a day, the earliest first: 0, 0" in page
    assert "天气" not in page.partition("<main")[2].replace("天气0", "")


def test_topic_and_week_in_chinese(client: httpx.Client) -> None:
    page = client.get("/rising", params={"topic": "旅游", "lang": "zh"}).text
    assert "往常 0.5 条" in page
    assert "4 条报道" in page
    assert "此前四周的报道太少" in client.get("/rising?days=7").text


def test_earlier_day(client: httpx.Client, newsroom: ModuleType) -> None:
    page = client.get("/rising?at=2026-05-19&lang=en").text
    assert "Nothing is rising" in page
    assert "As of that day." in page
    assert 'rel="next" href="/rising?at=2026-05-20"' in page
    assert page.count('rel="prev" href="/rising?at=2026-05-18"') == 1


@pytest.mark.parametrize("query", ["at=tomorrow", "at=2026-05-21", "at=0001-01-05", "topic=无"])
def test_unknown_day_or_topic_is_not_found(client: httpx.Client, query: str) -> None:
    assert client.get(f"/rising?{query}").status_code == 404


def test_api_returns_rising_words_and_events(client: httpx.Client, newsroom: ModuleType) -> None:
    data = client.get("/api/v1/rising").json()
    assert (data["stories"], data["past"]) == (8, 22)
    assert [(word["title"], word["event"], word["related_words"], word["stories"]) for word in data["words"]] == [
        (EVIL, "storm", ["海燕"], 6)
    ]
    assert [event["event"] for event in data["events"]] == ["storm"]
    before = (newsroom.NOW - timedelta(hours=3)).isoformat()
    assert client.get("/api/v1/rising", params={"at": before, "topic": "旅游"}).json()["words"] == []
    assert client.get("/api/v1/rising", params={"at": "0001-01-05T00:00:00Z"}).status_code == 400
    assert client.get("/api/v1/rising", params={"days": 29}).status_code == 422
