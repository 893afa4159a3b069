"""A walk over all routes, pages and API: what a route asks for is what it gets, from whoever comes and however (threats F)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import httpx
import pytest
from fastapi.routing import iter_route_contexts

from newsportal.portal.api.openapi import required_rights, right_of
from newsportal.portal.app import create_app
from newsportal.portal.request_body import SAFE
from newsportal.search.base import Index
from newsportal.services.accounts import RIGHTS, Right, Role, open_accounts
from newsportal.sources import Sources
from newsportal.store import open_store
from newsportal.store.store import Store

OPEN = {
    "/login": {"GET", "POST"},
    "/logout": {"POST"},
    "/health": {"GET"},
    "/manifest.webmanifest": {"GET"},  # the portal's title and icon, as the page to sign in shows them
    "/service-worker.js": {"GET"},  # a script, as those of /static
    "/healthz": {"GET"},
    "/readyz": {"GET"},
    "/metrics": {"GET"},  # asks by itself, as portal.metrics says
    "/websub/{token}": {"GET", "POST"},  # a hub proves itself by a secret
    "/api/greader.php/accounts/ClientLogin": {"POST"},  # an app signs in with a token
    "/api/fever.php": {"GET", "POST"},  # an app proves itself by a key
    "/static": set[str](),
}
"""What asks for no right. Nothing else may be forgotten."""

READERS = {
    "/",
    "/board/{name}",
    "/latest",
    "/briefing",
    "/briefing/{day}",
    "/boards",
    "/rising",
    "/topic/{name:path}",
    "/story/{story_id}",
    "/story/{story_id}/{article_id}",
    "/story/{story_id}/{article_id}/revisions",
    "/events",
    "/event/{event_id}",
    "/photos",
    "/photos/more",
    "/for-you",
    "/profile",
    "/search",
    "/search/suggest",
    "/settings",
    "/feeds",
    "/feed",
    "/rss",
    "/index.xml",
    "/opml",
    "/robots.txt",
    "/favicon.ico",
    "/opensearch.xml",
    "/oembed",
    "/offline",
    "/api",
    "/api/openapi.json",
    "/api/v1/me",
    "/api/v1/topics",
    "/api/v1/tally",
    "/api/v1/stories",
    "/api/v1/events",
    "/api/v1/events/{id}",
    "/api/v1/briefing",
    "/api/v1/boards",
    "/api/v1/rising",
    "/api/v1/photos",
    "/api/v1/stories/{id}",
    "/api/v1/articles/{id}",
    "/api/v1/articles/{id}/revisions",
    "/api/v1/search",
    "/api/v1/search/suggestions",
}
READERS_LIKE = re.compile(r"(?:/.*)?/(?:feeds?|rss|atom)\.[\w{}]+|/picture/.*")
"""What anybody reads: pages, feeds, pictures, and the same in JSON."""

READERS_SEND = {"/seen", "/mcp", "/for-you/dismiss", "/profile/remove", "/profile/clear", "/profile/switch"}
"""What anybody may send: what he looked at, kept under his own cookie. An assistant sends a token, and each tool asks for its right."""


@dataclass(frozen=True)
class Route:
    method: str
    path: str
    right: Right | None
    asks: frozenset[Right]

    @property
    def filled(self) -> str:
        """The path with names that nothing has."""
        return re.sub(r"\{[^}]*\}", "nothing", self.path)


def routes() -> Iterator[Route]:
    app = create_app(open_store("sqlite://"), None, Sources(), open_accounts("sqlite://"), follow_every=0)
    for route in iter_route_contexts(app.routes):
        methods = getattr(route, "methods", None)
        for method in sorted((methods or {"GET"}) - {"HEAD"}):
            yield Route(method, route.path or "", right_of(route), required_rights(route))


ROUTES = list(routes())
ASKING = [route for route in ROUTES if route.right not in (None, Right.READ)]
SENDING = [route for route in ROUTES if route.method not in SAFE and route.path not in OPEN]


@pytest.fixture(scope="module")
def everybody(serve: Any, store: Store, ids: dict[str, str], index: Index, newsroom: ModuleType) -> Iterator[dict[str, httpx.Client]]:
    """A portal, and those who come to it: nobody, a reader, an editor, an administrator, and programs of theirs."""
    nobody: httpx.Client = serve(store, index)
    accounts = nobody.accounts  # type: ignore[attr-defined]
    origin = str(nobody.base_url)
    found = {"nobody": nobody}
    nobody.headers["origin"] = origin  # as its pages say it: what is refused is refused for the right alone
    nobody.headers["accept-encoding"] = "identity"  # to compress thousands of answers takes a seventh of the walk
    for role in Role:
        person = accounts.people.add(role, "correct horse battery staple", role, now=newsroom.NOW)
        cookies = {"session": accounts.sessions.begin(person.id, now=newsroom.NOW)}
        plain = {"accept-encoding": "identity"}
        found[role] = httpx.Client(base_url=origin, headers={**plain, "origin": origin}, cookies=cookies, timeout=600)
        for right in person.rights:
            _, secret = accounts.tokens.add(person, right, [right], now=newsroom.NOW)
            token = {**plain, "authorization": f"Bearer {secret}"}
            found[f"{role}'s token to {right}"] = httpx.Client(base_url=origin, headers=token, timeout=600)
    yield found
    for client in found.values():
        client.close()


def rights_of(name: str) -> frozenset[Right]:
    role, _, right = name.partition("'s token to ")
    if right:
        return frozenset({Right.READ, Right(right)})
    return RIGHTS[Role(role)] if role in set(Role) else frozenset({Right.READ})


def test_every_route_says_what_it_asks_for() -> None:
    for route in ROUTES:
        if route.path in OPEN:
            assert route.right is None, route
            assert not OPEN[route.path] or route.method in OPEN[route.path], route
        elif route.method in SAFE:
            read = route.path in READERS or READERS_LIKE.fullmatch(route.path)
            assert route.right is not None, route
            assert (route.right is Right.READ) == bool(read), f"{route}: name a right, or add it to READERS"
        else:
            assert (route.right is Right.READ) == (route.path in READERS_SEND), f"{route}: whoever sends it needs a right"


def test_there_is_something_to_walk_over() -> None:
    assert len(ASKING) > 60
    assert {route.right for route in ASKING} == set(Right) - {Right.READ}
    assert len([route for route in ROUTES if route.path.startswith("/api/v1/")]) > 20


@pytest.mark.slow
def test_who_has_not_the_right_is_told_so_whatever_he_sends(everybody: dict[str, httpx.Client]) -> None:
    for name, client in everybody.items():
        for route in ASKING:
            if route.asks <= rights_of(name):
                continue
            answer = client.request(route.method, route.filled, **body(route))
            told = f"{name}: {route}: {answer.status_code}"
            if name != "nobody":
                assert answer.status_code == 403, told
            elif route.path.startswith("/api/"):
                assert (answer.status_code, answer.json()["error"]["code"]) == (401, "not-signed-in"), told
            else:
                assert (answer.status_code, answer.headers["location"].partition("?")[0]) == (303, "/login"), told


@pytest.mark.slow
def test_who_has_the_right_is_let_in(everybody: dict[str, httpx.Client]) -> None:
    for name, client in everybody.items():
        for route in ROUTES:
            if (
                route.method == "GET"
                and route.path not in OPEN
                and route.asks <= rights_of(name)
                and not (route.path == "/account" and "token" in name)
            ):
                answer = client.get(route.filled)
                assert answer.status_code not in (401, 403), f"{name}: {route}"
                assert answer.status_code < 500, f"{name}: {route}: {answer.status_code}"
                assert "/login" not in answer.headers.get("location", ""), f"{name}: {route}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "https://evil.example", "hx-request": "true"},
    ],
)
def test_no_other_page_changes_anything_through_somebody_who_is_signed_in(
    everybody: dict[str, httpx.Client], headers: dict[str, str]
) -> None:
    admin = everybody["admin"]
    cookie = f"session={admin.cookies['session']}"
    with httpx.Client(base_url=admin.base_url, headers={"cookie": cookie}, timeout=600) as forged:
        for route in SENDING:
            for kind in ("application/x-www-form-urlencoded", "application/json", "multipart/form-data; boundary=x", "text/plain"):
                answer = forged.request(route.method, route.filled, content=b"a=b", headers={"content-type": kind, **headers})
                assert answer.status_code == 403, f"{route}: {kind}: {answer.status_code}"


def test_no_change_comes_by_an_address(everybody: dict[str, httpx.Client]) -> None:
    """A link or a picture on another page opens addresses as who is signed in."""
    before = everybody["admin"].get("/audit").text.count("data-entry")
    for route in SENDING:
        answer = everybody["admin"].get(route.filled)
        assert answer.status_code in (200, 303, 404, 405, 422, 400, 409, 410), f"{route}: {answer.status_code}"
    assert everybody["admin"].get("/audit").text.count("data-entry") == before


def body(route: Route) -> dict[str, Any]:
    if route.method in SAFE:
        return {}
    return {"json": {}} if route.path.startswith("/api/") else {"data": {"a": "b"}}
