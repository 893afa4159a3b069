"""Listening on ports and addresses, and error messages if that fails."""

from __future__ import annotations

import socket

import pytest

from newsportal.portal.guard import ANY_ADDRESS, hosts_of
from newsportal.portal.listen import CannotListen, address_of, listen


def test_port_in_use_error_names_the_remedy() -> None:
    with listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        with pytest.raises(CannotListen, match=f"port {port} is in use.*--port"):
            listen("127.0.0.1", port)


def test_next_free_port_is_used_by_default() -> None:
    with listen() as first, listen() as second:
        assert first.getsockname()[1] != second.getsockname()[1]


@pytest.mark.parametrize("host", ["no such host.invalid", "192.0.2.1", "\x00", "x" * 300])
def test_foreign_address_error_names_the_remedy(host: str) -> None:
    with pytest.raises(CannotListen, match="--host"):
        listen(host, 0)


@pytest.mark.parametrize(
    ("host", "start"), [("127.0.0.1", "http://127.0.0.1:"), ("0.0.0.0", "http://127.0.0.1:"), ("localhost", "http://localhost:")]
)
def test_printed_url_opens_on_this_machine(host: str, start: str) -> None:
    with listen(host, 0) as bound:
        assert address_of(bound, host).startswith(start)


def test_any_ip_host_is_allowed_only_when_listening_on_all() -> None:
    assert ANY_ADDRESS in hosts_of("0.0.0.0")
    assert ANY_ADDRESS in hosts_of("::")
    assert ANY_ADDRESS not in hosts_of("127.0.0.1")
    assert hosts_of("[::1]", ["News.Example"])[-1] == "news.example"


def test_sockets_name_their_protocol() -> None:
    """asyncio sets TCP_NODELAY only on sockets with an explicit protocol; without it every answer takes 40 ms longer."""
    with listen("127.0.0.1", 0) as bound:
        assert bound.proto == socket.IPPROTO_TCP
