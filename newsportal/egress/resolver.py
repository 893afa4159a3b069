"""Names to checked addresses. The address that is checked is the one that is connected to: nobody looks a name up twice."""

from __future__ import annotations

import ipaddress
import socket

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
