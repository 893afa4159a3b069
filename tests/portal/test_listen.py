"""Ports and addresses, and what is said when they cannot be had."""

from __future__ import annotations

import socket

import pytest

from newsportal.portal.guard import ANY_ADDRESS, hosts_of
from newsportal.portal.listen import CannotListen, address_of, listen


def test_a_port_in_use_names_the_remedy() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CannotListen, match=f"port {port} is in use.*--port"):
            listen("127.0.0.1", port)


def test_without_a_port_the_next_free_one_is_taken() -> None:
    with listen() as first, listen() as second:
        assert first.getsockname()[1] != second.getsockname()[1]


@pytest.mark.parametrize("host", ["no such host.invalid", "192.0.2.1", "\x00", "x" * 300])
def test_an_address_of_another_machine_is_refused_with_advice(host: str) -> None:
    with pytest.raises(CannotListen, match="--host"):
        listen(host, 0)


@pytest.mark.parametrize(
    ("host", "start"), [("127.0.0.1", "http://127.0.0.1:"), ("0.0.0.0", "http://127.0.0.1:"), ("localhost", "http://localhost:")]
)
def test_the_address_can_be_opened_on_this_machine(host: str, start: str) -> None:
    with listen(host, 0) as bound:
        assert address_of(bound, host).startswith(start)


def test_all_numeric_addresses_are_allowed_only_when_listening_on_all() -> None:
    assert ANY_ADDRESS in hosts_of("0.0.0.0")
    assert ANY_ADDRESS in hosts_of("::")
    assert ANY_ADDRESS not in hosts_of("127.0.0.1")
    assert hosts_of("[::1]", ["News.Example"])[-1] == "news.example"


def test_answers_are_not_delayed_by_the_socket() -> None:
    """asyncio sets TCP_NODELAY only on sockets whose protocol is named; without it every answer takes 40 ms more."""
    with listen("127.0.0.1", 0) as bound:
        assert bound.proto == socket.IPPROTO_TCP
