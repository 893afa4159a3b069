"""The front page: its two orders, the mark of new stories, and the caching of queries."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import ModuleType
from typing import Any

import httpx
import pytest
from lxml import html as lxml_html

from newsportal.items import Image
from newsportal.portal.preferences import last_visit
from newsportal.portal.reading import front_cache
from newsportal.portal.reading.front_cache import FrontCache
from newsportal.portal.reading.front_page import top_story
from newsportal.store.results import StoryFilter
from newsportal.store.store import Store

NOW = datetime(2026, 5, 20, 10, 30, tzinfo=UTC)


def page_of(client: httpx.Client, cookie: str = "") -> lxml_html.HtmlElement:
    answer = client.get("/", headers={"cookie": cookie} if cookie else {})
    assert answer.status_code == 200
    return lxml_html.document_fromstring(answer.text)


def test_ranked_boards_show_rank_heat_and_movement(client: httpx.Client) -> None:
    page = page_of(client, "boards=ranked")
    names = [name.split()[0] for name in (node.text_content() for node in page.xpath("//section[@class='board']/h2"))]
    assert names == ["全部报道", "旅游", "人工智能", "新能源汽车"]
    first = page.xpath("//section[@class='board'][2]//li")
    assert first[0].xpath("string(h3)").startswith("云岭峡谷")
    assert "热度" in first[0].xpath("string(p)")
    assert "5 家媒体" in first[0].xpath("string(p)")
    assert page.xpath("//p[@class='meta']/span[@class='up']")
    assert not page.xpath("//section[@class='lead']")
    pressed = page.xpath("//form[@class='orders']//button[@aria-pressed='true']")
    assert [node.text for node in pressed] == ["最热"]


def test_chosen_order_is_stored_in_a_cookie(client: httpx.Client) -> None:
    answer = client.get("/settings", params={"boards": "ranked", "next": "/"})
    client.cookies.clear()
    assert answer.headers["location"] == "/"
    assert answer.headers["set-cookie"].startswith("boards=ranked;")
    assert page_of(client).xpath("//section[@class='lead']")  # without a choice: in order of time


def test_stories_since_last_visit_are_marked(client: httpx.Client) -> None:
    assert not page_of(client).xpath("//p[@class='since']")
    moment = int((NOW - timedelta(hours=4)).timestamp())
    page = page_of(client, f"visited=0.{moment}")
    text = page.xpath("string(//p[@class='since']/a)")
    assert text.startswith("上次来访后有")
    number = int("".join(filter(str.isdigit, text)))
    every = len(lxml_html.document_fromstring(client.get("/latest").text).xpath("//*[contains(@class, 'headline')]"))
    assert 0 < number < every
    assert page.xpath("//span[@class='fresh']")
    assert page_of(client, f"visited=0.{moment}; boards=ranked").xpath("//span[@class='fresh']")


class FakeRequest:
    def __init__(self, **cookies: str) -> None:
        self.cookies = cookies


@pytest.mark.parametrize(
    ("cookie", "ended", "next_ended"),
    [
        ("", None, 0),
        ("0.{hour}", -60, -60),  # the visit an hour ago is over
        ("{hour}.{minute}", -60, -60),  # the same visit continues: its start still counts
        ("{hour}.{later}", None, 0),  # a clock set back
        ("{minute}.{hour}", None, 0),
        ("99999999999.99999999999", None, 0),
        ("-1.<script>", None, 0),
    ],
)
def test_visit_ends_after_a_pause(cookie: str, ended: int | None, next_ended: int) -> None:
    stamp = {name: int((NOW + timedelta(minutes=minutes)).timestamp()) for name, minutes in (("hour", -60), ("minute", -1), ("later", 9))}
    request: Any = FakeRequest(visited=cookie.format(**stamp))
    found, stored = last_visit(request, NOW)
    assert found == (None if ended is None else NOW + timedelta(minutes=ended))
    assert stored == f"{int((NOW + timedelta(minutes=next_ended)).timestamp()) if next_ended else 0}.{int(NOW.timestamp())}"


class CountingStore:
    """Store that counts the lists requested of it."""

    def __init__(self, store: Store) -> None:
        self.store, self.lists = store, 0

    def __getattr__(self, name: str) -> Any:
        self.lists += name == "stories"
        return getattr(self.store, name)


def test_front_page_is_cached_until_the_store_changes(fresh: Store, newsroom: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    newsroom.write(fresh, newsroom.article("一", "一的正文" * 20))
    counting: Any = CountingStore(fresh)
    fronts = FrontCache(counting)
    first = fronts.get(["旅游"], {}, NOW, by_rank=False)
    before = counting.lists
    assert fronts.get(["旅游"], {}, NOW, by_rank=False) is first
    assert counting.lists == before
    newsroom.write(fresh, newsroom.article("二", "二的正文" * 20))
    monkeypatch.setattr(front_cache, "SLOW_SECONDS", 1e9)
    assert len(fronts.get(["旅游"], {}, NOW, by_rank=False).latest.stories) == 2
    newsroom.write(fresh, newsroom.article("三", "三的正文" * 20))
    monkeypatch.setattr(front_cache, "SLOW_SECONDS", 0)
    monkeypatch.setattr(front_cache, "SPARE", 1e9)
    assert len(fronts.get(["旅游"], {}, NOW, by_rank=False).latest.stories) == 2
    fresh.hide([first.latest.stories[0].head.id], by="林编辑", reason="侵权", now=NOW)
    assert {story.head.title for story in fronts.get(["旅游"], {}, NOW, by_rank=False).latest.stories} == {"二", "三"}, "hidden immediately"
    assert len(fronts.get([], {}, NOW, by_rank=True).latest.stories) == 2


def test_each_story_appears_once_on_the_front_page(client: httpx.Client) -> None:
    page = page_of(client)
    ids = [link.get("href").partition("?")[0] for link in page.xpath("//main//*[contains(@class, 'headline')]/a")]
    assert len(ids) == len(set(ids)) >= 10


def test_top_story_has_a_picture_if_possible(newsroom: ModuleType, fresh: Store) -> None:
    pictured = newsroom.article("有图的一家报道", "港口今天很忙。" * 9, images=(Image("https://a.example/1.jpg", width=800, height=600),))
    for article in (pictured, newsroom.article("没有图", "码头今天很静。" * 9, ago=5)):
        newsroom.write(fresh, article)
    stories = fresh.stories(StoryFilter()).stories
    top = top_story(stories, stories)
    assert top is not None
    assert top.head.title == "有图的一家报道"
