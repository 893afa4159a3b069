"""Servers that hang or are away: readers are answered at once, and find the server again when it is back."""

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

AWAY = ServerUnavailable("the server is away; start it")


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def failing() -> None:
    raise AWAY


def never() -> None:
    raise AssertionError("a server that rests was asked")


def test_a_server_that_failed_rests_and_one_question_tries_it() -> None:
    clock = Clock()
    rest = CircuitBreaker(5, clock)
    assert rest.call(lambda: 1) == 1
    with pytest.raises(ServerUnavailable, match="start it"):
        rest.call(failing)
    for clock.now in (0.0, 4.9):
        with pytest.raises(ServerUnavailable, match="start it"):
            rest.call(never)
    clock.now = 5.0
    with pytest.raises(ServerUnavailable):
        rest.call(failing)
    clock.now = 9.9
    with pytest.raises(ServerUnavailable):
        rest.call(never)
    clock.now = 10.0

    def others_wait() -> int:
        with pytest.raises(ServerUnavailable):
            rest.call(never)
        return 2

    assert rest.call(others_wait) == 2
    assert rest.call(lambda: 3) == 3


def test_what_a_server_says_is_no_failure_to_answer() -> None:
    rest = CircuitBreaker(5, Clock())
    for error in (StoreError("no such story"), StoreUnavailable("locked"), KeyError("x")):

        def says(error: Exception = error) -> None:
            raise error

        with pytest.raises(type(error)):
            rest.call(says)
        assert rest.call(lambda: 1) == 1


def test_what_is_read_bit_by_bit_counts_too() -> None:
    clock, rest = Clock(), CircuitBreaker(5, Clock())

    def rows(fails_at: int) -> Iterator[int]:
        for number in range(3):
            if number == fails_at:
                raise AWAY
            yield number

    assert list(rest.call(rows, 9)) == [0, 1, 2]
    for fails_at in (0, 2):
        rest = CircuitBreaker(5, clock)
        with pytest.raises(ServerUnavailable):
            list(rest.call(rows, fails_at))
        with pytest.raises(ServerUnavailable):
            rest.call(never)


def test_a_store_that_rests_answers_as_it_does(store: Store, ids: dict[str, str]) -> None:
    rested = guard_store(store)
    assert rested.tally() == store.tally()
    assert rested.readers.history("nobody") == []
    assert len(list(rested.all_articles())) == store.tally().articles


QUESTIONS = (b"GET ", b"HEAD ", b"POST ", b"PUT ", b"\x00\x00\x00\x08\x04\xd2")
"""How questions over HTTP begin, and PostgreSQL's for encryption, which opens a connection."""


class Hanging:
    """A server that accepts and never answers; ``asked`` are the questions that came."""

    def __init__(self, port: int) -> None:
        self._listening = socket.socket()
        self._listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound(self._listening, port)
        self._listening.listen(64)
        self.port: int = self._listening.getsockname()[1]
        self.asked = 0
        self._accepting = threading.Thread(target=self._accept)
        self._accepting.start()

    def _accept(self) -> None:
        with selectors.DefaultSelector() as waiting:
            waiting.register(self._listening, selectors.EVENT_READ)
            while True:
                for found, _ in waiting.select():
                    if found.fileobj is not self._listening:
                        self._hear(waiting, found.fileobj)
                        continue
                    try:
                        waiting.register(self._listening.accept()[0], selectors.EVENT_READ)
                    except OSError:
                        return self._let_go(waiting)

    def _hear(self, waiting: selectors.BaseSelector, came: Any) -> None:
        try:
            said = came.recv(65536)
        except ConnectionError:
            said = b""
        if said:
            self.asked += said.startswith(QUESTIONS)
        else:
            waiting.unregister(came)
            came.close()

    def _let_go(self, waiting: selectors.BaseSelector) -> None:
        for one in list(waiting.get_map().values()):
            one.fileobj.close()  # type: ignore[union-attr]

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._accepting.join()


@contextmanager
def hanging(port: int = 0) -> Iterator[Hanging]:
    with closing(Hanging(port)) as server:
        yield server


def bound(listening: socket.socket, port: int) -> None:
    """Bind to a port that a server which was killed may hold for a moment more."""
    end = time.monotonic() + 600
    while True:
        try:
            return listening.bind(("127.0.0.1", port))
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


MANY = 20
"""Readers who come while a server rests: each would have to wait for it, were it asked for each."""


@pytest.mark.slow
def test_a_search_server_that_hangs_keeps_readers_for_one_question_alone(serve, fresh: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elastic, "SEARCH_SECONDS", 2.0)
    monkeypatch.setattr(elastic_connection, "ANSWER_SECONDS", 2.0)
    with hanging() as server, closing(open_index(f"elasticsearch://127.0.0.1:{server.port}/news")) as index:
        client = serve(fresh, index)

        def search() -> None:
            assert "搜索暂时不可用" in client.get("/search", params={"q": "桥"}).text

        search()
        asked = server.asked
        assert asked > 0
        for _ in range(MANY):
            search()
        assert server.asked - asked < MANY / 2  # none, unless the rest is over before all have come


@pytest.mark.slow
def test_readers_who_came_together_are_let_go_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits behind a question that is not answered gives up by himself, and does not ask it next."""
    monkeypatch.setattr(elastic, "SEARCH_SECONDS", 1.0)
    monkeypatch.setattr(elastic_connection, "ANSWER_SECONDS", 3.0)
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
        assert 0 < server.asked < len(threads) / 2


@pytest.mark.slow
def test_a_store_that_hangs_is_found_again_when_it_is_back(serve, newsroom, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialects, "CONNECT_SECONDS", 2)
    with own_server("postgresql") as server, closing(open_store(server.url("news"))) as store:
        newsroom.write(store, newsroom.article("汛期通报", "各地加强巡查。" * 9, ago=1))
        client = serve(store)
        assert "汛期通报" in client.get("/").text
        server.kill()
        with hanging(server.port) as hung:
            client.get("/health")
            asked = hung.asked
            assert {client.get("/health").json()["status"] for _ in range(MANY)} == {"store-unavailable"}
            assert hung.asked - asked < MANY / 2
        server.start()
        end = time.monotonic() + 600
        while client.get("/health").json()["status"] != "ok":
            assert time.monotonic() < end
            time.sleep(0.2)
        assert "汛期通报" in client.get("/").text
