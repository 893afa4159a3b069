"""Pages, feeds and API of events, and their changes by editors."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import ModuleType
from typing import Any

import httpx
import pytest
from factories import empty_store

from newsportal.items import Image
from newsportal.store.events import Assignment
from newsportal.store.store import Store

EVIL = "<script>alert(1)</script>"
TEXTS = (
    "青河大桥5月16日晚垮塌，两人受伤，救援人员连夜赶到现场。",
    "青河大桥17日开始清理，渡船临时开航，居民过河不再绕行。",
    "法院宣布，施工方负责人获刑三年，这是一句没有日期的话。",
)


@pytest.fixture
def own_store(newsroom: ModuleType) -> Store:
    """An event with three stories on three days, and one with a single story."""
    store = empty_store()
    titles = ("大桥垮塌", f"清理开始{EVIL}", "负责人获刑", "海带丰收")
    texts = (*TEXTS, "沿海三县的海带丰收，渔民天不亮就出海割海带。")
    picture = Image("https://pictures.example/1.jpg", width=640, height=480)
    ids = []
    for number, (title, text) in enumerate(zip(titles, texts, strict=True)):
        article = newsroom.article(title, text * 3, site=f"站点{number}", topics=("旅游",), ago=(4 - number) * 1440)
        ids += newsroom.write(store, replace(article, images=(picture,)))
    assignments = [Assignment(id, "bridge", 0.5, ("青河", "垮塌")) for id in ids[:3]] + [Assignment(ids[3], "kelp", 1.0)]
    assert store.events.assign(assignments, {"bridge": "[0,{},{},[]]", "kelp": "[0,{},{},[]]"}, after=0, up_to=store.last_seq())
    store.ids = ids  # type: ignore[attr-defined]
    return store


@pytest.fixture
def client(serve: Any, own_store: Store) -> httpx.Client:
    client: httpx.Client = serve(own_store)
    return client


@pytest.fixture
def editor(serve: Any, own_store: Store) -> httpx.Client:
    client: httpx.Client = serve(own_store, role="editor")
    client.headers["origin"] = str(client.base_url).rstrip("/")
    return client


def test_list_shows_events_with_explained_weight(client: httpx.Client) -> None:
    page = client.get("/events?lang=en").text
    assert "大桥垮塌" in page
    assert "海带丰收" not in page
    assert re.search(r'title="Heat [\d.,]+: the number of reports, each counting half after 12 hours"', page)
    assert "3 stories · 3 sites" in page
    assert "大桥垮塌" in client.get("/events", params={"topic": "旅游"}).text
    assert "暂无由多条报道组成的事件" in client.get("/events", params={"topic": "别的", "lang": "zh"}).text


def test_event_page_has_timeline_and_first_report(client: httpx.Client) -> None:
    answer = client.get("/event/bridge?lang=zh")
    assert answer.status_code == 200
    page = answer.text
    assert re.findall(r'<time datetime="(\d{4}-\d\d-\d\d)">', page.split('id="points-name"')[1].split("</ol>")[0]) == [
        "2026-05-16", "2026-05-17", "2026-05-18",
    ]  # fmt: skip
    assert "最早报道：站点0" in page
    assert "归入依据：青河 · 垮塌" in page
    assert "发布日期" in page, "the third text has no date"
    assert EVIL not in page
    assert "置顶" not in page, "readers see no buttons of editors"


def test_story_shows_its_event_and_neighbours(client: httpx.Client, own_store: Store) -> None:
    first, second, third, single = own_store.ids  # type: ignore[attr-defined]
    part = client.get(f"/story/{second}?lang=en").text.split('id="event-name"')[1].split("</section>")[0]
    assert re.findall(r'href="/story/(\w+)"', part) == [first, third]
    assert 'href="/event/bridge"' in part
    assert 'id="event-name"' not in client.get(f"/story/{single}").text


def test_front_page_has_pinned_then_weightiest_events(editor: httpx.Client, own_store: Store) -> None:
    assert "大桥垮塌" in editor.get("/").text.split('id="events-name"')[1].split("</section>")[0]
    kelp = own_store.ids[3]  # type: ignore[attr-defined]
    editor.post("/event/kelp", data={"action": "pin"})
    part = editor.get("/").text.split('id="events-name"')[1].split("</section>")[0]
    assert re.findall(r'href="/event/(\w+)"', part) == ["kelp", "bridge"]
    assert 'title="Heat' in editor.get("/?lang=en").text
    assert kelp not in part


def test_event_feeds(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for ending in ("rss", "atom", "json"):
        answer = client.get(f"/event/bridge/feed.{ending}")
        assert answer.status_code == 200
        assert "负责人获刑" in answer.text
    assert client.get("/event/bridge/feed.xyz").status_code == 404
    whole = client.get("/event/bridge/feed.jsonl").text
    monkeypatch.setattr("newsportal.portal.reading.feeds.ENTRIES", 1)
    assert client.get("/event/bridge/feed.jsonl").text == whole, "files have more stories than feeds"
    assert len(client.get("/event/bridge/feed.json").json()["items"]) == 1
    assert client.get("/event/none/feed.rss").status_code == 404
    assert client.get("/event/none").status_code == 404


def test_editors_rename_pin_split_join_and_undo(editor: httpx.Client, own_store: Store) -> None:
    _first, second, *_rest = own_store.ids  # type: ignore[attr-defined]

    def change(**sent: Any) -> str:
        assert editor.post("/event/bridge", data=sent).status_code == 303
        return editor.get("/event/bridge?lang=en").text

    assert "青河大桥垮塌案" in change(action="rename", title="青河大桥垮塌案")
    assert "Unpin" in change(action="pin")
    assert "置顶" in editor.get("/events?lang=zh").text
    assert "Keep on top" in change(action="unpin")
    change(action="split", story=[second])
    assert "2 stories" in editor.get("/event/bridge?lang=en").text
    number = own_store.events.edits("bridge")[0].number
    assert editor.post(f"/event/bridge/undo/{number}").status_code == 303
    assert "3 stories" in editor.get("/event/bridge?lang=en").text
    change(action="join", other="http://portal.example/event/kelp")
    moved = editor.get("/event/kelp")
    assert (moved.status_code, moved.headers["location"]) == (303, "/event/bridge")
    actions = {entry.action for entry in editor.accounts.audit_log.entries(limit=20)}  # type: ignore[attr-defined]
    assert actions >= {"event.rename", "event.pin", "event.split", "event.undo", "event.join"}


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ({"action": "split"}, "Choose some stories of the event, but not all of them."),
        ({"action": "join", "other": "none"}, "No other event has this URL."),
        ({"action": "rename", "title": "长" * 300}, "The title is too long."),
        ({"action": "unpin"}, "The event was changed."),
    ],
)
def test_impossible_edit_is_reported(editor: httpx.Client, sent: dict[str, Any], expected: str) -> None:
    assert editor.post("/event/bridge?lang=en", data=sent).status_code == 303
    assert expected in editor.get("/event/bridge?lang=en").text


def test_event_changes_require_an_editor(client: httpx.Client, editor: httpx.Client) -> None:
    assert client.post("/event/bridge", data={"action": "pin"}).status_code in (303, 401, 403)
    assert editor.post("/event/none", data={"action": "pin"}).status_code == 404
    assert editor.post("/event/bridge", data={"action": "paint"}).status_code == 422
    assert editor.post("/event/bridge/undo/77").status_code == 303


def test_api_returns_events_with_stories_and_points(client: httpx.Client, own_store: Store) -> None:
    page = client.get("/api/v1/events").json()
    assert [(event["id"], event["title"], event["stories"]) for event in page["items"]] == [("bridge", "大桥垮塌", 3)]
    assert len(client.get("/api/v1/events", params={"min_stories": 1, "order": "newest"}).json()["items"]) == 2
    since = datetime(2026, 5, 19, tzinfo=UTC) + timedelta(hours=1)
    assert client.get("/api/v1/events", params={"since": since.isoformat()}).json()["items"] == []
    event = client.get("/api/v1/events/bridge").json()
    assert [(point["day"], point["dated"]) for point in event["points"]] == [
        ("2026-05-16", True),
        ("2026-05-17", True),
        ("2026-05-18", False),
    ]
    assert [teller["site"] for teller in event["publishers"]] == ["站点0", "站点1", "站点2"]
    assert [member["story"]["id"] for member in event["members"]] == own_store.ids[:3]  # type: ignore[attr-defined]
    assert event["members"][0]["words"] == ["青河", "垮塌"]
    assert client.get("/api/v1/events/none").status_code == 404


def test_api_edits_events(editor: httpx.Client, own_store: Store) -> None:
    second = own_store.ids[1]  # type: ignore[attr-defined]
    edits = editor.patch("/api/v1/events/bridge", json={"title": "桥", "pinned": True}).json()
    assert [edit["event"] for edit in edits] == ["bridge", "bridge"]
    split = editor.post("/api/v1/events/bridge/split", json={"stories": [second]}).json()
    assert editor.get(f"/api/v1/events/{split['event']}").json()["event"]["stories"] == 1
    assert editor.post(f"/api/v1/events/edits/{split['number']}/undo").json()["event"] == "bridge"
    assert editor.post("/api/v1/events/bridge/join", json={"other": "kelp"}).json()["event"] == "bridge"
    assert "joined with bridge" in editor.get("/api/v1/events/kelp").text
    assert [edit["kind"] for edit in editor.get("/api/v1/events/bridge/edits").json()] == ["join", "undo", "split", "pin", "rename"]
    for path, sent in (("split", {"stories": ["x"]}), ("join", {"other": "none"})):
        assert editor.post(f"/api/v1/events/bridge/{path}", json=sent).status_code == 409
    assert editor.post("/api/v1/events/edits/999/undo").status_code == 409
    assert editor.patch("/api/v1/events/bridge", json={"pinned": True}).status_code == 200


def test_event_page_shows_text_changes(client: httpx.Client, own_store: Store, newsroom: ModuleType) -> None:
    assert "data-change" not in client.get("/event/bridge").text
    (first,) = (story.head for story in own_store.by_id([own_store.ids[0]]).values())  # type: ignore[attr-defined]
    text = TEXTS[0].replace("两人受伤", "三人受伤") * 3
    newsroom.write(own_store, newsroom.article("大桥凌晨垮塌", text, url=first.url, site="站点0", topics=("旅游",), ago=4 * 1440))
    page = client.get("/event/bridge?lang=zh").text.partition('id="changes-name"')[2]
    assert f'href="/story/{first.story_id}/{first.id}/revisions"' in page
    assert "<ins>" in page
    assert "三" in page.partition("</section>")[0]
