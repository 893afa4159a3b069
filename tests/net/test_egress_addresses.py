"""Allowed and forbidden addresses: every address and spelling of docs/security.md."""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

import httpcore
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from twisted.web.client import URI

from newsportal.errors import EgressDenied
from newsportal.net.egress import PUBLIC, Policy, check_address, check_url, resolve

FORBIDDEN = {
    "127.0.0.1": "loopback",
    "127.8.9.10": "loopback",
    "::1": "loopback",
    "0.0.0.0": "unspecified",
    "0.1.2.3": "unspecified",
    "::": "unspecified",
    "169.254.169.254": "link-local",
    "fe80::1": "link-local",
    "100.100.100.200": "metadata",
    "168.63.129.16": "metadata",
    "192.0.0.192": "metadata",
    "fd00:ec2::254": "metadata",
    "100.64.0.1": "shared",
    "10.0.0.1": "private",
    "172.16.0.1": "private",
    "172.31.255.255": "private",
    "192.168.1.1": "private",
    "fc00::1": "private",
    "fd12:3456::1": "private",
    "198.18.0.1": "benchmark",
    "224.0.0.1": "multicast",
    "ff02::1": "multicast",
    "255.255.255.255": "reserved",
    "240.0.0.1": "reserved",
    "192.0.0.8": "reserved",
    "203.0.113.7": "documentation",
    "2001:db8::1": "documentation",
    "::ffff:127.0.0.1": "loopback",
    "::ffff:10.0.0.1": "private",
    "64:ff9b::7f00:1": "loopback",
    "64:ff9b::a9fe:a9fe": "link-local",
    "64:ff9b:1::1": "reserved",
    "2002:7f00:1::": "tunnel",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2": "tunnel",
    "::127.0.0.1": "reserved",
    "fec0::1": "reserved",
    "4000::1": "reserved",
}


@pytest.mark.parametrize(("address", "reason"), FORBIDDEN.items())
def test_special_addresses_are_refused(address: str, reason: str) -> None:
    with pytest.raises(EgressDenied) as caught:
        check_address(address, PUBLIC)
    assert caught.value.reason == reason
    with pytest.raises(EgressDenied):
        check_url(f"http://[{address}]/" if ":" in address else f"http://{address}/", PUBLIC)


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_public_addresses_are_allowed(address: str) -> None:
    check_address(address, PUBLIC)


@pytest.mark.parametrize(
    ("url", "reason"),
    {
        "file:///etc/passwd": "scheme",
        "ftp://example.com/": "scheme",
        "gopher://example.com/": "scheme",
        "data:text/html,x": "scheme",
        "javascript:alert(1)": "scheme",
        "//example.com/": "scheme",
        "example.com": "scheme",
        "": "scheme",
        "http://localhost/": "loopback",
        "http://localhost./": "loopback",
        "http://LOCALHOST:8080/": "loopback",
        "http://a.localhost/": "loopback",
        "http://0177.0.0.1/": "odd-address",
        "http://0x7f.0.0.1/": "odd-address",
        "http://0x7f000001/": "odd-address",
        "http://2130706433/": "odd-address",
        "http://127.1/": "odd-address",
        "http://127.0.1/": "odd-address",
        "http://127.0.0.1./": "odd-address",
        "http://127.0.0.01/": "odd-address",
        "http://8.8.8.256/": "odd-address",
        "http://１２７.０.０.１/": "odd-address",
        "http://８.８.８.８/": "odd-address",
        "http://127。0。0。1/": "odd-address",
        "http://①②⑦.⓪.⓪.①/": "odd-address",
        "http://[fe80::1%25eth0]/": "link-local",
        "http://[::ffff:7f00:1]/": "loopback",
        "http://[v1.x]/": "malformed",
        "http://[::1/": "malformed",
        "http://169.254.169.254\\@example.com/": "backslash",
        "http:\\\\127.0.0.1\\": "host",
        "http://a@127.0.0.1/": "userinfo",
        "http://user:word@example.com/": "userinfo",
        "http://example.com\r\nX: y/": "control-character",
        "http://example.com/\x00": "control-character",
        "http://exam\tple.com/": "control-character",
        "http://example.com/a b": "control-character",
        "http://example.com/\ud800": "control-character",
        "http://example%2ecom/": "host",
        "http:///path": "host",
        "http://a..b/": "host",
        "http://" + "a" * 64 + ".com/": "host",
        "http://example.com:0/": "port",
        "http://example.com:25/": "port",
        "http://example.com:6379/": "port",
        "http://example.com:99999/": "malformed",
        "http://example.com/" + "a" * 9000: "too-long",
    }.items(),
)
def test_forbidden_urls_are_refused(url: str, reason: str) -> None:
    with pytest.raises(EgressDenied) as caught:
        check_url(url, PUBLIC)
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("url", "sent"),
    {
        "HTTP://Example.COM:80/a#b": "http://example.com/a",
        "https://example.com": "https://example.com/",
        "https://example.com.:443/?q=1": "https://example.com/?q=1",
        "http://新闻.中国/路?词=旅游": "http://xn--efvy88h.xn--fiqs8s/%E8%B7%AF?%E8%AF%8D=%E6%97%85%E6%B8%B8",
        "http://a_b.example.com:8080/%E8%B7": "http://a_b.example.com:8080/%E8%B7",
        "http://[2606:4700::1111]:81/": "http://[2606:4700::1111]:81/",
        "http://8.8.8.8/": "http://8.8.8.8/",
        "http://example.com/a\\b": "http://example.com/a%5Cb",
        "http://example.com/a@b:c": "http://example.com/a@b:c",
    }.items(),
)
def test_urls_are_normalized(url: str, sent: str) -> None:
    assert check_url(url, PUBLIC) == sent
    assert check_url(sent, PUBLIC) == sent


def test_listed_networks_and_hosts_are_allowed() -> None:
    policy = Policy(("127.0.0.1:8123", "10.1.0.0/16", "*.intra.example", "wiki:8080", "[fd00::1]:99", "localhost"))
    check_url("http://127.0.0.1:8123/", policy)
    check_url("http://10.1.2.3/", policy)
    check_url("http://[fd00::1]:99/", policy)
    check_url("http://localhost:5/", policy)
    check_address("192.168.0.9", policy, host="news.intra.example", port=80)
    check_address("172.20.0.1", policy, host="wiki", port=8080)
    for address, host, port in [
        ("127.0.0.1", "", 8124),
        ("10.2.0.1", "", 80),
        ("192.168.0.9", "intra.example", 80),
        ("192.168.0.9", "evilintra.example", 80),
        ("172.20.0.1", "wiki", 80),
        ("169.254.169.254", "news.intra.example", 80),
        ("224.0.0.1", "news.intra.example", 80),
    ]:
        with pytest.raises(EgressDenied):
            check_address(address, policy, host=host, port=port)


@pytest.mark.parametrize("entry", ["", "10.0.0.0/99", "http://x/", "a b", "256.1.1.1", "*", "127.0.0.1:x"])
def test_invalid_policy_entry_is_refused(entry: str) -> None:
    with pytest.raises(ValueError, match="not a network"):
        Policy((entry,))


def _answers(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> list[str]:
    names: list[str] = []

    def getaddrinfo(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        names.append(host)
        return [(socket.AF_INET6 if ":" in ip else socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port)) for ip in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return names


def test_public_name_resolves_ipv4_first(monkeypatch: pytest.MonkeyPatch) -> None:
    _answers(monkeypatch, "2606:4700::1", "1.1.1.1", "1.1.1.1")
    assert resolve("example.com", PUBLIC) == ("1.1.1.1", "2606:4700::1")


def test_public_name_with_private_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    _answers(monkeypatch, "192.168.1.1")
    with pytest.raises(EgressDenied) as caught:
        resolve("example.com", PUBLIC)
    assert caught.value.reason == "private"


def test_mixed_addresses_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    _answers(monkeypatch, "1.1.1.1", "127.0.0.1")
    with pytest.raises(EgressDenied) as caught:
        resolve("example.com", PUBLIC)
    assert caught.value.reason == "mixed-answers"


def test_link_local_addresses_with_zone_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    _answers(monkeypatch, "fe80::1%2")
    with pytest.raises(EgressDenied):
        resolve("example.com", Policy(("example.com",)))


def test_literal_addresses_are_not_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    names = _answers(monkeypatch, "1.1.1.1")
    assert resolve("[2606:4700::1]", PUBLIC) == ("2606:4700::1",)
    with pytest.raises(EgressDenied):
        resolve("127.0.0.1", PUBLIC)
    assert names == []


def test_invalid_host_name_is_an_os_error() -> None:
    with pytest.raises(OSError, match="not a host name"):
        resolve("a" * 70 + ".example", PUBLIC)


# properties


SPELLINGS = st.sampled_from(["{}", "{:o}", "0{:o}", "0x{:x}", "0X{:X}", "{:03d}", "{:08b}", " {}", "{}%20"])
WIDE = str.maketrans("0123456789.", "０１２３４５６７８９。")


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.lists(SPELLINGS, min_size=4, max_size=4), st.booleans(), st.sampled_from(["", "."]))
def test_any_spelling_of_an_ipv4_address_is_refused_or_plain(number: int, parts: int, spellings: list[str], wide: bool, dot: str) -> None:
    """One to four parts, each in any base, the last covering the remaining bytes, as inet_aton reads them."""
    octets = list(number.to_bytes(4, "big"))
    values = [*octets[: parts - 1], int.from_bytes(bytes(octets[parts - 1 :]), "big")]
    host = ".".join(spelling.format(value) for spelling, value in zip(spellings, values, strict=False)) + dot
    host = host.translate(WIDE) if wide else host
    try:
        sent = check_url(f"http://{host}/", PUBLIC)
    except EgressDenied:
        return
    assert sent == f"http://{ipaddress.IPv4Address(host)}/"
    check_address(host, PUBLIC)


@given(st.text(st.sampled_from("ahtp:/\\@[]%.0127x-_?#& \t\n。１é中"), max_size=40))
def test_normalized_url_has_one_host_in_every_parser(tail: str) -> None:
    try:
        sent = check_url("http://" + tail, PUBLIC)
    except EgressDenied:
        return
    parts = urlsplit(sent)
    assert httpcore.URL(sent).host.decode() == parts.hostname == httpx.URL(sent).raw_host.decode()
    assert URI.fromBytes(sent.encode("ascii")).host.decode().strip("[]") == parts.hostname
    assert check_url(sent, PUBLIC) == sent


@given(st.integers(0, 2**128 - 1))
def test_only_allocated_ipv6_addresses_are_public(number: int) -> None:
    address = ipaddress.IPv6Address(number)
    try:
        check_address(address, PUBLIC)
    except EgressDenied:
        return
    assert address in ipaddress.IPv6Network("2000::/3") or address.ipv4_mapped or address in ipaddress.IPv6Network("64:ff9b::/96")
