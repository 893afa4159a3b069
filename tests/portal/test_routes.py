"""Checks of all routes of pages and API: each requires its right from every kind of client (threat group F)."""

from __future__ import annotations

import http.client
import json
import re
import select
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

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

WITHOUT_RIGHT = {
    "/login": {"GET", "POST"},
    "/logout": {"POST"},
    "/health": {"GET"},
    "/manifest.webmanifest": {"GET"},  # title and icon of the portal, as shown on the login page
    "/service-worker.js": {"GET"},  # a script, like those in /static
    "/healthz": {"GET"},
    "/readyz": {"GET"},
    "/metrics": {"GET"},  # checks access itself, by portal.metrics
    "/websub/{token}": {"GET", "POST"},  # hubs authenticate by a secret
    "/api/greader.php/accounts/ClientLogin": {"POST"},  # apps sign in with a token
    "/api/fever.php": {"GET", "POST"},  # apps authenticate by a key
    "/static": set[str](),
}
"""Routes that require no right; all others must."""

READER_PATHS = {
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
READER_PATTERN = re.compile(r"(?:/.*)?/(?:feeds?|rss|atom)\.[\w{}]+|/picture/.*")
"""Routes for all readers: pages, feeds, images, and the same in JSON."""

READERS_MAY_SEND = {"/seen", "/mcp", "/for-you/dismiss", "/profile/remove", "/profile/clear", "/profile/switch"}
"""Routes to which any reader may send: views are stored under the own cookie; assistants send a token, and each tool checks its right."""


@dataclass(frozen=True)
class Route:
    method: str
    path: str
    right: Right | None
    asks: frozenset[Right]

    @property
    def filled(self) -> str:
        """Path with placeholders replaced by names that do not exist."""
        return re.sub(r"\{[^}]*\}", "nothing", self.path)


@cache
def routes() -> tuple[Route, ...]:
    app = create_app(open_store("sqlite://"), None, Sources(), open_accounts("sqlite://"), follow_every=0)
    return tuple(
        Route(method, route.path or "", right_of(route), required_rights(route))
        for route in iter_route_contexts(app.routes)
        for method in sorted((getattr(route, "methods", None) or {"GET"}) - {"HEAD"})
    )


def protected_routes() -> list[Route]:
    return [route for route in routes() if route.right not in (None, Right.READ)]


def changing_routes() -> list[Route]:
    return [route for route in routes() if route.method not in SAFE and route.path not in WITHOUT_RIGHT]


@dataclass(frozen=True)
class Answer:
    status_code: int
    headers: Mapping[str, str]
    text: str

    def json(self) -> Any:
        return json.loads(self.text)


class Client:
    """A client with one connection. Of thousands of requests, httpx takes a third of the time."""

    def __init__(self, origin: str, headers: Mapping[str, str]) -> None:
        self.origin, self.headers = origin, headers
        self._connection = http.client.HTTPConnection(urlsplit(origin).netloc, timeout=600)

    def request(self, method: str, path: str, content: str | None = None, headers: Mapping[str, str] | None = None) -> Answer:
        if self._connection.sock is not None and select.select([self._connection.sock], [], [], 0)[0]:
            self._connection.close()  # the server has closed it
        self._connection.request(method, path, content, {**self.headers, **(headers or {})})
        answer = self._connection.getresponse()
        return Answer(answer.status, answer.headers, answer.read().decode(errors="replace"))

    def get(self, path: str) -> Answer:
        return self.request("GET", path)

    def close(self) -> None:
        self._connection.close()


@pytest.fixture(scope="module")
def clients(serve: Any, store: Store, ids: dict[str, str], index: Index, newsroom: ModuleType) -> Iterator[dict[str, Client]]:
    """Yield clients by name: anonymous, a reader, an editor, an administrator, and programs with one of their tokens."""
    portal: httpx.Client = serve(store, index)
    accounts, origin = portal.accounts, str(portal.base_url)  # type: ignore[attr-defined]
    # compressing thousands of answers takes a seventh of the time
    program = {"accept-encoding": "identity", "accept-language": "zh-CN"}
    page = {**program, "origin": origin}  # as from the portal's own pages, so that only a missing right is a reason to refuse
    found = {"nobody": Client(origin, page)}
    for role in Role:
        person = accounts.people.add(role, "correct horse battery staple", role, now=newsroom.NOW)
        found[role] = Client(origin, {**page, "cookie": f"session={accounts.sessions.begin(person.id, now=newsroom.NOW)}"})
        for right in person.rights:
            _, secret = accounts.tokens.add(person, right, [right], now=newsroom.NOW)
            found[f"{role}'s token to {right}"] = Client(origin, {**program, "authorization": f"Bearer {secret}"})
    yield found
    for client in found.values():
        client.close()


def rights_of(name: str) -> frozenset[Right]:
    role, _, right = name.partition("'s token to ")
    if right:
        return frozenset({Right.READ, Right(right)})
    return RIGHTS[Role(role)] if role in set(Role) else frozenset({Right.READ})


def test_every_route_declares_its_right() -> None:
    for route in routes():
        if route.path in WITHOUT_RIGHT:
            assert route.right is None, route
            assert not WITHOUT_RIGHT[route.path] or route.method in WITHOUT_RIGHT[route.path], route
        elif route.method in SAFE:
            read = route.path in READER_PATHS or READER_PATTERN.fullmatch(route.path)
            assert route.right is not None, route
            assert (route.right is Right.READ) == bool(read), f"{route}: name a right, or add it to READER_PATHS"
        else:
            assert (route.right is Right.READ) == (route.path in READERS_MAY_SEND), f"{route}: sending requires a right"


def test_number_of_routes_is_plausible() -> None:
    assert len(protected_routes()) > 60
    assert {route.right for route in protected_routes()} == set(Right) - {Right.READ}
    assert len([route for route in routes() if route.path.startswith("/api/v1/")]) > 20


@pytest.mark.slow
def test_missing_right_is_refused_for_any_request(clients: dict[str, Client]) -> None:
    for name, client in clients.items():
        for route in protected_routes():
            if route.asks <= rights_of(name):
                continue
            answer = client.request(route.method, route.filled, **body(route))
            case = f"{name}: {route}: {answer.status_code}"
            if name != "nobody":
                assert answer.status_code == 403, case
            elif route.path.startswith("/api/"):
                assert (answer.status_code, answer.json()["error"]["code"]) == (401, "not-signed-in"), case
            else:
                assert (answer.status_code, answer.headers["location"].partition("?")[0]) == (303, "/login"), case


@pytest.mark.slow
def test_sufficient_right_is_accepted(clients: dict[str, Client]) -> None:
    for name, client in clients.items():
        for route in routes():
            if (
                route.method == "GET"
                and route.path not in WITHOUT_RIGHT
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
def test_cross_site_requests_of_signed_in_user_are_refused(clients: dict[str, Client], headers: dict[str, str]) -> None:
    admin = clients["admin"]
    with closing(Client(admin.origin, {"cookie": admin.headers["cookie"]})) as forged:
        for route in changing_routes():
            for kind in ("application/x-www-form-urlencoded", "application/json", "multipart/form-data; boundary=x", "text/plain"):
                answer = forged.request(route.method, route.filled, "a=b", {"content-type": kind, **headers})
                assert answer.status_code == 403, f"{route}: {kind}: {answer.status_code}"


def test_get_requests_change_nothing(clients: dict[str, Client]) -> None:
    """Links and images on other pages cause GET requests with the user's cookies."""
    before = clients["admin"].get("/audit").text.count("data-entry")
    for route in changing_routes():
        answer = clients["admin"].get(route.filled)
        assert answer.status_code in (200, 303, 404, 405, 422, 400, 409, 410), f"{route}: {answer.status_code}"
    assert clients["admin"].get("/audit").text.count("data-entry") == before


def body(route: Route) -> dict[str, Any]:
    if route.method in SAFE:
        return {}
    kind, content = ("application/json", "{}") if route.path.startswith("/api/") else ("application/x-www-form-urlencoded", "a=b")
    return {"content": content, "headers": {"content-type": kind}}
