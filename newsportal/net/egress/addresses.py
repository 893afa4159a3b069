"""Policy of IP addresses: public ones, and private ones that the operator lists; and resolution of names to allowed addresses.

Networks are named after IANA's registries of special-purpose addresses (RFC 6890 and its updates, as of 2026). Python's ``is_global`` is
not used, because it differs between the supported versions. Connections use the address that was checked: no name is resolved twice.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
import threading
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from urllib.parse import quote, urlsplit

import idna

from newsportal.errors import EgressDenied


def resolve(host: str, policy: Policy, port: int = 443) -> tuple[str, ...]:
    """Return the IP addresses of ``host``, IPv4 first (many hosts have IPv6 names but no IPv6 route), all allowed by ``policy``.

    Blocks as long as the system's resolver does. Raises ``OSError`` if there is none, :class:`EgressDenied` if *any* address is forbidden:
    a name with both a public and a private address is an attack, not a choice.
    """
    name = host.strip("[]").removesuffix(".").lower()
    addresses = [name] if is_literal(name) else _lookup(name, port)
    denied: list[EgressDenied] = []
    for address in addresses:
        try:
            check_address(address, policy, host=name, port=port)
        except EgressDenied as error:
            denied.append(error)
    if denied:
        raise EgressDenied(host, "mixed-answers" if len(denied) < len(addresses) else denied[0].reason) from denied[0]
    return tuple(sorted(dict.fromkeys(addresses), key=lambda address: ":" in address))


async def resolve_async(host: str, policy: Policy, port: int = 443) -> tuple[str, ...]:
    """Run :func:`resolve` in a daemon thread: a hanging resolver must not delay the end of the program."""
    answer: Future[tuple[str, ...]] = Future()
    answer.set_running_or_notify_cancel()  # cancelling the wait does not stop the thread

    def look() -> None:
        try:
            answer.set_result(resolve(host, policy, port))
        except (OSError, EgressDenied) as error:
            answer.set_exception(error)

    threading.Thread(target=look, name=f"resolve {host}", daemon=True).start()
    return await asyncio.wrap_future(answer)


def is_literal(name: str) -> bool:
    """Return whether a host is an IP address rather than a name."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _lookup(name: str, port: int) -> list[str]:
    try:
        rows = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:  # an empty or too long label
        raise OSError(f"not a host name: {name!r}") from error
    return [str(row[4][0]).partition("%")[0] for row in rows]


Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

INTERNAL = {
    "loopback": ("127.0.0.0/8", "::1/128"),
    "private": ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"),
    "shared": ("100.64.0.0/10",),  # carrier-grade NAT
    "benchmark": ("198.18.0.0/15", "2001:2::/48"),  # also the answer of some VPN clients for every name
}
"""Networks of an intranet: a listed host name may resolve to them."""

NEVER_RESOLVED = {
    "metadata": ("100.100.100.200/32", "168.63.129.16/32", "fd00:ec2::254/128", "192.0.0.192/32"),  # Alibaba, Azure, Amazon, Oracle
    "unspecified": ("0.0.0.0/8", "::/128"),
    "link-local": ("169.254.0.0/16", "fe80::/10"),  # 169.254.169.254: the metadata of most clouds
    "multicast": ("224.0.0.0/4", "ff00::/8"),
    "reserved": ("192.0.0.0/24", "192.88.99.0/24", "240.0.0.0/4", "100::/64", "2001::/23", "5f00::/16", "fec0::/10"),
    "documentation": ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20"),
    "tunnel": ("2002::/16", "2001::/32"),  # 6to4 and Teredo contain an unchecked IPv4 address
}
"""Networks that no host name may resolve to, listed or not; only the network itself can be listed."""


def _table(names: dict[str, tuple[str, ...]], by_name: bool) -> list[tuple[Network, str, bool]]:
    return [(ipaddress.ip_network(network), reason, by_name) for reason, networks in names.items() for network in networks]


REFUSED_NETWORKS = sorted(_table(INTERNAL, True) + _table(NEVER_RESOLVED, False), key=lambda row: -row[0].prefixlen)
"""Network, reason, and whether a listed host name may resolve to it; the narrowest network first."""

UNICAST = IPv6Network("2000::/3")  # the only IPv6 addresses in use (RFC 4291)
NAT64 = IPv6Network("64:ff9b::/96")
"""IPv4 hosts on networks with only IPv6 (RFC 6052): judged by the IPv4 address within."""

HOST_PATTERN = re.compile(r"(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*")


@dataclass(frozen=True, slots=True)
class AllowedTarget:
    """An entry of ``allow_private``: a network or a host pattern, for one port or all."""

    network: Network | None
    host: str | None
    port: int | None

    def covers(self, address: Address, port: int | None) -> bool:
        return self.network is not None and self._port_fits(port) and address.version == self.network.version and address in self.network

    def matches_host(self, host: str, port: int | None) -> bool:
        if self.host is None or not self._port_fits(port):
            return False
        return host.endswith(self.host[1:]) if self.host.startswith("*.") else host == self.host

    def _port_fits(self, port: int | None) -> bool:
        return self.port is None or self.port == port


@dataclass(frozen=True, slots=True)
class Policy:
    """The private addresses that are allowed: ``("127.0.0.1:8123", "10.1.0.0/16", "*.intra.example", "wiki:8080")``.

    A network allows every address in it; a host name allows that name if it resolves to an intranet address, but never link-local,
    multicast or metadata addresses. Raises ``ValueError`` for an invalid entry.
    """

    allow_private: tuple[str, ...] = ()
    allowed: tuple[AllowedTarget, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "allowed", tuple(_opening(entry) for entry in self.allow_private))

    def allows_host(self, host: str, port: int | None) -> bool:
        return any(entry.matches_host(host, port) for entry in self.allowed)

    def lists_host(self, host: str, port: int | None) -> bool:
        """Return whether ``host``, a name or an IP address, is itself listed, whatever it resolves to."""
        return self.allows_host(host, port) or (is_literal(host) and self.allows_address(ipaddress.ip_address(host), port))

    def allows_address(self, address: Address, port: int | None) -> bool:
        return any(entry.covers(address, port) for entry in self.allowed)


PUBLIC = Policy()  # public addresses only


def _opening(entry: str) -> AllowedTarget:
    text, port = _split_port(entry.strip().lower())
    try:
        return AllowedTarget(ipaddress.ip_network(text, strict=False), None, port)
    except ValueError:
        pass
    if not HOST_PATTERN.fullmatch(text) or text.rpartition(".")[2].isdigit():
        raise ValueError(f"{entry!r} is not a network, an IP address, a host name or *.domain, each with or without :port")
    return AllowedTarget(None, text, port)


def _split_port(text: str) -> tuple[str, int | None]:
    if bracketed := re.fullmatch(r"\[([^\]]+)\](?::(\d{1,5}))?", text):
        return bracketed[1], int(bracketed[2]) if bracketed[2] else None
    host, colon, port = text.rpartition(":")
    return (host, int(port)) if colon and ":" not in host and port.isdigit() else (text, None)


def embedded_ipv4(address: Address) -> Address:
    """Return the IPv4 address within an IPv4-mapped or NAT64 address; any other address unchanged."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address in NAT64:
            return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def private_reason(address: Address) -> tuple[str, bool] | None:
    """Return why an address is not public, and whether a listed host name may resolve to it; ``None`` for a public one."""
    inner = embedded_ipv4(address)
    for network, reason, by_name in REFUSED_NETWORKS:
        if inner.version == network.version and inner in network:
            return reason, by_name
    return ("reserved", False) if isinstance(inner, IPv6Address) and inner not in UNICAST else None


def check_address(address: str | Address, policy: Policy, *, host: str = "", port: int | None = None) -> None:
    """Raise :class:`EgressDenied` for an address that ``policy`` does not allow; ``host`` is the name that resolved to it."""
    parsed = ipaddress.ip_address(address) if isinstance(address, str) else address
    refusal = private_reason(parsed)
    if refusal is None or policy.allows_address(embedded_ipv4(parsed), port) or policy.allows_address(parsed, port):
        return
    reason, by_name = refusal
    if not (by_name and host and policy.allows_host(host, port)):
        raise EgressDenied(f"{host} ({parsed})" if host else str(parsed), reason)


MAX_URL_CHARS = 8192  # characters; servers' own limits are 8 kB (nginx, Apache)
DEFAULT_PORTS = {"http": 80, "https": 443}

BLOCKED_PORTS = frozenset(
    int(port)
    for port in (
        "1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 137 "
        "139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 "
        "1723 2049 3659 4045 4190 5060 5061 6000 6379 6566 6665 6666 6667 6668 6669 6679 6697 10080 11211 "
    ).split()
)
"""Ports of other protocols, to which a URL could smuggle commands: browsers' list (WHATWG Fetch), and Redis and memcached."""

FORBIDDEN = re.compile("[\x00-\x20\x7f-\x9f\ud800-\udfff]")
"""Control characters, white space, lone surrogates. Callers strip white space around a URL and quote spaces within."""

LABEL = re.compile(r"[a-z0-9_-]{1,63}")
NUMERIC = re.compile(r"\d+|0x[0-9a-f]*")
"""If the last label matches, many parsers read the host as an IPv4 address (WHATWG URL), where others resolve it as a name."""

UNQUOTED = "/%:@!$&'()*+,;=~-._[]|{}^`\"<>"
"""Characters of path and query that are not quoted, besides letters and digits."""


@lru_cache(maxsize=256)  # a crawl checks a URL before it is queued and when it is requested
def check_url(url: str, policy: Policy) -> str:
    """Return ``url`` normalized: lower-case scheme and ASCII host, no default port, no fragment, quoted where necessary. Raises
    :class:`EgressDenied`, before any name resolution, for anything but a plain http(s) URL, and for a forbidden IP address."""
    if len(url) > MAX_URL_CHARS:
        raise EgressDenied(url[:100] + "…", "too-long")
    if FORBIDDEN.search(url):
        raise EgressDenied(url, "control-character")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise EgressDenied(url, "malformed") from error
    if parts.scheme not in DEFAULT_PORTS:
        raise EgressDenied(url, "scheme")
    if "\\" in parts.netloc or "@" in parts.netloc:
        raise EgressDenied(url, "backslash" if "\\" in parts.netloc else "userinfo")
    if port is not None and (port == 0 or port in BLOCKED_PORTS):
        raise EgressDenied(url, "port")
    real_port = port or DEFAULT_PORTS[parts.scheme]
    name = parts.hostname or ""
    host = f"[{_literal(url, name, policy, real_port)}]" if parts.netloc.startswith("[") else _host(url, name, policy, real_port)
    netloc = host if real_port == DEFAULT_PORTS[parts.scheme] else f"{host}:{real_port}"
    query = f"?{quote(parts.query, UNQUOTED + '?')}" if parts.query else ""
    return f"{parts.scheme}://{netloc}{quote(parts.path, UNQUOTED) or '/'}{query}"


def _host(url: str, host: str, policy: Policy, port: int) -> str:
    name = _ascii(url, host)
    if NUMERIC.fullmatch(name.rpartition(".")[2]):
        if not _is_ipv4(host) or host != name:
            raise EgressDenied(url, "odd-address")  # octal, hexadecimal, short, full-width: different hosts for different parsers
        return _literal(url, host, policy, port)
    if (name == "localhost" or name.endswith(".localhost")) and not policy.allows_host(name, port):
        raise EgressDenied(url, "loopback")
    return name


def _literal(url: str, host: str, policy: Policy, port: int) -> str:
    try:
        address = IPv4Address(host) if _is_ipv4(host) else IPv6Address(host)
    except ValueError as error:
        raise EgressDenied(url, "malformed") from error
    if isinstance(address, IPv6Address) and address.scope_id:
        raise EgressDenied(url, "link-local")
    try:
        check_address(address, policy, port=port)
    except EgressDenied as error:
        raise EgressDenied(url, error.reason) from error
    return str(address)


def _is_ipv4(host: str) -> bool:
    try:
        return str(IPv4Address(host)) == host
    except ValueError:
        return False


def _ascii(url: str, host: str) -> str:
    """Return the host name in lower-case ASCII without the trailing dot."""
    if not host.isascii():
        try:
            host = idna.encode(host, uts46=True).decode("ascii")
        except idna.IDNAError as error:
            raise EgressDenied(url, "host") from error
    name = host.lower().removesuffix(".")
    if len(name) > 253 or not all(LABEL.fullmatch(label) for label in name.split(".")):
        raise EgressDenied(url, "host")
    return name


INTERNAL_REASONS = frozenset({*INTERNAL, *NEVER_RESOLVED})


def points_to_internal(url: str, page: str = "", policy: Policy = PUBLIC) -> bool:
    """Return whether ``url`` itself shows that it must not be opened in a reader's browser from a public page: it points to his network, to
    a port of another protocol, or has an unusual form. A ``page`` in a private network may link to others there. Names are not resolved."""
    reason = _refusal(url, policy)
    return reason is not None and not (reason in INTERNAL_REASONS and _refusal(page, policy) in INTERNAL_REASONS)


def _refusal(url: str, policy: Policy) -> str | None:
    try:
        host = urlsplit(check_url(FORBIDDEN.sub("%20", url), policy)).hostname or ""
    except EgressDenied as error:
        return error.reason
    return None if "." in host or ":" in host or policy.allows_host(host, None) else "private"
