"""Feed reader apps: the request sequences of common apps, and the guarantees of the Google Reader and Fever APIs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
from factories import empty_accounts

from newsportal.portal.access import RateLimit
from newsportal.portal.app import create_app
from newsportal.services.accounts import Accounts, Person, Right, Role
from newsportal.services.accounts import marks as numbers
from newsportal.services.accounts.sessions import BOTH, fever_key
from newsportal.sources import load
from newsportal.store.results import StoryFilter
from newsportal.store.store import Store

ROOT = "/api/greader.php"
API = f"{ROOT}/reader/api/0"
STATE = "user/-/state/com.google/"
ALL, READ, STARRED = f"{STATE}reading-list", f"{STATE}read", f"{STATE}starred"
LONG = "tag:google.com,2005:reader/item/"
NAME = "李读者"


@dataclass
class App:
    """A reader app of ``person``. ``secret``: the token entered as the password."""

    client: httpx.Client
    person: Person
    secret: str
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def accounts(self) -> Accounts:
        found: Accounts = self.client.accounts  # type: ignore[attr-defined]
        return found

    def log_in(self) -> None:
        """Log in like every app of the Google Reader API."""
        answer = self.client.post(f"{ROOT}/accounts/ClientLogin", data={"Email": self.person.name, "Passwd": self.secret})
        assert answer.status_code == 200, answer.text
        lines = dict(line.split("=", 1) for line in answer.text.splitlines())
        self.headers = {"authorization": f"GoogleLogin auth={lines['Auth']}"}

    def get(self, path: str, **params: Any) -> Any:
        answer = self.client.get(API + path, params={"output": "json", **params}, headers=self.headers)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def token(self) -> str:
        return self.client.get(f"{API}/token", headers=self.headers).text

    def post(self, path: str, **sent: Any) -> httpx.Response:
        return self.client.post(API + path, data=sent, headers=self.headers)

    def ids(self, stream: str = ALL, **params: Any) -> list[str]:
        return [row["id"] for row in self.get("/stream/items/ids", s=stream, **{"n": 1000, **params})["itemRefs"]]

    def unread(self) -> list[str]:
        return self.ids(xt=READ)

    def fever(self, query: str, **sent: str) -> Any:
        key = fever_key(self.person.name, self.secret)
        return self.client.post(f"/api/fever.php?api&{query}", data={"api_key": key, **sent}).json()


MakeApp = Callable[..., App]


@pytest.fixture
def app(serve: Any, own_store: Store, index: Any, newsroom: ModuleType) -> App:
    return make_app(serve(own_store, index), newsroom)


def make_app(client: httpx.Client, newsroom: ModuleType, rights: frozenset[Right] = frozenset({Right.KEEP}), role: str = "reader") -> App:
    accounts: Accounts = client.accounts  # type: ignore[attr-defined]
    person = accounts.people.by_name(NAME) or accounts.people.add(NAME, "correct horse battery staple", Role(role), now=newsroom.NOW)
    return App(client, person, accounts.tokens.add(person, "手机", rights, now=newsroom.NOW)[1])


def long_ids(ids: list[str]) -> list[str]:
    return [f"{LONG}{int(id):016x}" for id in ids]


def newest(store: Store) -> list[str]:
    return [story.head.title for story in store.stories(StoryFilter(limit=1000)).stories]


def test_netnewswire(app: App, own_store: Store) -> None:
    """Fetch lists, then unread and starred ids, then contents by up to 150 long ids; send changes with a token."""
    app.log_in()
    assert [tag["id"] for tag in app.get("/tag/list")["tags"]] == [
        STARRED,
        "user/-/label/话题",
        "user/-/label/来源",
        "user/-/label/保存的搜索",
    ]
    feeds = {row["id"]: row for row in app.get("/subscription/list")["subscriptions"]}
    assert feeds["feed/topic/旅游"]["title"] == "旅游"
    assert feeds["feed/topic/旅游"]["categories"] == [{"id": "user/-/label/话题", "label": "话题"}]
    assert feeds["feed/source/feed:晨光网"]["url"].endswith("/feed.rss?source=feed%3A%E6%99%A8%E5%85%89%E7%BD%91")
    unread = app.unread()
    assert len(unread) == len(newest(own_store))
    token = app.token()
    assert token
    answer = app.post("/stream/items/contents", T=token, output="json", i=long_ids(unread[:150])).json()
    assert [item["title"] for item in answer["items"]] == newest(own_store)[:150]
    first = answer["items"][0]
    assert first["origin"]["streamId"] in feeds
    assert first["id"] == long_ids(unread[:1])[0]
    assert "<p>" in first["summary"]["content"]
    assert READ not in first["categories"]
    assert app.post("/edit-tag", T=token, a=READ, i=long_ids(unread[:2])).text == "OK"
    assert app.post("/edit-tag", T=token, a=STARRED, i=long_ids(unread[2:3])).text == "OK"
    assert app.unread() == unread[2:]
    assert app.ids(STARRED) == unread[2:3]
    assert app.post("/edit-tag", T=token, r=READ, i=long_ids(unread[:1])).text == "OK"
    assert app.unread() == [unread[0], *unread[2:]]


def test_reeder(app: App) -> None:
    """Fetch the user and all ids (up to 10,000), then contents by decimal ids; mark a feed as read up to a time."""
    app.log_in()
    assert app.get("/user-info")["userName"] == NAME
    unread = app.ids(xt=READ, n=10_000)
    items = app.post("/stream/items/contents", i=unread[:20]).json()["items"]
    assert [item["id"] for item in items] == long_ids(unread[:20])
    travel = app.ids("feed/topic/旅游")
    assert set(travel) < set(unread)
    moment = max(int(item["timestampUsec"]) for item in app.post("/stream/items/contents", i=travel).json()["items"])
    assert app.post("/mark-all-as-read", s="feed/topic/旅游", ts=str(moment)).text == "OK"
    assert app.unread() == [id for id in unread if id not in travel]
    counts = {row["id"]: row["count"] for row in app.get("/unread-count")["unreadcounts"]}
    assert counts[ALL] == len(unread) - len(travel)
    assert "feed/topic/旅游" not in counts
    assert counts[ALL] == sum(count for id, count in counts.items() if id.startswith("feed/"))


def test_read_you(app: App) -> None:
    """Page through all, unread and starred ids; fetch contents by hexadecimal ids; star and unstar an item."""
    app.log_in()
    found: list[str] = []
    query: dict[str, Any] = {"s": ALL, "n": 7}
    while True:
        page = app.get("/stream/items/ids", **query)
        found += [row["id"] for row in page["itemRefs"]]
        if "continuation" not in page:
            break
        query["c"] = page["continuation"]
    assert found == app.ids()
    assert len(set(found)) == len(found)
    short = [f"{int(id):016x}" for id in found[:3]]
    assert len(app.post("/stream/items/contents", i=short).json()["items"]) == 3
    app.post("/edit-tag", i=short, a=STARRED)
    assert sorted(app.ids(STARRED)) == sorted(found[:3])
    app.post("/edit-tag", i=short[:1], r=STARRED)
    assert sorted(app.ids(STARRED)) == sorted(found[1:3])
    [item] = app.post("/stream/items/contents", i=short[1:2]).json()["items"]
    assert STARRED in item["categories"]


def test_feedme(app: App) -> None:
    """Fetch unread counts, then a folder's unread contents, oldest first, page by page; mark the folder as read."""
    app.log_in()
    counts = {row["id"]: row["count"] for row in app.get("/unread-count")["unreadcounts"]}
    folder, titles = "user/-/label/来源", list[str]()
    query: dict[str, Any] = {"xt": READ, "n": 5, "r": "o"}
    while True:
        page = app.get(f"/stream/contents/{folder}", **query)
        titles += [item["title"] for item in page["items"]]
        assert all(item["origin"]["streamId"].startswith("feed/source/") for item in page["items"])
        if "continuation" not in page:
            break
        query["c"] = page["continuation"]
    assert len(titles) == counts[folder] > 5
    forward = app.get(f"/stream/contents/{folder}", xt=READ, n=250)["items"]
    assert titles == [item["title"] for item in reversed(forward)]
    app.post("/mark-all-as-read", s=folder, ts="")
    assert app.get(f"/stream/contents/{folder}", xt=READ)["items"] == []
    assert len(app.unread()) == counts[ALL] - counts[folder]


def test_capy(app: App, newsroom: ModuleType) -> None:
    """Use a saved search as a feed: read its stream, rename and remove it."""
    query = "q=%E5%B3%A1%E8%B0%B7"
    search = app.accounts.searches.save(app.person.id, "峡谷", query, now=newsroom.NOW)
    app.log_in()
    id = f"feed/search/{search.id}"
    rows = {row["id"]: row for row in app.get("/subscription/list")["subscriptions"]}
    assert rows[id]["title"] == "峡谷"
    items = app.get(f"/stream/contents/{id}", n=50)["items"]
    assert items
    assert {item["origin"]["streamId"] for item in items} == {id}
    assert all("峡谷" in item["title"] + item["summary"]["content"] for item in items)
    assert app.ids("user/-/label/保存的搜索") == app.ids(id)
    assert app.post("/subscription/edit", ac="edit", s=id, t="大峡谷").text == "OK"
    assert [search.name for search in app.accounts.searches.of(app.person.id)] == ["大峡谷"]
    assert app.post("/subscription/edit", ac="unsubscribe", s=id).text == "OK"
    assert app.accounts.searches.of(app.person.id) == []
    actions = [entry.action for entry in app.accounts.audit_log.entries()]
    assert {"search.rename", "search.remove"} <= set(actions)


def test_items_since_a_time_include_older_publications(app: App, own_store: Store, newsroom: ModuleType) -> None:
    app.log_in()
    app.ids()
    late = newsroom.article("迟到的消息：渡口恢复通航", "渡口今天恢复通航。" * 20, ago=600)
    own_store.add(late, [], now=newsroom.NOW)
    since = newsroom.NOW - timedelta(minutes=1)
    [id] = app.ids(ot=str(int(since.timestamp())))
    [item] = app.post("/stream/items/contents", i=[id]).json()["items"]
    assert item["title"].startswith("迟到的消息")
    assert int(id) == max(map(int, app.ids())), "numbers follow the order of arrival"


def test_fever(app: App, own_store: Store) -> None:
    """Synchronise like Fever apps: lists, all items after the last known one, unread and saved ids; then set marks."""
    assert app.client.get("/api/fever.php?api").json() == {"api_version": 3, "auth": 0}
    assert app.fever("", api_key="0" * 32) == {"api_version": 3, "auth": 0}
    answer = app.fever("groups&feeds&favicons&links")
    assert (answer["api_version"], answer["auth"], answer["favicons"], answer["links"]) == (3, 1, [], [])
    assert [group["title"] for group in answer["groups"]] == ["话题", "来源", "保存的搜索"]
    feeds = {feed["id"]: feed["title"] for feed in answer["feeds"]}
    inside = {group["group_id"]: [int(id) for id in group["feed_ids"].split(",")] for group in answer["feeds_groups"]}
    assert {id for ids in inside.values() for id in ids} == set(feeds)
    assert all(0 < id < 2**31 for id in feeds)
    items: list[Any] = []
    while page := app.fever(f"items&since_id={items[-1]['id'] if items else 0}")["items"]:
        assert len(page) <= 50
        items += page
    assert [item["title"] for item in reversed(items)] == newest(own_store)
    assert {item["feed_id"] for item in items} <= set(feeds)
    assert [item["id"] for item in app.fever(f"items&max_id={items[3]['id']}")["items"]] == [item["id"] for item in items[2::-1]]
    ids = [str(item["id"]) for item in items]
    assert app.fever("unread_item_ids")["unread_item_ids"].split(",") == ids
    left = app.fever("", mark="item", **{"as": "read", "id": ids[0]})["unread_item_ids"].split(",")
    assert left == ids[1:]
    assert app.fever("", mark="item", **{"as": "saved", "id": ids[1]})["saved_item_ids"] == ids[1]
    assert app.fever(f"items&with_ids={ids[1]}")["items"][0]["is_saved"] == 1
    [travel] = [id for id, title in feeds.items() if title == "旅游"]
    app.fever("", mark="feed", **{"as": "read", "id": str(travel), "before": str(items[0]["created_on_time"] + 10**8)})
    unread = set(app.fever("unread_item_ids")["unread_item_ids"].split(","))
    assert unread == {str(item["id"]) for item in items if item["feed_id"] != travel} - {ids[0]}
    app.fever("", mark="group", **{"as": "read", "id": "0"})
    assert app.fever("unread_item_ids&saved_item_ids") | {"last_refreshed_on_time": 0} == {
        "api_version": 3, "auth": 1, "last_refreshed_on_time": 0, "unread_item_ids": "", "saved_item_ids": ids[1],
    }  # fmt: skip


def test_marks_are_shared_with_the_portal(app: App, own_store: Store, newsroom: ModuleType) -> None:
    app.log_in()
    id = app.ids()[0]
    [story] = own_store.stories(StoryFilter(limit=1)).stories
    app.post("/edit-tag", i=id, a=[READ, STARRED])
    program = {"authorization": f"Bearer {app.secret}"}
    [mark] = app.client.get("/api/v1/marks", params={"story": story.id}, headers=program).json()
    assert (mark["read"], mark["starred"]) == (True, True)
    app.client.put(f"/api/v1/marks/{story.id}", json={"read": False}, headers=program)
    assert id in app.unread()
    app.client.post("/api/v1/marks/all-read", json={}, headers=program)
    assert app.unread() == []
    app.post("/mark-all-as-read", s=ALL, ts="1000000000")  # a late request does not undo later marks
    assert app.unread() == []


def test_folded_story_keeps_its_number_and_marks(app: App, own_store: Store, newsroom: ModuleType) -> None:
    app.log_in()
    stories = own_store.stories(StoryFilter(limit=1000)).stories
    (one, first), (two, second), *_ = ((story.id, id) for story, id in zip(stories, app.ids(), strict=True) if story.count == 1)
    app.accounts.marks.follow(own_store)
    app.post("/edit-tag", i=first, a=STARRED)
    own_store.fold(one, two, reason="same", now=newsroom.NOW)
    app.accounts.marks.follow(own_store)
    assert app.ids(STARRED) == [second]
    assert first not in app.fever("unread_item_ids")["unread_item_ids"].split(",")
    items = app.post("/stream/items/contents", i=[first, second]).json()["items"]
    assert [item["id"] for item in items] == long_ids([second])


def test_required_rights(serve: Any, own_store: Store, newsroom: ModuleType) -> None:
    client = serve(own_store)
    app = make_app(client, newsroom)
    login = f"{ROOT}/accounts/ClientLogin"
    reads = app.accounts.tokens.add(app.person, "reads", [Right.READ], now=newsroom.NOW)[1]
    for name, secret in ((NAME, "np_wrong"), ("somebody", app.secret), (NAME, "correct horse battery staple"), (NAME, reads)):
        answer = client.post(login, data={"Email": name, "Passwd": secret})
        assert (answer.status_code, answer.text) == (401, "Error=BadAuthentication\n")
    assert app.client.get(f"{API}/subscription/list").status_code == 401
    app.headers = {"authorization": f"GoogleLogin auth={reads}"}
    assert client.get(f"{API}/subscription/list", headers=app.headers).status_code == 403
    key = fever_key(NAME, reads)
    assert client.post("/api/fever.php?api&items", data={"api_key": key}).json() == {"api_version": 3, "auth": 0}
    app.log_in()
    for sent in (
        {"ac": "unsubscribe", "s": "feed/topic/旅游"},
        {"ac": "edit", "s": "feed/topic/旅游", "t": "别的"},
        {"ac": "subscribe", "s": "feed/https://new.example/feed"},
    ):
        assert app.post("/subscription/edit", **sent).status_code == 403
    assert app.post("/subscription/quickadd", quickadd="https://new.example/feed").status_code == 403
    assert app.post("/rename-tag", s="user/-/label/话题", dest="user/-/label/x").status_code == 403
    assert client.get(f"{API}/stream/contents/feed/topic/nothing", headers=app.headers).status_code == 404
    app.accounts.tokens.revoke(app.accounts.tokens.of(app.person.id)[-1].id)
    for token in app.accounts.tokens.of(app.person.id):
        app.accounts.tokens.revoke(token.id)
    assert client.get(f"{API}/token", headers=app.headers).status_code == 401
    assert app.fever("items")["auth"] == 0


def test_token_guessing_is_rate_limited(serve: Any, own_store: Store, newsroom: ModuleType) -> None:
    app = make_app(serve(own_store), newsroom)
    sent = {"Email": NAME, "Passwd": "np_guess"}
    answers = [app.client.post(f"{ROOT}/accounts/ClientLogin", data=sent) for _ in range(BOTH.free_attempts + 2)]
    assert answers[-1].status_code == 429
    assert int(answers[-1].headers["retry-after"]) >= 1


def test_frequent_requests_are_rate_limited(own_store: Store, newsroom: ModuleType, tmp_path: Path) -> None:
    accounts = empty_accounts(tmp_path / "people.db")
    portal = create_app(own_store, None, newsroom.settings(), accounts, now=lambda: newsroom.NOW, follow_every=0)
    portal.state.portal = replace(portal.state.portal, pace=RateLimit(burst=3, clock=lambda: 0.0))
    person = accounts.people.add(NAME, "correct horse battery staple", Role.READER, now=newsroom.NOW)
    secrets = [accounts.tokens.add(person, "app", [Right.KEEP], now=newsroom.NOW)[1] for _ in range(2)]

    async def ask() -> list[int]:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(portal), base_url="http://localhost") as client:
            headers = [{"authorization": f"GoogleLogin auth={secret}"} for secret in (secrets[0],) * 4 + (secrets[1],)]
            found = [await client.get(f"{API}/token", headers=header) for header in headers]
            form = {"api_key": fever_key(NAME, secrets[0])}
            found += [await client.post("/api/fever.php?api", data=form) for _ in range(4)]
            assert all("retry-after" in answer.headers for answer in found if answer.status_code == 429)
            return [answer.status_code for answer in found]

    assert asyncio.run(ask()) == [200, 200, 200, 429, 200, 200, 200, 200, 429]
    accounts.close()


def test_editor_subscribes_to_a_feed(serve: Any, own_store: Store, newsroom: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "sources.yaml"
    file.write_text("topics: [{name: 旅游, engines: []}]\nstore: sqlite://\nalerts: {enabled: false}\n", "utf-8")
    app = make_app(serve(own_store, None, load(file)), newsroom, frozenset({Right.KEEP, Right.EDIT}), "editor")
    app.log_in()
    assert app.post("/subscription/edit", ac="subscribe", s="feed/https://new.example/feed", t="新报").text == "OK"
    answer = app.post("/subscription/quickadd", quickadd="https://other.example/rss").json()
    assert (answer["numResults"], answer["streamId"]) == (1, "feed/source/feed:other.example")
    assert [feed.url for feed in load(file).feeds] == ["https://new.example/feed", "https://other.example/rss"]
    assert app.post("/subscription/quickadd", quickadd="file:///etc/passwd").status_code == 422


@pytest.mark.parametrize("id", ["", "x", "-1", "9" * 30, f"{LONG}zz", f"{LONG}ffffffffffffffff", "0" * 16])
def test_unknown_item_ids_are_ignored(app: App, id: str) -> None:
    app.log_in()
    assert app.post("/stream/items/contents", i=[id]).json()["items"] == []
    assert app.post("/edit-tag", i=[id], a=READ).text == "OK"


def test_numbers_continue_after_a_pause(tmp_path: Path, own_store: Store, newsroom: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbers, "MAX_BEHIND", 3)
    accounts = empty_accounts(tmp_path / "people.db")
    accounts.items.follow(own_store)
    count = accounts.items.count()
    for number in range(5):
        own_store.add(newsroom.article(f"新消息第{number}条，渡口通航", f"渡口第{number}次通航。" * 20, ago=1), [], now=newsroom.NOW)
    accounts.items.follow(own_store)
    assert accounts.items.count() == count + 5
    accounts.close()
