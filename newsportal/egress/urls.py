"""URLs as we send them: one spelling, nothing that two parsers read differently."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import quote, urlsplit

import idna

from newsportal.egress.addresses import Policy, check_address
from newsportal.errors import EgressDenied

MAX_URL = 8192
"""Characters; servers' own limits are 8 kB (nginx, Apache)."""

DEFAULT_PORTS = {"http": 80, "https": 443}

BLOCKED_PORTS = frozenset(
    int(port)
    for port in (
        "1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 137 "
        "139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 "
        "1723 2049 3659 4045 4190 5060 5061 6000 6379 6566 6665 6666 6667 6668 6669 6679 6697 10080 11211 "
    ).split()
)
"""Ports of other protocols, to which a web address could smuggle commands: browsers' list (WHATWG Fetch), and Redis and memcached."""

FORBIDDEN = re.compile("[\x00-\x20\x7f-\x9f\ud800-\udfff]")
"""Control characters, white space, lone surrogates. Callers strip what stands around a URL and quote spaces within."""

LABEL = re.compile(r"[a-z0-9_-]{1,63}")
NUMERIC = re.compile(r"\d+|0x[0-9a-f]*")
"""A last label like this makes a host an IPv4 address for many parsers (WHATWG URL), in forms that ours would look up as a name."""

KEPT = "/%:@!$&'()*+,;=~-._[]|{}^`\"<>"
"""Characters of path and query that stay as they were written; ``quote`` adds letters and digits."""


def check_url(url: str, policy: Policy) -> str:
    """``url`` normalised: lower-case scheme and ASCII host, no default port, no fragment, everything else quoted where it must be.

    Raises :class:`EgressDenied`, before any name is looked up, for what is not a plain http(s) URL or names a forbidden address.
    """
    if len(url) > MAX_URL:
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
    wanted = port or DEFAULT_PORTS[parts.scheme]
    name = parts.hostname or ""
    host = f"[{_literal(url, name, policy, wanted)}]" if parts.netloc.startswith("[") else _host(url, name, policy, wanted)
    shown = host if wanted == DEFAULT_PORTS[parts.scheme] else f"{host}:{wanted}"
    query = f"?{quote(parts.query, KEPT + '?')}" if parts.query else ""
    return f"{parts.scheme}://{shown}{quote(parts.path, KEPT) or '/'}{query}"


def _host(url: str, host: str, policy: Policy, port: int) -> str:
    name = _ascii(url, host)
    if NUMERIC.fullmatch(name.rpartition(".")[2]):
        if not _is_ipv4(host) or host != name:
            raise EgressDenied(url, "odd-address")  # octal, hexadecimal, short, full-width: they mean different hosts to different parsers
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
    """The host name in lower-case ASCII without the dot of the root."""
    if not host.isascii():
        try:
            host = idna.encode(host, uts46=True).decode("ascii")
        except idna.IDNAError as error:
            raise EgressDenied(url, "host") from error
    name = host.lower().removesuffix(".")
    if len(name) > 253 or not all(LABEL.fullmatch(label) for label in name.split(".")):
        raise EgressDenied(url, "host")
    return name
