"""Servers that hang or are down: readers are answered immediately, and a recovered server is used again."""

from __future__ import annotations

import selectors
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
from servers import own_server

from newsportal.errors import SearchUnavailable, ServerUnavailable, StoreError, StoreUnavailable
from newsportal.portal.circuit_breaker import CircuitBreaker, guard_index, guard_store
from newsportal.search import elastic, elastic_connection, open_index
from newsportal.search.base import Query
from newsportal.store import dialects, open_store
from newsportal.store.store import Store

UNAVAILABLE = ServerUnavailable("the server is away; start it")


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def fail() -> None:
    raise UNAVAILABLE


def must_not_be_called() -> None:
    raise AssertionError("a request was sent to a paused server")


def test_failed_server_is_retried_once_after_pause() -> None:
    clock = Clock()
    breaker = CircuitBreaker(5, clock)
    assert breaker.call(lambda: 1) == 1
    with pytest.raises(ServerUnavailable, match="start it"):
        breaker.call(fail)
    for clock.now in (0.0, 4.9):
        with pytest.raises(ServerUnavailable, match="start it"):
            breaker.call(must_not_be_called)
    clock.now = 5.0
    with pytest.raises(ServerUnavailable):
        breaker.call(fail)
    clock.now = 9.9
    with pytest.raises(ServerUnavailable):
        breaker.call(must_not_be_called)
    clock.now = 10.0

    def others_wait() -> int:
        with pytest.raises(ServerUnavailable):
            breaker.call(must_not_be_called)
        return 2

    assert breaker.call(others_wait) == 2
    assert breaker.call(lambda: 3) == 3


def test_other_errors_do_not_open_the_circuit() -> None:
    breaker = CircuitBreaker(5, Clock())
    for error in (StoreError("no such story"), StoreUnavailable("locked"), KeyError("x")):

        def raise_error(error: Exception = error) -> None:
            raise error

        with pytest.raises(type(error)):
            breaker.call(raise_error)
        assert breaker.call(lambda: 1) == 1


def test_failure_during_iteration_opens_the_circuit() -> None:
    clock, breaker = Clock(), CircuitBreaker(5, Clock())

    def rows(fails_at: int) -> Iterator[int]:
        for number in range(3):
            if number == fails_at:
                raise UNAVAILABLE
            yield number

    assert list(breaker.call(rows, 9)) == [0, 1, 2]
    for fails_at in (0, 2):
        breaker = CircuitBreaker(5, clock)
        with pytest.raises(ServerUnavailable):
            list(breaker.call(rows, fails_at))
        with pytest.raises(ServerUnavailable):
            breaker.call(must_not_be_called)


def test_guarded_store_answers_like_the_store(store: Store, ids: dict[str, str]) -> None:
    rested = guard_store(store)
    assert rested.tally() == store.tally()
    assert rested.readers.history("nobody") == []
    assert len(list(rested.all_articles())) == store.tally().articles


REQUEST_STARTS = (b"GET ", b"HEAD ", b"POST ", b"PUT ", b"\x00\x00\x00\x08\x04\xd2")
"""First bytes of HTTP requests, and of PostgreSQL's request for encryption, which opens a connection."""


class HangingServer:
    """Server that accepts connections and never answers; ``requests`` counts the requests."""

    def __init__(self, port: int) -> None:
        self._listening = socket.socket()
        self._listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bind(self._listening, port)
        self._listening.listen(64)
        self.port: int = self._listening.getsockname()[1]
        self.requests = 0
        self._accepting = threading.Thread(target=self._accept)
        self._accepting.start()

    def _accept(self) -> None:
        with selectors.DefaultSelector() as waiting:
            waiting.register(self._listening, selectors.EVENT_READ)
            while True:
                for found, _ in waiting.select():
                    if found.fileobj is not self._listening:
                        self._receive(waiting, found.fileobj)
                        continue
                    try:
                        waiting.register(self._listening.accept()[0], selectors.EVENT_READ)
                    except OSError:
                        return self._close_all(waiting)

    def _receive(self, waiting: selectors.BaseSelector, key: Any) -> None:
        try:
            data = key.recv(65536)
        except ConnectionError:
            data = b""
        if data:
            self.requests += data.startswith(REQUEST_STARTS)
        else:
            waiting.unregister(key)
            key.close()

    def _close_all(self, waiting: selectors.BaseSelector) -> None:
        for key in list(waiting.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._accepting.join()


@contextmanager
def hanging(port: int = 0) -> Iterator[HangingServer]:
    with closing(HangingServer(port)) as server:
        yield server


def bind(listening: socket.socket, port: int) -> None:
    """Bind to a port that a killed server may still hold for a moment."""
    deadline = time.monotonic() + 600
    while True:
        try:
            return listening.bind(("127.0.0.1", port))
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


MANY_READERS = 20
"""Requests during the pause; without the circuit breaker each would wait for the server."""


@pytest.mark.slow
def test_hanging_search_server_delays_only_the_first_search(serve, fresh: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elastic, "SEARCH_SECONDS", 2.0)
    monkeypatch.setattr(elastic_connection, "TIMEOUT_SECONDS", 2.0)
    with hanging() as server, closing(open_index(f"elasticsearch://127.0.0.1:{server.port}/news")) as index:
        client = serve(fresh, index)

        def search() -> None:
            assert "搜索暂时不可用" in client.get("/search", params={"q": "桥"}).text

        search()
        before = server.requests
        assert before > 0
        for _ in range(MANY_READERS):
            search()
        assert server.requests - before < MANY_READERS / 2  # none, unless the pause ends before all requests were sent


@pytest.mark.slow
def test_concurrent_readers_give_up_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader who waits for another's unanswered query gives up and does not send the query again."""
    monkeypatch.setattr(elastic, "SEARCH_SECONDS", 1.0)
    monkeypatch.setattr(elastic_connection, "TIMEOUT_SECONDS", 3.0)
    with hanging() as server, closing(open_index(f"elasticsearch://127.0.0.1:{server.port}/news")) as index:
        rested, refused = guard_index(index), []

        def search() -> None:
            with pytest.raises(SearchUnavailable) as error:
                rested.search(Query("桥"))
            refused.append(error)

        threads = [threading.Thread(target=search) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(refused) == len(threads)
        assert 0 < server.requests < len(threads) / 2


@pytest.mark.slow
def test_recovered_store_is_used_again(serve, newsroom, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialects, "CONNECT_SECONDS", 2)
    with own_server("postgresql") as server, closing(open_store(server.url("news"))) as store:
        newsroom.write(store, newsroom.article("汛期通报", "各地加强巡查。" * 9, ago=1))
        client = serve(store)
        assert "汛期通报" in client.get("/").text
        server.kill()
        with hanging(server.port) as hung:
            client.get("/health")
            before = hung.requests
            assert {client.get("/health").json()["status"] for _ in range(MANY_READERS)} == {"store-unavailable"}
            assert hung.requests - before < MANY_READERS / 2
        server.start()
        deadline = time.monotonic() + 600
        while client.get("/health").json()["status"] != "ok":
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert "汛期通报" in client.get("/").text
