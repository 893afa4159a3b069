"""API of reading: stories, articles and search in JSON; uniform errors; the OpenAPI description."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import httpx
import pytest

from newsportal.portal.api.paging import cursor_of
from newsportal.store.store import Store


def items(client: httpx.Client, path: str, **parameters: Any) -> list[Any]:
    """Return the items of all pages of a list."""
    found: list[Any] = []
    cursor = None
    while True:
        page = client.get(path, params={**parameters, **({"cursor": cursor} if cursor else {})}).json()
        found += page["items"]
        cursor = page["next"]
        if cursor is None:
            return found


def test_stories_are_paged_and_filtered(client: httpx.Client, ids: dict[str, str]) -> None:
    every = items(client, "/api/v1/stories", limit=2)
    assert [item["id"] for item in every] == [item["id"] for item in items(client, "/api/v1/stories", limit=200)]
    assert len({item["id"] for item in every}) == len(every) == client.get("/api/v1/tally").json()["stories"]
    travel = items(client, "/api/v1/stories", topic="旅游")
    assert 0 < len(travel) < len(every)
    assert all("旅游" in item["head"]["topics"] or item["versions"] > 1 for item in travel)
    hottest = items(client, "/api/v1/stories", order="hottest", limit=3)
    assert [item["heat"] for item in hottest] == sorted((item["heat"] for item in hottest), reverse=True)
    assert client.get("/api/v1/stories", params={"until": "2001-01-01T00:00:00Z"}).json() == {"items": [], "next": None}


def test_story_lists_versions_and_article_has_text(client: httpx.Client, ids: dict[str, str], store: Store) -> None:
    story = client.get(f"/api/v1/stories/{ids['bridge']}").json()
    found = store.story(ids["bridge"])
    assert found is not None
    assert [article["id"] for article in story["articles"]] == [version.id for version in found.versions]
    assert story["head"]["text"] == found.head.text
    assert "text" not in story["articles"][1]
    article = client.get(f"/api/v1/articles/{story['articles'][1]['id']}").json()
    assert article["fold_reason"]
    assert client.get(f"/api/v1/articles/{article['id']}/revisions").status_code == 200


def test_search_has_facets_and_pages(client: httpx.Client) -> None:
    page = client.get("/api/v1/search", params={"q": "峡谷", "limit": 1}).json()
    assert page["total"] == len(items(client, "/api/v1/search", q="峡谷", limit=1)) >= 1
    assert "<mark>" in page["items"][0]["title_html"] + page["items"][0]["snippet_html"]
    assert page["facets"]["site"]
    assert client.get("/api/v1/search/suggestions", params={"q": "峡"}).status_code == 200


def test_topics_are_those_of_the_settings(client: httpx.Client) -> None:
    assert "旅游" in [topic["name"] for topic in client.get("/api/v1/topics").json()]


def test_runs_and_suggestions_require_an_editor(editor: httpx.Client, newsroom: ModuleType) -> None:
    [run] = editor.get("/api/v1/runs").json()
    assert editor.get(f"/api/v1/runs/{run['id']}").json()["id"] == run["id"]
    assert editor.get("/api/v1/suggestions").status_code == 200
    assert editor.get("/api/v1/me").json()["role"] == "editor"


def test_etag_match_returns_304(client: httpx.Client, ids: dict[str, str]) -> None:
    path = f"/api/v1/stories/{ids['bridge']}"
    tag = client.get(path).headers["etag"]
    repeated = client.get(path, headers={"if-none-match": f'"other", W/{tag}'})
    assert (repeated.status_code, repeated.content, repeated.headers["etag"]) == (304, b"", tag)
    assert client.get(path, headers={"if-none-match": '"other"'}).status_code == 200


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/api/v1/stories/nothing", 404, "no-story"),
        ("/api/v1/articles/nothing", 404, "no-article"),
        ("/api/v1/nothing", 404, "not-found"),
        ("/api/v1/stories?limit=0", 422, "not-valid"),
        ("/api/v1/stories?limit=x", 422, "not-valid"),
        ("/api/v1/stories?since=yesterday", 422, "not-valid"),
        ("/api/v1/stories?since=2026-01-01T00:00:00", 422, "not-valid"),
        ("/api/v1/stories?order=id;DROP TABLE articles", 422, "not-valid"),
        ("/api/v1/search", 422, "not-valid"),
        ("/api/v1/search?q=x&cursor=x", 400, "invalid-cursor"),
        (f"/api/v1/search?q=x&cursor={cursor_of(-1)}", 400, "invalid-cursor"),
        (f"/api/v1/search?q=x&cursor={cursor_of('1')}", 400, "invalid-cursor"),
        ("/api/v1/runs", 401, "not-signed-in"),
    ],
)
def test_errors_have_one_form(client: httpx.Client, path: str, status: int, code: str) -> None:
    answer = client.get(path)
    data = answer.json()["error"]
    assert (answer.status_code, data["code"]) == (status, code)
    assert data["message"].endswith(".")
    assert set(data) <= {"code", "message", "remedy", "problems"}
    assert all(problem["where"].startswith("query.") for problem in data.get("problems", []))
    assert client.post("/api/v1/topics", json={}, headers={"origin": str(client.base_url)}).json()["error"]["code"] == "method-not-allowed"


@pytest.mark.parametrize("name", ["topic", "category", "source", "site", "cursor"])
@pytest.mark.parametrize("value", ["' OR 1=1 --", "%", "\x00", "\ud7ff", "../../etc/passwd", "1; DROP TABLE articles"])
def test_filters_are_not_interpreted_as_sql(client: httpx.Client, name: str, value: str) -> None:
    answer = client.get("/api/v1/stories", params={name: value})
    assert answer.status_code == 200
    if name != "cursor":
        assert answer.json()["items"] == []


def test_openapi_describes_every_operation(client: httpx.Client) -> None:
    data = client.get("/api/openapi.json").json()
    assert data["openapi"].startswith("3.1")
    for path, methods in data["paths"].items():
        assert path.startswith("/api/v1/")
        for method, operation in methods.items():
            assert operation["summary"], (path, method)
            assert operation["x-right"]
            assert operation["tags"]
            assert {} in operation["security"] or operation["x-right"] != "read"
            assert {"401", "403", "503"} <= set(operation["responses"]), (path, method)
            assert operation["responses"]["422"]["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/ErrorResponse"}
    assert set(data["components"]["securitySchemes"]) == {"token", "session"}


def test_api_page_lists_every_operation(client: httpx.Client) -> None:
    text = client.get("/api").text
    for path in client.get("/api/openapi.json").json()["paths"]:
        assert path in text
    assert "np_" in text
