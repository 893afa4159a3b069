"""``/boards``, its operation of the API and its command: ranks, rank histories and matching stories."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
from factories import empty_store
from typer.testing import CliRunner

from newsportal.cli import app
from newsportal.items import content_id
from newsportal.services.boards import is_match, title_words
from newsportal.store import open_store
from newsportal.store.boards import Place
from newsportal.store.events import Assignment
from newsportal.store.store import Store

LISTS = [
    {"name": "热搜", "url": "https://a.example/hot", "items": "a", "title": "t", "link": "u"},
    {"name": "别榜", "url": "https://b.example/hot", "items": "a", "title": "t", "link": "u"},
    {"name": "新榜", "url": "https://c.example/hot", "items": "a", "title": "t", "link": "u"},
]
ARTICLE_URL = "https://tell.example/own.html"


def place(title: str, rank: int, url: str = "https://a.example/x") -> Place:
    return Place(content_id(url), title, url, rank, 35_600.0)


@pytest.fixture
def own_store(newsroom: ModuleType) -> Store:
    store = empty_store()
    (storm,) = newsroom.write(store, newsroom.article("台风海燕登陆广东沿海", "一", ago=60))
    newsroom.write(store, newsroom.article("另一件事", "二", ago=90, url=ARTICLE_URL))
    assert store.events.assign([Assignment(storm, "storm", 1.0)], {"storm": "[0,{},{},[]]"}, after=0, up_to=store.last_seq())
    quarter = timedelta(minutes=15)
    hostile = place("<b>台风</b>海燕登陆广东", 1, "https://a.example/storm")
    store.boards.add("list:热搜", newsroom.NOW - 2 * quarter, [place("<b>台风</b>海燕登陆广东", 7, "https://a.example/storm")])
    store.boards.add("list:热搜", newsroom.NOW - quarter, [hostile, place("无人问津", 2, ARTICLE_URL)])
    store.boards.add("list:别榜", newsroom.NOW, [place("台风海燕登陆", 3, "https://b.example/s")])
    return store


@pytest.fixture
def client(serve: Any, own_store: Store, newsroom: ModuleType) -> httpx.Client:
    client: httpx.Client = serve(own_store, settings=newsroom.settings(lists=LISTS))
    return client


def test_entry_shows_rank_history_and_stories(client: httpx.Client) -> None:
    page = client.get("/boards?lang=en").text
    assert page.count("data-rank") == 3
    assert "<b>台风" not in page
    assert '<a href="/event/storm">' in page
    assert page.count("台风海燕登陆广东沿海") == 2
    assert "best rank 1" in page
    assert "Heat 35,600" in page
    assert "别榜: rank 3" in page
    assert "Its ranks, the earliest first: 7, 1" in page
    assert "Not visited yet." in page
    assert client.get("/boards", params={"list": "别榜"}).text.count("data-rank") == 1


def test_api_returns_boards(client: httpx.Client) -> None:
    hot, other, new = client.get("/api/v1/boards").json()
    first, second = hot["entries"]
    assert (first["rank"], first["best"], first["event"], first["others"]) == (1, 1, "storm", [{"name": "别榜", "rank": 3}])
    assert [point["rank"] for point in first["curve"]] == [7, 1]
    assert first["since"] < hot["at"]
    assert other["entries"][0]["others"] == [{"name": "热搜", "rank": 1}]
    assert new == {"key": "list:新榜", "name": "新榜", "at": None, "entries": []}
    assert [story["title"] for story in second["stories"]] == ["另一件事"]  # matched by its URL


def test_menu_has_boards_only_with_lists(client: httpx.Client, serve: Any) -> None:
    assert 'href="/boards"' in client.get("/").text
    assert 'href="/boards"' not in serve(empty_store()).get("/").text


def test_command_prints_boards(tmp_path: Path) -> None:
    file = tmp_path / "sources.yaml"
    file.write_text(json.dumps({"store": f"sqlite:///{tmp_path}/n.db", "lists": LISTS}), "utf-8")
    run = CliRunner()
    store = open_store(f"sqlite:///{tmp_path}/n.db")
    from datetime import UTC, datetime

    store.boards.add("list:热搜", datetime(2026, 5, 1, tzinfo=UTC), [place("台风海燕登陆", 4)])
    store.close()
    result = run.invoke(app, ["boards", "热搜", "--sources", str(file)])
    assert (result.exit_code, "台风海燕登陆" in result.output, "35600" in result.output) == (0, True, True)
    lines = [json.loads(line) for line in run.invoke(app, ["boards", "--json", "--sources", str(file)]).output.splitlines()]
    assert [(board["key"], len(board["entries"])) for board in lines] == [("list:热搜", 1), ("list:别榜", 0), ("list:新榜", 0)]
    assert "newsportal crawl lists --source list:别榜" in run.invoke(app, ["boards", "别榜", "--sources", str(file)]).output
    unknown = run.invoke(app, ["boards", "热叟", "--sources", str(file)])
    assert "it has: 热搜, 别榜, 新榜" in str(unknown.exception)


def test_match_needs_two_words_and_half_of_the_entry() -> None:
    words = title_words("台风海燕登陆广东 2026")
    assert {"台风", "登陆", "广东"} <= words
    assert "2026" not in words
    assert not is_match(words, 1)
    assert is_match(frozenset("甲乙丙丁"), 2)
    assert not is_match(frozenset("甲乙丙丁戊"), 2)
