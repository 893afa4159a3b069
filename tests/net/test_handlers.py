"""The crawl's download handler: a real Scrapy engine and hostile servers on loopback."""

from __future__ import annotations

import gzip
import socket
import time
import zlib
from collections.abc import Iterator
from functools import partial
from typing import Any

import brotli
import pytest
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    NotSupported,
)

from newsportal.errors import EgressDenied
from newsportal.net.egress import Policy, fetch
from newsportal.spiders.fetcher import outcome_of

try:
    from backports import zstd
except ImportError:  # Python 3.14
    from compression import zstd


def test_listed_address_is_fetched(crawl: Any, site: Any, response: Any) -> None:
    site.routes["/a"] = response("北京".encode("gb18030"), content_type="text/html; charset=gbk")
    found = crawl(site.url("/a"), NEWSPORTAL_ALLOW_PRIVATE=site.allow)
    assert found.pages[site.url("/a")].text == "北京"
    assert str(found.pages[site.url("/a")].ip_address) == "127.0.0.1"
    assert site.requests[0].headers["user-agent"].startswith("newsportal/")


def test_private_addresses_are_never_connected_to(crawl: Any, site: Any) -> None:
    urls = [site.url(), site.url(host="localhost"), site.url(host="2130706433"), "http://[::1]/", "http://169.254.169.254/latest"]
    found = crawl(*urls)
    assert site.connections == 0
    assert [type(found.errors[url]) for url in urls] == [EgressDenied] * 5
    assert found.stats["egress/denied"] == 5
    assert found.stats["egress/denied/loopback"] == 3


def test_handler_refuses_without_middleware_and_without_retry(crawl: Any, site: Any) -> None:
    found = crawl(site.url(), DOWNLOADER_MIDDLEWARES={}, RETRY_ENABLED=True)
    assert isinstance(found.errors[site.url()], EgressDenied)
    assert "retry/count" not in found.stats
    assert site.connections == 0


def test_public_name_with_private_address_is_refused(crawl: Any, site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {"public.test": ["127.0.0.1"], "mixed.test": ["93.184.216.34", "127.0.0.1"]}
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, port, **_: [(2, 1, 6, "", (address, port)) for address in answers[host]])
    found = crawl(site.url(host="public.test"), site.url(host="mixed.test"))
    assert {error.reason for error in found.errors.values()} == {"loopback", "mixed-answers"}  # type: ignore[attr-defined]
    assert found.stats["egress/denied"] == 2
    assert site.connections == 0


def test_checked_address_is_the_one_connected_to(crawl: Any, site: Any, response: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    names = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, port, **_: names.append(host) or [(2, 1, 6, "", ("127.0.0.1", port))])
    site.routes["/"] = response(b"here")
    found = crawl(site.url(host="news.test"), NEWSPORTAL_ALLOW_PRIVATE=["news.test"])
    assert found.pages[site.url(host="news.test")].body == b"here"
    assert names == ["news.test"]
    assert site.requests[0].headers["host"] == f"news.test:{site.port}"


def test_second_address_is_tried(crawl: Any, site: Any, response: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    both = ["127.0.0.9", "127.0.0.1"]
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, port, **_: [(2, 1, 6, "", (address, port)) for address in both])
    site.routes["/"] = response(b"here")
    found = crawl(site.url(host="news.test"), NEWSPORTAL_ALLOW_PRIVATE=["news.test"])
    assert found.pages[site.url(host="news.test")].body == b"here"


def test_ipv6_literals_are_checked_and_reached(crawl: Any, response: Any, ipv6_site: Any) -> None:
    ipv6_site.routes["/"] = response(b"six")
    url = ipv6_site.url(host="[::1]")
    assert crawl(url, NEWSPORTAL_ALLOW_PRIVATE=[f"[::1]:{ipv6_site.port}"]).pages[url].body == b"six"
    assert fetch(url, Policy((f"[::1]:{ipv6_site.port}",))).body == b"six"
    assert [request.headers["host"] for request in ipv6_site.requests] == [f"[::1]:{ipv6_site.port}"] * 2
    assert isinstance(crawl(url).errors[url], EgressDenied)
    assert ipv6_site.connections == 2


OURS = {
    "newsportal.crawl.handlers.Guard": 50,
    **{f"scrapy.downloadermiddlewares.redirect.{name}": None for name in ("RedirectMiddleware", "MetaRefreshMiddleware")},
    "newsportal.crawl.middlewares.MetaRefreshMiddleware": 580,
    "newsportal.crawl.middlewares.RedirectMiddleware": 600,
}


@pytest.mark.parametrize("charset", ["rot13", "hex", "zlib", "idna", "punycode", "undefined", "unicode_escape"])
def test_page_with_python_only_codec_is_decoded(crawl: Any, site: Any, response: Any, charset: str) -> None:
    page = f"<html><head><meta charset={charset}></head><body><p>北京今日晴</p></body></html>".encode()
    site.routes["/meta"] = response(page, content_type="text/html")
    site.routes["/header"] = response(page, content_type=f"text/html; charset={charset}")
    found = crawl(site.url("/meta"), site.url("/header"), NEWSPORTAL_ALLOW_PRIVATE=site.allow)
    assert not found.errors
    assert ["北京今日晴" in page.text for page in found.pages.values()] == [True, True]


def test_unrequested_partial_content_is_a_failure(crawl: Any, site: Any, response: Any) -> None:
    site.routes["/part"] = response(b"<p>half", "206 Partial Content", content_type="text/html", content_range="bytes 0-6/99")
    request = {"url": site.url("/part?"), "headers": {"Range": "bytes=0-6"}}
    site.routes["/part?"] = site.routes["/part"]
    found = crawl(site.url("/part"), request, NEWSPORTAL_ALLOW_PRIVATE=site.allow)
    assert outcome_of(found.errors[site.url("/part")]).reason == "http-206"
    assert found.pages[site.url("/part?")].status == 206


@pytest.mark.parametrize("target", ["http://127.0.0.1:99999/", "http://127.0.0.1:abc/", "http://[/"])
def test_redirect_to_invalid_url_is_reported(crawl: Any, site: Any, response: Any, target: str) -> None:
    site.routes["/to"] = response(b"", "302 Found", location=target)
    refresh = f'<meta http-equiv="refresh" content="0;url={target}"><p>晴'.encode()
    site.routes["/refresh"] = response(refresh, content_type="text/html; charset=utf-8")
    found = crawl(site.url("/to"), site.url("/refresh"), NEWSPORTAL_ALLOW_PRIVATE=site.allow, DOWNLOADER_MIDDLEWARES=OURS)
    assert outcome_of(found.errors[site.url("/to")]).reason == "bad-address"
    assert found.pages[site.url("/refresh")].body == refresh


@pytest.mark.parametrize("hop", [1, 3])
def test_redirects_to_private_addresses_are_refused(crawl: Any, make_site: Any, response: Any, hop: int) -> None:
    inside = make_site({"/secret": response(b"secret")})
    site = make_site()
    for number in range(1, hop):
        site.routes[f"/{number}"] = response(b"", "302 Found", location=f"/{number + 1}")
    site.routes[f"/{hop}"] = response(b"", "302 Found", location=inside.url("/secret"))
    found = crawl(site.url("/1"), NEWSPORTAL_ALLOW_PRIVATE=site.allow)
    assert isinstance(found.errors[site.url("/1")], EgressDenied)
    assert inside.connections == 0
    assert len(site.requests) == hop


@pytest.mark.parametrize("target", ["file:///etc/passwd", "gopher://x/", "ftp://127.0.0.1/", "data:text/html,x"])
def test_redirects_to_other_schemes_are_not_followed(crawl: Any, site: Any, response: Any, target: str) -> None:
    site.routes["/"] = response(b"", "302 Found", location=target)
    found = crawl(site.url(), NEWSPORTAL_ALLOW_PRIVATE=site.allow)
    assert found.pages[site.url()].status == 302
    assert found.pages[site.url()].body == b""


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://example.com/", "s3://bucket/key", "data:text/html,x"])
def test_other_schemes_have_no_handler(crawl: Any, url: str) -> None:
    found = crawl(url, DOWNLOADER_MIDDLEWARES={})
    assert isinstance(found.errors[url], NotSupported)
    assert isinstance(crawl(url).errors[url], EgressDenied)


def test_redirect_loops_end(crawl: Any, site: Any, response: Any) -> None:
    site.routes["/"] = response(b"", "302 Found", location="/")
    found = crawl(site.url(), NEWSPORTAL_ALLOW_PRIVATE=site.allow)
    assert isinstance(found.errors[site.url()], IgnoreRequest)
    assert len(site.requests) == 6


def test_credentials_stay_with_their_origin(crawl: Any, make_site: Any, response: Any) -> None:
    other = make_site({"/x": response(b"x")}, host="127.0.0.2")
    site = make_site({"/": response(b"", "302 Found", location=other.url("/x", "127.0.0.2"))})
    secrets = {"Authorization": "Bearer t", "Cookie": "a=b"}
    crawl({"url": site.url(), "headers": secrets}, NEWSPORTAL_ALLOW_PRIVATE=["127.0.0.0/8"], COOKIES_ENABLED=False)
    assert site.requests[0].headers["authorization"] == "Bearer t"
    assert site.requests[0].headers["cookie"] == "a=b"
    assert not {"authorization", "cookie"} & set(other.requests[0].headers)


def test_proxies_are_unused_unless_enabled(crawl: Any, make_site: Any, response: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy, site = make_site(), make_site({"/": response(b"direct")})
    monkeypatch.setenv("http_proxy", proxy.url())
    found = crawl(site.url(), {"url": site.url("/?2"), "meta": {"proxy": proxy.url()}}, NEWSPORTAL_ALLOW_PRIVATE=site.allow)
    assert found.pages[site.url()].body == b"direct"
    assert found.errors[site.url("/?2")].reason == "proxy"  # type: ignore[attr-defined]
    assert proxy.connections == 0


def test_unreachable_names_and_ports_raise_scrapy_errors(crawl: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", nothing)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{free.getsockname()[1]}/"
        found = crawl(closed, "http://nowhere.test/", NEWSPORTAL_ALLOW_PRIVATE=["127.0.0.1"])
    assert isinstance(found.errors[closed], DownloadConnectionRefusedError)
    assert isinstance(found.errors["http://nowhere.test/"], CannotResolveHostError)


def test_hanging_resolver_times_out(crawl: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: time.sleep(3.0))
    found = crawl("http://slow.test/", DNS_TIMEOUT=0.2)
    assert isinstance(found.errors["http://slow.test/"], CannotResolveHostError)


# endless and oversized responses: each is one error, and the crawl continues


BOMBS = {"gzip": gzip.compress, "deflate": zlib.compress, "br": partial(brotli.compress, quality=5), "zstd": zstd.compress}


@pytest.mark.parametrize("name", BOMBS)
def test_decompression_bombs_stop_at_the_limit(crawl: Any, site: Any, response: Any, name: str) -> None:
    site.routes["/bomb"] = response(BOMBS[name](bytes(20_000_000)), content_encoding=name, content_type="text/html")
    site.routes["/page"] = response(b"page")
    found = crawl(site.url("/bomb"), site.url("/page"), NEWSPORTAL_ALLOW_PRIVATE=site.allow)
    assert isinstance(found.errors[site.url("/bomb")], IgnoreRequest)
    assert "DOWNLOAD_MAXSIZE" in str(found.errors[site.url("/bomb")])
    assert found.pages[site.url("/page")].body == b"page"


def _endless(chunk: bytes, head: bytes) -> Iterator[bytes]:
    yield head
    while True:
        yield chunk


CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"


def test_endless_bodies_stop_at_the_limit(crawl: Any, site: Any, response: Any) -> None:
    site.routes["/chunked"] = lambda request: _endless(b"2000\r\n" + b"a" * 8192 + b"\r\n", CHUNKED)
    site.routes["/plain"] = lambda request: _endless(b"a" * 8192, b"HTTP/1.1 200 OK\r\n\r\n")
    site.routes["/declared"] = b"HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n"
    urls = [site.url(path) for path in ("/chunked", "/plain", "/declared")]
    found = crawl(*urls, NEWSPORTAL_ALLOW_PRIVATE=site.allow)
    assert [type(found.errors[url]) for url in urls] == [DownloadCancelledError] * 3


def test_header_limit_is_per_response(crawl: Any, site: Any) -> None:
    """Each head is within the limit; the sum over one connection is not."""
    padding = b"".join(b"a%d: %s\r\n" % (number, b"b" * 4000) for number in range(10))
    answer = b"HTTP/1.1 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n" + padding + b"\r\nok"
    paths = [f"/{number}" for number in range(12)]
    site.routes.update(dict.fromkeys(paths, answer))
    found = crawl(*map(site.url, paths), NEWSPORTAL_ALLOW_PRIVATE=site.allow, CONCURRENT_REQUESTS=1)
    assert not found.errors
    assert site.connections == 1
    assert [request.path for request in site.requests] == paths


def test_huge_headers_are_refused(crawl: Any, site: Any) -> None:
    site.routes["/many"] = lambda request: _endless(b"a: bbbbbbbbbbbbbbbbbbbb\r\n" * 100, b"HTTP/1.1 200 OK\r\n")
    site.routes["/informal"] = lambda request: _endless(b"HTTP/1.1 103 Early Hints\r\na: b\r\n\r\n" * 100, b"")
    site.routes["/long"] = lambda request: _endless(b"b" * 8192, b"HTTP/1.1 200 OK\r\na: ")
    found = crawl(*(site.url(path) for path in ("/many", "/informal", "/long")), NEWSPORTAL_ALLOW_PRIVATE=site.allow)
    assert isinstance(found.errors[site.url("/many")], DownloadCancelledError)
    assert isinstance(found.errors[site.url("/informal")], DownloadCancelledError)
    assert isinstance(found.errors[site.url("/long")], DownloadFailedError)


def test_timeout_is_for_the_whole_exchange(crawl: Any, site: Any, slowly: Any) -> None:
    """DOWNLOAD_TIMEOUT applies to the whole exchange: an occasional byte does not prolong it."""
    site.routes["/body"] = lambda request: _then(CHUNKED, slowly(b"1\r\na\r\n", 0.1, 40))
    site.routes["/head"] = lambda request: _then(b"HTTP/1.1 200 OK\r\n", slowly(b"a: b\r\n", 0.1, 40))
    site.routes["/silent"] = lambda request: slowly(b"", 0.1, 40)
    urls = [site.url(path) for path in ("/body", "/head", "/silent")]
    found = crawl(*urls, NEWSPORTAL_ALLOW_PRIVATE=site.allow, DOWNLOAD_TIMEOUT=0.5)
    assert [type(found.errors[url]) for url in urls] == [DownloadTimeoutError] * 3


def _then(first: bytes, later: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from later


def test_connections_are_reused(crawl: Any, site: Any, response: Any) -> None:
    site.routes |= dict.fromkeys(("/1", "/2", "/3"), response(b"x", connection="keep-alive"))
    urls = [site.url(path) for path in ("/1", "/2", "/3")]
    found = crawl(*urls, NEWSPORTAL_ALLOW_PRIVATE=site.allow, CONCURRENT_REQUESTS_PER_DOMAIN=1)
    assert len(found.pages) == 3
    assert site.connections < 3  # the second request may start before the first connection is back


def test_certificates_are_verified_unless_disabled(crawl: Any, tls_port: int) -> None:
    url = f"https://127.0.0.1:{tls_port}/"
    trusting = {"url": url + "?2", "meta": {"verify_certificate": False}}
    found = crawl(url, trusting, NEWSPORTAL_ALLOW_PRIVATE=["127.0.0.1"])
    assert isinstance(found.errors[url], DownloadFailedError)
    assert found.pages[trusting["url"]].body == b"secret"
