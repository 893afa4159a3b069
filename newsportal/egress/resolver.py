"""Names to checked addresses. The address that is checked is the one that is connected to: nobody looks a name up twice."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import threading

from newsportal.egress.addresses import Policy, check_address
from newsportal.errors import EgressDenied


def resolve(host: str, policy: Policy, port: int = 443) -> tuple[str, ...]:
    """The addresses of ``host``, IPv4 first (many hosts have IPv6 names and no IPv6 route), every one allowed by ``policy``.

    Blocks as long as the system's resolver does. Raises ``OSError`` if there is none, :class:`EgressDenied` if *any* address is
    forbidden: a name that leads to a public and to a private address is a trap, not a choice.
    """
    name = host.strip("[]").removesuffix(".").lower()
    addresses = [name] if _is_literal(name) else _lookup(name, port)
    denied = [error for error in (_denial(address, policy, name, port) for address in addresses) if error]
    if denied:
        if len(denied) < len(addresses):
            raise EgressDenied(host, "mixed-answers") from denied[0]
        raise EgressDenied(host, denied[0].reason) from denied[0]
    return tuple(sorted(dict.fromkeys(addresses), key=lambda address: ":" in address))


async def resolve_async(host: str, policy: Policy, port: int = 443) -> tuple[str, ...]:
    """:func:`resolve` in a thread of its own that nobody waits for: a resolver that hangs must not hold up the end of the program."""
    loop = asyncio.get_running_loop()
    found: asyncio.Future[tuple[str, ...]] = loop.create_future()

    def settle(addresses: tuple[str, ...], error: Exception | None) -> None:
        if found.done():
            return  # given up meanwhile
        if error is not None:
            found.set_exception(error)
        else:
            found.set_result(addresses)

    def look() -> None:
        addresses: tuple[str, ...] = ()
        failure: Exception | None = None
        try:
            addresses = resolve(host, policy, port)
        except (OSError, EgressDenied) as error:
            failure = error
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle, addresses, failure)

    threading.Thread(target=look, name=f"resolve {host}", daemon=True).start()
    return await found


def _is_literal(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _lookup(name: str, port: int) -> list[str]:
    try:
        found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:  # an empty or over-long label
        raise OSError(f"not a host name: {name!r}") from error
    return [str(row[4][0]).partition("%")[0] for row in found]


def _denial(address: str, policy: Policy, name: str, port: int) -> EgressDenied | None:
    try:
        check_address(address, policy, host=name, port=port)
    except EgressDenied as error:
        return error
    return None
