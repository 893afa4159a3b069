"""API of articles and publishing: the same changes as on the pages, with the same rights, and audited."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from newsportal.sources import load
from newsportal.store.results import StoryFilter
from newsportal.store.store import Store

SOURCES = "publish:\n- {name: 站点, to: 'folder:out'}\n"


@pytest.fixture
def client(serve: Any, own_store: Store, tmp_path: Path) -> httpx.Client:
    (tmp_path / "sources.yaml").write_text(SOURCES, "utf-8")
    client: httpx.Client = serve(own_store, settings=load(tmp_path / "sources.yaml"), role="editor")
    client.base_url = client.base_url.join("/api/v1/")
    return client


@pytest.fixture
def id(own_store: Store) -> str:
    article_id: str = own_store.ids["bridge"]  # type: ignore[attr-defined]
    return article_id


@pytest.mark.parametrize("role", [None, "reader"])
def test_editing_requires_an_editor(serve: Any, own_store: Store, id: str, role: str | None) -> None:
    other = serve(own_store, role=role)
    other.headers["origin"] = str(other.base_url)
    status = 401 if role is None else 403
    calls = [
        ("GET", "editing/articles", None), ("GET", f"articles/{id}/states", None), ("PATCH", f"articles/{id}", {"revision": 1}),
        ("DELETE", f"articles/{id}/correction", {}), ("PUT", f"articles/{id}/category", {"category": "x"}),
        ("POST", f"articles/{id}/fold", {"story": "x"}), ("POST", f"articles/{id}/unfold", {}),
        ("POST", "articles/hide", {"articles": [id]}), ("POST", "articles/show", {"articles": [id]}),
        ("POST", "articles/category", {"articles": [id], "category": "x"}), ("POST", "articles/topic", {"articles": [id], "topic": "x"}),
        ("POST", "articles/topic/out", {"articles": [id], "topic": "x"}),
        ("GET", "publishing/counts", None), ("GET", "publishing/entries", None), ("POST", "publishing/again", {}),
        ("POST", "publishing/ask", {"target": "站点", "article": id, "action": "publish"}), ("GET", "publishing/trial?target=x", None),
    ]  # fmt: skip
    for method, path, sent in calls:
        answer = other.request(method, f"/api/v1/{path}", json=sent)
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, "not-signed-in" if role is None else "not-allowed"), path
    article = own_store.article(id)
    assert article is not None
    assert (article.hidden, article.corrected, article.category_by) == (None, None, article.category_by)


def test_article_is_corrected_and_correction_withdrawn(client: httpx.Client, own_store: Store, id: str) -> None:
    (now,) = client.get(f"articles/{id}/states").json()
    assert (now["revision"], now["corrected"]) == (1, None)
    sent = {"revision": 1, "title": "新标题", "lines": now["lines"] + "\n<b>添一段", "published": None}
    corrected = client.patch(f"articles/{id}", json=sent).json()
    assert (corrected["title"], corrected["published"], corrected["corrected_fields"]) == ("新标题", None, ["title", "text", "published"])
    assert corrected["text"].endswith("<b>添一段")
    stored = own_store.article(id)
    assert stored is not None
    assert "<p>&lt;b&gt;添一段</p>" in (stored.html or "")
    assert "<figure>" in (stored.html or "")
    assert client.patch(f"articles/{id}", json={**sent, "title": "旧的"}).status_code == 409
    invalid = client.patch(f"articles/{id}", json={"revision": 2, "lines": "⟦77⟧"})
    assert (invalid.status_code, invalid.json()["error"]["code"]) == (422, "no-such-part")
    for body in ({"revision": 2, "title": ""}, {"revision": 2, "published": "gestern"}, {"title": "x"}):
        assert client.patch(f"articles/{id}", json=body).status_code == 422, body
    assert client.request("DELETE", f"articles/{id}/correction", json={}).json()["title"] == now["title"]
    assert [state["corrected"] is None for state in client.get(f"articles/{id}/states").json()] == [True, False, True]
    actions = [entry.action for entry in client.accounts.audit_log.entries()]  # type: ignore[attr-defined]
    assert actions == ["article.withdraw", "article.correct"]
    assert client.get("articles/none/states").status_code == 404


def test_articles_are_hidden_classified_folded_and_listed(client: httpx.Client, own_store: Store, id: str) -> None:
    assert client.post("articles/hide", json={"articles": [id, "none"], "reason": "误登"}).json() == {"articles": [id]}
    (row,) = client.get("editing/articles?show=hidden").json()["items"]
    assert (row["id"], row["hidden_reason"]) == (id, "误登")
    assert client.post("articles/show", json={"articles": [id]}).json() == {"articles": [id]}
    assert client.put(f"articles/{id}/category", json={"category": "桥梁"}).json()["category_by"] == "editor"
    many = {"articles": [id, "none"], "category": "大桥"}
    assert client.post("articles/category", json=many).json() == {"articles": [id]}
    assert client.post("articles/category", json=many).json() == {"articles": []}
    topic = next(topic for topic in own_store.tally().by_topic if topic not in own_store.articles([id])[0].topics)
    for path in ("articles/topic", "articles/topic/out"):
        assert client.post(path, json={"articles": [id], "topic": topic}).json() == {"articles": [id]}
    assert topic not in own_store.articles([id])[0].topics
    assert client.post("articles/topic", json={"articles": [id], "topic": "none"}).json()["error"]["code"] == "no-topic"
    page = client.get("editing/articles?limit=2").json()
    assert len(page["items"]) == 2
    further = client.get("editing/articles", params={"limit": 2, "cursor": page["next"]}).json()["items"]
    assert not {item["id"] for item in further} & {item["id"] for item in page["items"]}
    first, second = [story for story in own_store.stories(StoryFilter(limit=200)).stories if story.count == 1][:2]
    moved = client.post(f"articles/{first.head.id}/fold", json={"story": second.id}).json()
    assert moved == {"article": first.head.id, "story": second.id, "previous_story": first.id, "undo_story": None}
    (candidate,) = client.get(f"articles/{id}/candidates", params={"q": second.id}).json()
    assert (candidate["story"], candidate["versions"], 0 <= candidate["shared"] < 1) == (second.id, 2, True)
    assert client.get("articles/none/candidates").status_code == 404
    assert client.post(f"articles/{first.head.id}/fold", json={"story": second.id}).json()["error"]["code"] == "not-folded"
    assert client.post(f"articles/{first.head.id}/unfold", json={}).json()["story"] == first.id
    assert client.post(f"articles/{first.head.id}/unfold", json={}).status_code == 409


def test_article_is_published_and_withdrawn(client: httpx.Client, id: str) -> None:
    assert client.get("publishing/counts").json() == {}
    (trial,) = client.get("publishing/trial", params={"target": "站点", "article": id}).json()
    assert trial["refused"] is None
    assert trial["steps"][0]["operation"].startswith("write ")
    entry = client.post("publishing/ask", json={"target": "站点", "article": id, "action": "publish"}).json()
    assert (entry["state"], entry["action"]) == ("waiting", "publish")
    assert client.post("publishing/ask", json={"target": "站点", "article": id, "action": "withdraw"}).json()["action"] == "withdraw"
    assert client.get("publishing/counts").json() == {"站点": {"waiting": 1}}
    assert [entry["article"] for entry in client.get("publishing/entries?state=waiting").json()] == [id]
    assert client.post("publishing/again", json={}).json() == {"articles": 0}
    assert client.post("publishing/ask", json={"target": "别处", "article": id, "action": "publish"}).status_code == 404
    assert client.get("publishing/trial?target=别处").status_code == 404
