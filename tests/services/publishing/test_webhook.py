"""A webhook as a target: requests, signatures, and the meaning of responses. The receiver is a server of this test."""

from __future__ import annotations

import hashlib
import hmac
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cms import sources_with
from factories import NOW

from newsportal.services.publishing.run import MAX_TRIES, Tally, Work, pending, publish
from newsportal.services.publishing.targets import open_target
from newsportal.sources import Sources, parse
from newsportal.store.store import Store

Add = Callable[..., str]
SECRET = "geheim"


@dataclass
class Receiver:
    """Gives the responses in ``answers`` and records the requests."""

    port: int = 0
    answers: list[tuple[int, dict[str, str], bytes]] = field(default_factory=list)
    sent: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.sent]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            receiver.sent.append(({name.lower(): value for name, value in self.headers.items()}, body))
            status, headers, answer = receiver.answers.pop(0) if receiver.answers else (200, {}, b'{"id": 42}')
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield receiver
    server.shutdown()
    server.server_close()
    thread.join()


def sources(folder: Path, port: int, allowed: str = "[127.0.0.1/32]") -> Sources:
    target = f"- {{name: hook, to: 'http://127.0.0.1:{port}/in?a=1', secret: {SECRET}}}\n"
    return parse(f"politeness: {{allow_private: {allowed}}}\npublish:\n{target}".encode(), folder / "sources.yaml", {})


def run(store: Store, sources: Sources, later: timedelta = timedelta()) -> Tally:
    work = Work(store, sources.publish[0], open_target(sources.publish[0], sources), store.outbox.now)
    return publish(replace(work, now=lambda: NOW + timedelta(days=1) + later))


def test_article_is_posted_and_signed(store: Store, add: Add, receiver: Receiver, tmp_path: Path) -> None:
    id = add("桥", title="桥 😀")
    assert run(store, sources(tmp_path, receiver.port)).published == 1
    ((headers, body),) = receiver.sent
    data = json.loads(body)
    assert (data["event"], data["id"], data["target"], data["form"]) == ("article.published", id, "hook", 1)
    assert (data["article"]["title"], data["article"]["site"]) == ("桥 😀", "青河网")
    signature = dict(part.split("=", 1) for part in headers["x-newsportal-signature"].split(","))
    expected = hmac.new(SECRET.encode(), signature["t"].encode() + b"." + body, hashlib.sha256).hexdigest()
    assert hmac.compare_digest(expected, signature["v1"])
    assert SECRET.encode() not in body + json.dumps(headers).encode()
    assert store.outbox.of("hook", [id])[id].location == "42"


def test_revisions_and_withdrawals_have_the_receivers_id(store: Store, add: Add, receiver: Receiver, tmp_path: Path) -> None:
    config = sources(tmp_path, receiver.port)
    id = add("a")
    run(store, config)
    add("a", title="改过的标题")
    assert run(store, config).revised == 1
    store.outbox.request("hook", [id], "withdraw", now=NOW)
    assert run(store, config).withdrawn == 1
    assert [(data["event"], data.get("place")) for data in receiver.bodies()] == [
        ("article.published", None),
        ("article.revised", "42"),
        ("article.withdrawn", "42"),
    ]
    assert "article" not in receiver.bodies()[2]
    assert len({headers["idempotency-key"] for headers, _ in receiver.sent}) == 3


def test_temporary_failure_is_retried_with_the_same_key(store: Store, add: Add, receiver: Receiver, tmp_path: Path) -> None:
    config = sources(tmp_path, receiver.port)
    receiver.answers += [(503, {}, b""), (429, {"retry-after": "7200"}, b"")]
    add("a")
    tally = run(store, config)
    assert (tally.postponed, [reason.partition(": ")[2] for reason in tally.reasons]) == (
        1,
        ["the receiver answered 503; it is tried again"],
    )
    assert run(store, config, timedelta(seconds=29)).done == 0, "not before the delay"
    assert run(store, config, timedelta(seconds=31)).postponed == 1
    assert run(store, config, timedelta(seconds=7000)).done == 0, "after the receiver's Retry-After"
    assert run(store, config, timedelta(seconds=7300)).published == 1
    assert len({headers["idempotency-key"] for headers, _ in receiver.sent}) == 1
    assert len(receiver.sent) == 3


@pytest.mark.slow
def test_permanent_server_error_fails_after_max_tries(store: Store, add: Add, receiver: Receiver, tmp_path: Path) -> None:
    config = sources(tmp_path, receiver.port)
    receiver.answers += [(500, {}, b"")] * 20
    add("a")
    tallies = [run(store, config, timedelta(days=day)) for day in range(20)]
    assert [tally.failed for tally in tallies].index(1) == MAX_TRIES - 1
    assert len(receiver.sent) == MAX_TRIES


@pytest.mark.parametrize(
    ("answer", "state", "reason"),
    [
        ((410, {}, b""), "withdrawn", "410"),
        ((422, {}, "标题太长\n<b>".encode()), "failed", "422: 标题太长 <b>"),
        ((400, {}, b""), "failed", "400"),
        ((302, {"location": "http://127.0.0.1:1/"}, b""), "failed", "redirects are not followed"),
        ((201, {"location": "/posts/9"}, b"no json"), "done", None),
    ],
)
def test_responses_are_interpreted(
    store: Store, add: Add, receiver: Receiver, tmp_path: Path, answer: tuple[int, dict[str, str], bytes], state: str, reason: str | None
) -> None:
    receiver.answers.append(answer)
    id = add("a")
    run(store, sources(tmp_path, receiver.port))
    entry = store.outbox.of("hook", [id])[id]
    assert entry.state == state
    assert (reason is None and entry.reason is None) or (reason or "") in (entry.reason or "")
    assert entry.location == ("/posts/9" if state == "done" else None)
    assert run(store, sources(tmp_path, receiver.port), timedelta(days=30)).done == 0


@pytest.mark.parametrize(
    ("status", "remedy"),
    [(401, "correct the token"), (403, "the permissions there"), (404, "correct publish.to"), (405, "does not accept POST")],
)
def test_denied_access_stops_the_run_and_articles_wait(
    store: Store, add: Add, receiver: Receiver, tmp_path: Path, status: int, remedy: str
) -> None:
    config = sources(tmp_path, receiver.port)
    ids = [add() for _ in range(30)]
    receiver.answers += [(status, {}, "令牌不对".encode())]
    tally = run(store, config)
    assert len(receiver.sent) == 1
    assert tally.unfit is not None
    assert f"the receiver answered {status}: 令牌不对" in tally.unfit
    assert remedy in tally.unfit
    assert (tally.done, tally.failed) == (0, 0)
    assert {entry.state for entry in store.outbox.of("hook", ids).values()} == {"waiting"}
    assert run(store, config).published == 30


def test_one_denied_article_blocks_others_for_one_run_only(store: Store, add: Add, receiver: Receiver, tmp_path: Path) -> None:
    """A receiver's firewall may reject one text and accept the others."""
    config = sources(tmp_path, receiver.port)
    ids = [add() for _ in range(3)]
    receiver.answers += [(403, {}, b""), (200, {}, b""), (200, {}, b""), (403, {}, b"")]
    assert run(store, config).unfit is not None
    second = run(store, config)
    assert second.published == 2
    assert second.unfit is not None
    assert sorted(entry.state for entry in store.outbox.of("hook", ids).values()) == ["done", "done", "waiting"]


def test_unavailable_receiver_is_waited_for(store: Store, add: Add, receiver: Receiver, tmp_path: Path) -> None:
    add("a")
    with closing(socket.socket()) as unused:
        unused.bind(("127.0.0.1", 0))
        tally = run(store, sources(tmp_path, unused.getsockname()[1]))
    assert tally.unavailable is not None
    assert "no response" in tally.unavailable
    assert run(store, sources(tmp_path, receiver.port)).published == 1


def test_private_addresses_are_refused(store: Store, add: Add, receiver: Receiver, tmp_path: Path) -> None:
    add("a")
    tally = run(store, sources(tmp_path, receiver.port, allowed="[]"))
    assert tally.unavailable is not None
    assert "allow_private" in tally.unavailable
    assert receiver.sent == []


@pytest.mark.parametrize(("answer", "place"), [(b'{"id": "\\ud800"}', "\ufffd"), (b'{"id": "a\\u0000b"}', "ab"), (b'{"id": true}', "")])
def test_unstorable_id_in_response_is_cleaned(
    store: Store, add: Add, receiver: Receiver, tmp_path: Path, answer: bytes, place: str
) -> None:
    receiver.answers.append((200, {}, answer))
    id = add("a")
    assert run(store, sources(tmp_path, receiver.port)).published == 1
    assert store.outbox.of("hook", [id])[id].location == place
    assert run(store, sources(tmp_path, receiver.port), timedelta(days=3)).done == 0


def test_repeated_state_has_a_new_idempotency_key(store: Store, add: Add, receiver: Receiver, tmp_path: Path) -> None:
    """Otherwise a receiver that remembers keys would keep the previous state."""
    config = sources(tmp_path, receiver.port)
    id = add("a", category="体育")
    run(store, config)
    for category in ("财经", "体育", "财经"):
        store.set_category(id, category, by="editor", now=NOW)
        assert run(store, config).revised == 1
    assert len({headers["idempotency-key"] for headers, _ in receiver.sent}) == len(receiver.sent) == 4


def test_secret_in_url_is_hidden_in_reasons(store: Store, add: Add, receiver: Receiver, tmp_path: Path) -> None:
    add("a")
    config = sources(tmp_path, receiver.port, allowed="[]")
    settings = config.publish[0].model_copy(update={"to": f"http://127.0.0.1:{receiver.port}/in?token=geheim2"})
    work = Work(store, settings, open_target(settings, config), store.outbox.now)
    tally = publish(work)
    assert tally.unavailable is not None
    assert "geheim2" not in tally.unavailable
    assert all("geheim2" not in step.operation for article_, entry in pending(work) for step in work.target.steps(article_, entry))


def test_secret_is_hidden_in_repr(tmp_path: Path) -> None:
    config = sources_with(tmp_path, "- {name: h, to: 'https://h.example/x', secret: geheim}\n")
    assert "geheim" not in repr(config.publish[0])
