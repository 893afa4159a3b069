"""WebSub subscriptions: requests to a real hub on loopback, verification of its intent, and signed notifications."""

from __future__ import annotations

import hashlib
import hmac
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode
from urllib.request import urlopen

import pytest

from newsportal.portal.websub import Subscriber, public_url
from newsportal.sources import Sources, load
from newsportal.store import open_store
from newsportal.store.crawl_state import Subscription
from newsportal.store.results import SourceState
from newsportal.store.store import Store

TOPIC = "http://127.0.0.1:9/feed"
FEED = "feed:甲"
NOW = datetime.now(UTC)


class Hub(ThreadingHTTPServer):
    """Hub that accepts subscription requests; :meth:`confirm` verifies the intent at the callback as in the Recommendation."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), HubHandler)
        self.requests: list[dict[str, str]] = []
        self.status = 202

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/"

    def confirm(self, request: dict[str, str], **more: str) -> str:
        query = {"hub.mode": request["hub.mode"], "hub.topic": request["hub.topic"], "hub.challenge": "Beweis", "hub.lease_seconds": "3600"}
        with urlopen(f"{request['hub.callback']}?{urlencode(query | more)}", timeout=600) as answer:
            return str(answer.read().decode())


class HubHandler(BaseHTTPRequestHandler):
    server: Hub

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append(dict(parse_qsl(body.decode())))
        self.send_response(self.server.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub() as hub:
        thread = threading.Thread(target=hub.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield hub
        hub.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    store = open_store(f"sqlite:///{tmp_path_factory.mktemp('websub')}/store.db")
    yield store
    store.close()


@pytest.fixture
def store(opened: Store) -> Store:
    opened.subscriptions.drop(FEED)
    return opened


@pytest.fixture(scope="module")
def woken() -> list[int]:
    return []


@pytest.fixture(scope="module")
def client(serve: Any, opened: Store, woken: list[int]) -> Any:
    return serve(opened, now=lambda: datetime.now(UTC), pushed=lambda: woken.append(1))


def sources(
    folder: Path, portal: str, feeds: str = '[{name: 甲, url: "http://127.0.0.1:9/feed"}]', private: str = "[127.0.0.1]"
) -> Sources:
    path = folder / "sources.yaml"
    path.write_text(f'portal: {{url: "{portal}"}}\npoliteness: {{allow_private: {private}}}\nfeeds: {feeds}\n', "utf-8")
    return load(path)


def offer(store: Store, hub: str) -> Subscription:
    subscription = Subscription(FEED, hub, TOPIC, "token-of-this-feed", "geheim")
    store.subscriptions.save(subscription)
    return subscription


def sign(body: bytes, secret: str = "geheim") -> dict[str, str]:
    return {
        "x-hub-signature": "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest(),
        "content-type": "application/rss+xml",
    }


def test_subscription_is_requested_confirmed_and_notified(hub: Hub, store: Store, client: Any, woken: list[int], tmp_path: Path) -> None:
    settings = sources(tmp_path, str(client.base_url))
    offer(store, hub.url)
    subscriber = Subscriber(store, settings)
    assert subscriber.step() == 1
    assert hub.requests[0]["hub.mode"] == "subscribe"
    assert hub.requests[0]["hub.topic"] == TOPIC
    assert subscriber.step() == 0, "not requested again immediately"
    assert hub.confirm(hub.requests[0]) == "Beweis"
    found = store.subscriptions.of(FEED)
    assert found is not None
    assert found.is_valid(NOW)
    assert found.tries == 0

    store.save_source_state(SourceState(FEED, last_run=NOW - timedelta(hours=1), next_visit=NOW + timedelta(hours=9)))
    body = "<rss>新</rss>".encode()
    assert client.post("/websub/token-of-this-feed", content=body, headers=sign(body)).status_code == 202
    state = store.source_state(FEED)
    assert state.next_visit is not None
    assert state.next_visit <= datetime.now(UTC)
    assert woken == [1]


def test_notification_with_wrong_signature_is_ignored(hub: Hub, store: Store, client: Any) -> None:
    offer(store, hub.url)
    later = NOW + timedelta(hours=9)
    store.save_source_state(SourceState(FEED, last_run=NOW, next_visit=later))
    for headers in (sign(b"x", "falsch"), sign(b"another"), {"content-type": "text/xml"}):
        assert client.post("/websub/token-of-this-feed", content=b"x", headers=headers).status_code == 202
    assert store.source_state(FEED).next_visit == later
    assert client.post("/websub/guessed", content=b"x", headers=sign(b"x")).status_code == 410


def test_oversized_notification_is_refused(hub: Hub, store: Store, client: Any) -> None:
    offer(store, hub.url)
    body = b"x" * (8 * 1024 * 1024 + 1)
    assert client.post("/websub/token-of-this-feed", content=body, headers=sign(body)).status_code == 413


def test_unsigned_requests_cause_no_work_and_reveal_nothing(hub: Hub, store: Store, client: Any, woken: list[int]) -> None:
    """This is the only URL to which other servers may post: without the token the body is not read, and answers reveal nothing."""
    offer(store, hub.url)
    before, calls = store.subscriptions.of(FEED), len(woken)
    state = store.source_state(FEED)
    body = b"x" * (9 * 1024 * 1024)
    for token in ("guessed", "token-of-this-fee_", "%00", "x" * 300, "%2e%2e%2fsettings"):
        answer = client.post(f"/websub/{token}", content=body, headers=sign(body))
        assert answer.status_code in (404, 410), token
        assert FEED not in answer.text
    forged = {**sign(b"x", "falsch"), "origin": "https://evil.example"}
    replies = [client.post("/websub/token-of-this-feed", content=b"x", headers=headers) for headers in (forged, {"origin": "null"})]
    assert {(answer.status_code, answer.text) for answer in replies} == {(202, "")}
    assert (store.subscriptions.of(FEED), store.source_state(FEED), len(woken)) == (before, state, calls)


def test_frequent_notifications_cause_one_visit_a_minute(hub: Hub, store: Store, client: Any) -> None:
    offer(store, hub.url)
    last = datetime.now(UTC)
    store.save_source_state(SourceState(FEED, last_run=last, next_visit=last + timedelta(hours=9)))
    for _ in range(5):
        assert client.post("/websub/token-of-this-feed", content=b"x", headers=sign(b"x")).status_code == 202
    assert store.source_state(FEED).next_visit == last + timedelta(minutes=1)


def test_unrequested_confirmation_is_refused(hub: Hub, store: Store, client: Any) -> None:
    offer(store, hub.url)
    invalid = [
        {"hub.mode": "subscribe", "hub.topic": TOPIC, "hub.challenge": "x"},  # not requested
        {"hub.mode": "unsubscribe", "hub.topic": TOPIC, "hub.challenge": "x"},
        {"hub.mode": "subscribe", "hub.topic": "http://127.0.0.1:9/other", "hub.challenge": "x"},
        {},
    ]
    assert [client.get("/websub/token-of-this-feed", params=params).status_code for params in invalid] == [404] * 4
    assert client.get("/websub/guessed", params=invalid[0]).status_code == 404


def test_challenge_is_echoed_as_plain_text(hub: Hub, store: Store, client: Any, tmp_path: Path) -> None:
    offer(store, hub.url)
    Subscriber(store, sources(tmp_path, str(client.base_url))).step()
    params = {"hub.mode": "subscribe", "hub.topic": TOPIC, "hub.challenge": "<script>alert(1)</script>"}
    answer = client.get("/websub/token-of-this-feed", params=params)
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_denied_subscription_is_retried_after_a_week(hub: Hub, store: Store, client: Any, tmp_path: Path) -> None:
    offer(store, hub.url)
    settings = sources(tmp_path, str(client.base_url))
    Subscriber(store, settings).step()
    client.get("/websub/token-of-this-feed", params={"hub.mode": "denied", "hub.topic": TOPIC, "hub.reason": "nicht hier"})
    found = store.subscriptions.of(FEED)
    assert found is not None
    assert found.denied == "nicht hier"
    assert Subscriber(store, settings, now=lambda: NOW + timedelta(days=2)).step() == 0
    assert Subscriber(store, settings, now=lambda: NOW + timedelta(days=8)).step() == 1


def test_lease_is_renewed_before_it_ends(hub: Hub, store: Store, client: Any, tmp_path: Path) -> None:
    offer(store, hub.url)
    now = datetime.now(UTC)  # the lease counts from its confirmation by the hub
    settings = sources(tmp_path, str(client.base_url))
    Subscriber(store, settings).step()
    hub.confirm(hub.requests[0])
    assert Subscriber(store, settings, now=lambda: now + timedelta(minutes=20)).step() == 0
    assert Subscriber(store, settings, now=lambda: now + timedelta(minutes=50)).step() == 1
    assert hub.requests[1]["hub.mode"] == "subscribe"


def test_removed_source_is_unsubscribed(hub: Hub, store: Store, client: Any, tmp_path: Path) -> None:
    offer(store, hub.url)
    Subscriber(store, sources(tmp_path, str(client.base_url))).step()
    hub.confirm(hub.requests[0])
    Subscriber(store, sources(tmp_path, str(client.base_url), feeds="[]")).step()
    assert hub.requests[1]["hub.mode"] == "unsubscribe"
    assert hub.confirm(hub.requests[1]) == "Beweis"
    assert store.subscriptions.all() == []


def test_failing_hub_is_retried_with_backoff(hub: Hub, store: Store, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    hub.status = 500
    offer(store, hub.url)
    settings = sources(tmp_path, "http://127.0.0.1:8000")
    moments = [NOW + timedelta(hours=hours) for hours in range(12)]
    assert sum(Subscriber(store, settings, now=lambda moment=moment: moment).step() for moment in moments) == 4  # type: ignore[misc]
    assert "500" in caplog.text
    assert "geheim" not in caplog.text
    assert "token-of" not in caplog.text


def test_private_hub_is_contacted_only_if_allowed(hub: Hub, store: Store, tmp_path: Path) -> None:
    offer(store, hub.url)
    settings = sources(tmp_path, "https://news.example.org", private="[]")
    Subscriber(store, settings).step()
    assert hub.requests == []


def test_failing_subscription_does_not_affect_others(hub: Hub, store: Store, client: Any, tmp_path: Path) -> None:
    feeds = '[{name: 甲, url: "http://127.0.0.1:9/feed"}, {name: 乙, url: "http://127.0.0.1:9/other"}]'
    offer(store, hub.url)
    store.subscriptions.save(Subscription("feed:乙", "http://127.0.0.1:9/hub", "http://127.0.0.1:9/gone", "other-token", "x"))
    subscriber = Subscriber(store, sources(tmp_path, str(client.base_url), feeds=feeds), every=0.01)
    subscriber.start()
    deadline = time.monotonic() + 600
    while not hub.requests and time.monotonic() < deadline:
        time.sleep(0.01)
    alive = subscriber.is_alive()
    subscriber.stop()
    subscriber.join(600)
    store.subscriptions.drop("feed:乙")
    assert alive
    assert [request["hub.topic"] for request in hub.requests] == [TOPIC]


@pytest.mark.parametrize(
    ("url", "expected"), [("https://news.example.org", True), ("http://127.0.0.1:8000", False), ("http://localhost/", False)]
)
def test_unreachable_portal_does_not_subscribe(tmp_path: Path, url: str, expected: bool) -> None:
    assert (public_url(sources(tmp_path, url, private="[]")) is not None) is expected
