"""HTTP outside the crawl, with hostile servers on loopback and without any server."""

from __future__ import annotations

import asyncio
import gzip
import importlib
import socket
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from threading import Event
from typing import Any

import brotli
import pytest
from work_counts import HANG

from newsportal.errors import EgressDenied, FetchFailed, Redirected
from newsportal.net.egress import PUBLIC, Policy, TooLarge, decompress, fetch, fetch_async, open_exchange

try:
    from backports import zstd
except ImportError:  # Python 3.14
    from compression import zstd

decompressing = importlib.import_module("newsportal.net.egress.decompress")
TEXT = "北京今日晴。".encode() * 2000
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": lambda data: brotli.compress(data, quality=5),
    "zstd": zstd.compress,
}


def _raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


# decompression


@pytest.mark.parametrize("name", PACKERS)
def test_every_encoding_is_decompressed(name: str) -> None:
    assert decompress(PACKERS[name](TEXT), name.upper(), len(TEXT)) == TEXT


def test_several_encodings_are_undone_from_last_to_first() -> None:
    assert decompress(brotli.compress(zlib.compress(TEXT)), "deflate, br", len(TEXT)) == TEXT


def test_raw_deflate_and_multi_member_gzip() -> None:
    assert decompress(_raw_deflate(TEXT), "deflate", len(TEXT)) == TEXT
    assert decompress(gzip.compress(TEXT[:99]) + gzip.compress(TEXT[99:]) + b"\0\0", "gzip", len(TEXT)) == TEXT


@pytest.mark.parametrize("name", PACKERS)
def test_truncated_stream_is_decompressed_as_far_as_possible(name: str) -> None:
    packed = PACKERS[name](bytes(range(256)) * 400)
    assert (bytes(range(256)) * 400).startswith(decompress(packed[:-6], name, 1_000_000))


@pytest.mark.parametrize("name", PACKERS)
def test_decompression_bombs_stop_at_the_limit(name: str) -> None:
    bomb = PACKERS[name](bytes(20_000_000))
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge):
            decompress(bomb, name, 1_000_000)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["gzip", "deflate", "zstd"])
def test_number_of_concatenated_streams_is_limited(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of a million tiny streams would copy the rest of the data: two megabytes took twelve seconds, sixteen a quarter of an hour."""
    monkeypatch.setattr(decompressing, "MAX_MEMBERS", 300)
    stream = PACKERS[name](b"x" * 3)
    if name == "deflate":  # the end of a stream is not detectable
        assert decompress(stream * 400, name, 1_000_000) == b"xxx"
        return
    assert decompress(stream * 299, name, 1_000_000) == b"xxx" * 299
    with pytest.raises(ValueError, match="streams one after another"):
        decompress(stream * 400, name, 1_000_000)


def test_large_concatenated_streams_are_complete() -> None:
    parts = [bytes([n]) * (700_000 + n) + TEXT for n in range(5)]
    for name in ("gzip", "zstd"):
        assert decompress(b"".join(PACKERS[name](part) for part in parts), name, 10_000_000) == b"".join(parts)


def test_nested_bombs_stop_at_the_limit() -> None:
    bomb = gzip.compress(gzip.compress(bytes(20_000_000)))
    with pytest.raises(TooLarge):
        decompress(bomb, "gzip, gzip", 1_000_000)


@pytest.mark.parametrize("name", ["gzip", "br", "zstd", "rot13"])
def test_broken_and_unknown_encodings_are_value_errors(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        decompress(b"<html>not packed at all</html>", name, 1000)


# fetching


def test_page_is_fetched_with_normalized_url(site: Any, response: Any) -> None:
    site.routes["/a?词=1"] = b""
    site.routes["/a?%E8%AF%8D=1"] = response(gzip.compress(TEXT), content_type="text/html; charset=gbk", content_encoding="gzip")
    page = fetch(site.url("/a?词=1"), Policy(site.allow), headers={"User-Agent": "ours"})
    assert (page.status, page.body, page.content_type) == (200, TEXT, "text/html; charset=gbk")
    assert page.url == site.url("/a?%E8%AF%8D=1")
    assert page.fetched.tzinfo is not None
    assert site.requests[0].headers["user-agent"] == "ours"
    assert site.requests[0].headers["host"] == f"127.0.0.1:{site.port}"


def test_error_status_is_a_response(site: Any) -> None:
    assert fetch(site.url("/missing"), Policy(site.allow)).status == 404


def test_private_addresses_are_never_connected_to(site: Any) -> None:
    for url in (site.url(), site.url(host="localhost"), site.url(host="2130706433")):
        with pytest.raises(EgressDenied):
            fetch(url, PUBLIC)
    assert site.connections == 0


@pytest.mark.parametrize("hop", [1, 3])
@pytest.mark.parametrize("target", ["http://127.0.0.1:1/", "http://[::1]/", "file:///etc/passwd", "gopher://x/", "ftp://x/", "data:,x"])
def test_redirects_to_forbidden_targets_are_refused(site: Any, response: Any, hop: int, target: str) -> None:
    for number in range(1, hop):
        site.routes[f"/{number}"] = response(b"", "302 Found", location=f"/{number + 1}")
    site.routes[f"/{hop}"] = response(b"", "301 Moved", location=target)
    with pytest.raises(EgressDenied):
        fetch(site.url("/1"), Policy(site.allow))
    assert len(site.requests) == hop


def test_five_redirects_are_followed(site: Any, response: Any) -> None:
    for number in range(10):
        site.routes[f"/{number}"] = response(b"", "307 Temporary", location=f"/{number + 1}")
    site.routes["/10"] = response(b"there")
    assert fetch(site.url("/5"), Policy(site.allow)).body == b"there"
    with pytest.raises(FetchFailed) as caught:
        fetch(site.url("/4"), Policy(site.allow))
    assert caught.value.reason == "redirects"


def test_redirect_loops_end(site: Any, response: Any) -> None:
    site.routes["/a"] = response(b"", "302 Found", location="/a")
    with pytest.raises(FetchFailed):
        fetch(site.url("/a"), Policy(site.allow))
    assert len(site.requests) == 6


def test_allowed_redirect_is_raised_without_follow(site: Any, response: Any) -> None:
    site.routes |= {"/a": response(b"", "302 Found", location="/b#c"), "/x": response(b"", "302 Found", location="http://[::1]/")}
    with pytest.raises(Redirected) as caught:
        fetch(site.url("/a"), Policy(site.allow), follow=False)
    assert caught.value.target == site.url("/b")
    with pytest.raises(EgressDenied):
        fetch(site.url("/x"), Policy(site.allow), follow=False)
    assert site.paths() == ["/a", "/x"]


def test_credentials_stay_with_their_origin(make_site: Any, response: Any) -> None:
    other = make_site({"/x": response(b"x")}, host="127.0.0.2")
    site = make_site({"/own": response(b"", "302 Found", location="/own2")})
    site.routes["/own2"] = response(b"", "302 Found", location=other.url("/x", "127.0.0.2"))
    secrets = {"Authorization": "Bearer t", "Cookie": "a=b", "X-Kept": "1"}
    fetch(site.url("/own"), Policy(("127.0.0.0/8",)), headers=secrets)
    assert all(request.headers["authorization"] == "Bearer t" and request.headers["cookie"] == "a=b" for request in site.requests)
    assert len(site.requests) == 2
    assert "authorization" not in other.requests[0].headers
    assert "cookie" not in other.requests[0].headers
    assert other.requests[0].headers["x-kept"] == "1"


def test_checked_address_is_the_one_connected_to(site: Any, response: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A resolver whose answer changes (DNS rebinding) is queried once per connection."""
    answers = iter(["127.0.0.1", "169.254.169.254"])
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, port, **_: [(2, 1, 6, "", (next(answers), port))])
    site.routes["/"] = response(b"here")
    assert fetch(site.url(host="news.test"), Policy(("news.test",))).body == b"here"
    assert site.requests[0].headers["host"] == f"news.test:{site.port}"
    with pytest.raises(EgressDenied):
        fetch(site.url(host="news.test"), Policy(("news.test",)))


def test_proxies_of_the_environment_are_ignored(site: Any, response: Any, make_site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = make_site()
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy.url())
    site.routes["/"] = response(b"direct")
    assert fetch(site.url(), Policy(site.allow)).body == b"direct"
    assert proxy.connections == 0


def test_unresolvable_name_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", nothing)
    with pytest.raises(FetchFailed) as caught:
        fetch("http://nowhere.example/", PUBLIC)
    assert caught.value.reason == "dns"


def test_hanging_resolver_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    ended, answered = Event(), []

    def hang(*_: Any, **__: Any) -> list[Any]:
        answered.append(ended.wait(HANG))
        return []

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    with pytest.raises(FetchFailed) as caught:
        fetch("http://slow.example/", PUBLIC, timeout=0.3)
    assert caught.value.reason == "timeout"
    assert answered == []
    ended.set()


def test_closed_port_is_reported(site: Any) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        with pytest.raises(FetchFailed) as caught:
            fetch(f"http://127.0.0.1:{port}/", Policy(("127.0.0.1",)))
    assert caught.value.reason == "connection"


# endless and oversized responses


def _endless(chunk: bytes, head: bytes) -> Iterator[bytes]:
    yield head
    while True:
        yield chunk


def _reason(url: str, site: Any, **limits: Any) -> str:
    with pytest.raises(FetchFailed) as caught:
        fetch(url, Policy(site.allow), **limits)
    return caught.value.reason


CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"


def test_endless_bodies_stop_at_the_limit(site: Any) -> None:
    site.routes["/chunked"] = lambda request: _endless(b"2000\r\n" + b"a" * 8192 + b"\r\n", CHUNKED)
    site.routes["/plain"] = lambda request: _endless(b"a" * 8192, b"HTTP/1.1 200 OK\r\n\r\n")
    assert _reason(site.url("/chunked"), site, max_bytes=200_000) == "too-large"
    assert _reason(site.url("/plain"), site, max_bytes=200_000) == "too-large"


def test_bombs_are_too_large(site: Any, response: Any) -> None:
    site.routes["/"] = response(gzip.compress(bytes(20_000_000)), content_encoding="gzip")
    assert _reason(site.url(), site, max_bytes=1_000_000) == "too-large"


def test_unknown_encoding_is_reported(site: Any, response: Any) -> None:
    site.routes["/"] = response(b"x", content_encoding="rot13")
    assert _reason(site.url(), site) == "encoding"


@pytest.mark.slow
def test_timeout_is_for_the_whole_exchange(site: Any, slowly: Any) -> None:
    """Each piece arrives within the timeout of a read; only the sum exceeds it."""
    site.routes["/body"] = lambda request: _then(CHUNKED, slowly(b"1\r\na\r\n", 0.1, 40))
    site.routes["/head"] = lambda request: _then(b"HTTP/1.1 200 OK\r\n", slowly(b"a: b\r\n", 0.1, 40))
    site.routes["/silent"] = lambda request: slowly(b"", 0.1, 40)
    for path in ("/body", "/head", "/silent"):
        assert _reason(site.url(path), site, timeout=0.5) == "timeout"


def _then(first: bytes, later: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from later


def test_huge_headers_are_refused(site: Any) -> None:
    site.routes["/many"] = lambda request: _endless(b"a: bbbbbbbbbbbbbbbbbbbb\r\n" * 100, b"HTTP/1.1 200 OK\r\n")
    site.routes["/long"] = lambda request: _endless(b"b" * 8192, b"HTTP/1.1 200 OK\r\na: ")
    assert _reason(site.url("/many"), site) == "connection"
    assert _reason(site.url("/long"), site) == "connection"


def test_response_that_is_not_http_is_reported(site: Any) -> None:
    site.routes["/"] = b"SSH-2.0-OpenSSH_9.6\r\n"
    assert _reason(site.url(), site) == "connection"


def test_fetch_async(site: Any, response: Any) -> None:
    site.routes["/"] = response(b"async")

    async def both() -> list[bytes]:
        pages = await asyncio.gather(*(fetch_async(site.url(), Policy(site.allow)) for _ in range(2)))
        return [page.body for page in pages]

    assert asyncio.run(both()) == [b"async", b"async"]


# certificates


def test_certificates_are_verified_unless_disabled(tls_port: int) -> None:
    url, policy = f"https://127.0.0.1:{tls_port}/", Policy(("127.0.0.1",))
    with pytest.raises(FetchFailed) as caught:
        fetch(url, policy)
    assert caught.value.reason == "tls"
    assert fetch(url, policy, verify=False).body == b"secret"


def test_exchanges_follow_no_redirects_and_keep_cookies(site: Any, response: Any) -> None:
    async def ask() -> list[Any]:
        async with open_exchange(Policy(site.allow)) as exchange:
            headers = {"accept-encoding": "gzip"}
            found = [await exchange(method, site.url(path), headers, body, 1000) for method, path, body in requests]
            with pytest.raises(EgressDenied):
                await exchange("GET", "http://127.0.0.2/", headers, b"", 1000)
            with pytest.raises(FetchFailed, match="too-large"):
                await exchange("GET", site.url("/long"), headers, b"", 1000)
            return found

    requests = [("GET", "/moved", b""), ("POST", "/packed", b"a=1")]
    site.routes["/moved"] = response(b"", "302 Found", location="/packed")
    packed = gzip.compress("北京".encode())
    site.routes["/packed"] = response(packed, content_encoding="gzip", set_cookie="a=1\r\nSet-Cookie: b=2")
    site.routes["/long"] = response(gzip.compress(b"x" * 1001), content_encoding="gzip")
    moved, found = asyncio.run(ask())
    assert (moved.status, moved.headers["location"]) == (302, "/packed")
    assert found.body.decode() == "北京"
    assert found.headers["set-cookie"] == "a=1\nb=2"
    assert site.paths() == ["/moved", "/packed", "/long"]
