"""robots.txt, by each rule of RFC 9309 and docs/security.md."""

from __future__ import annotations

import asyncio
import socket
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy.http import Response
from scrapy.settings import Settings

from newsportal.crawl.middlewares import RobotsDenied, RobotsMiddleware
from newsportal.errors import EgressDenied
from newsportal.net.archive import Exchange, Writer
from newsportal.net.egress.robots import MAX_DELAY, parse_robots, product_token

SHUT = b"User-agent: *\nDisallow: /\n"
PARTLY = b"User-agent: *\nDisallow: /private\nAllow: /private/open\n"


# rules only


def _allows(body: bytes, path: str = "/a", status: int = 200) -> bool:
    return parse_robots(status, body, "newsportal").allows(f"http://a.example{path}")


def test_rules_are_parsed() -> None:
    assert not _allows(SHUT)
    assert _allows(b"")
    assert _allows(PARTLY, "/public")
    assert not _allows(PARTLY, "/private/x")
    assert _allows(PARTLY, "/private/open/x")
    assert not _allows("User-agent: *\nDisallow: /路".encode(), "/%E8%B7%AF/x")
    assert _allows(b"User-agent: *\nDisallow: /\nUser-agent: newsportal\nDisallow:\n")
    assert not _allows(b"User-agent: *\nDisallow:\nUser-agent: NewsPortal\nDisallow: /\n")


def test_byte_order_mark_and_unusual_line_ends() -> None:
    assert not _allows(b"\xef\xbb\xbf" + SHUT)
    assert not _allows(SHUT.replace(b"\n", b"\r"))
    assert not _allows(SHUT.replace(b"\n", b"\r\n"))
    assert not _allows(b"\xff\xfe junk \x00\n" + SHUT)


def test_html_page_forbids_nothing() -> None:
    for start in (b"<!DOCTYPE html><html>", b"\n  <html>", b"\xef\xbb\xbf<HTML>", b"<?xml version='1.0'?>"):
        assert _allows(start + b"\n" + SHUT)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 429])
def test_missing_robots_txt_forbids_nothing(status: int) -> None:
    assert _allows(SHUT, status=status)


@pytest.mark.parametrize("status", [500, 502, 503, 599])
def test_server_error_forbids_everything(status: int) -> None:
    assert not _allows(b"", status=status)


def test_only_the_first_500_kib_count() -> None:
    filler = b"# " + b"x" * 97 + b"\n"
    rule = b"User-agent: *\nDisallow: /early\n"
    late = rule + filler * 6000 + b"Disallow: /\n"
    assert len(late) > 600_000
    assert not _allows(late, "/early")
    assert _allows(late, "/late")
    assert not _allows(rule + filler * 5000 + b"Disallow: /\n", "/late")  # 500 kB: within the limit


def test_truncated_rule_is_ignored() -> None:
    head = b"User-agent: *\n#"
    long_rule = b"\nDisallow: /a/very/long/path\n"
    body = head + b"x" * (500 * 1024 - len(head) - 13) + long_rule
    assert body[: 500 * 1024].endswith(b"Disallow: /a")
    assert _allows(body, "/about")


def test_crawl_delay_is_limited() -> None:
    assert parse_robots(200, b"User-agent: *\nCrawl-delay: 7.5\n", "newsportal").delay == 7.5
    assert parse_robots(200, b"User-agent: *\nCrawl-delay: 1e9\n", "newsportal").delay == MAX_DELAY
    for nonsense in (b"-1", b"nan", b"soon", b""):
        assert parse_robots(200, b"User-agent: *\nCrawl-delay: " + nonsense + b"\n", "newsportal").delay == 0


def test_product_token() -> None:
    assert product_token("newsportal/0.1 (+https://a.example)") == "newsportal"
    assert product_token("My-Portal_x/2") == "My-Portal_x"
    assert product_token("") == "newsportal"


# in a crawl


def _crawl(crawl: Any, site: Any, *paths: Any, **changed: Any) -> Any:
    requests = [site.url(path) if isinstance(path, str) else path for path in paths]
    return crawl(*requests, **{"ROBOTSTXT_OBEY": True, "NEWSPORTAL_ALLOW_PRIVATE": site.allow} | changed)


def test_forbidden_pages_are_not_requested(crawl: Any, site: Any, response: Any) -> None:
    site.routes |= {"/robots.txt": response(PARTLY), "/public": response(b"public")}
    found = _crawl(crawl, site, "/private/1", "/private/2", "/public")
    assert site.paths().count("/robots.txt") == 1
    assert set(site.paths()) == {"/robots.txt", "/public"}
    assert found.pages[site.url("/public")].body == b"public"
    error = found.errors[site.url("/private/1")]
    assert isinstance(error, RobotsDenied)
    assert (error.reason, error.transient) == ("robots", False)
    assert found.stats["robots/denied/robots"] == 2


def test_source_may_be_exempt(crawl: Any, site: Any, response: Any) -> None:
    site.routes |= {"/robots.txt": response(SHUT), "/a": response(b"a")}
    exempt = {"url": site.url("/a"), "meta": {"obey_robots": False}}
    assert _crawl(crawl, site, exempt).pages[site.url("/a")].body == b"a"
    assert site.paths() == ["/a"]
    unsaid = {"url": site.url("/a"), "meta": {"obey_robots": None}}
    assert _crawl(crawl, site, unsaid, ROBOTSTXT_OBEY=False).pages
    request = {"url": site.url("/a"), "meta": {"obey_robots": True}}
    assert _crawl(crawl, site, request, ROBOTSTXT_OBEY=False).errors
    assert _crawl(crawl, site, unsaid).errors


@pytest.mark.parametrize("status", ["404 Not Found", "403 Forbidden"])
def test_pages_without_robots_txt_are_fetched(crawl: Any, site: Any, response: Any, status: str) -> None:
    site.routes |= {"/robots.txt": response(SHUT, status), "/a": response(b"a")}
    assert _crawl(crawl, site, "/a").pages


def _reset(request: Any) -> list[bytes]:
    return []  # close the connection without a byte


def test_unreachable_robots_txt_forbids_pages(crawl: Any, site: Any, response: Any, slowly: Any) -> None:
    answers = {
        "503": response(b"", "503 Busy"),
        "reset": _reset,
        "time-out": lambda request: slowly(b"", 0.1, 20),
        "endless": lambda request: slowly(b"HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n", 0, 1),
    }
    site.routes["/a"] = response(b"a")
    for answer in answers.values():
        site.routes["/robots.txt"] = answer
        found = _crawl(crawl, site, "/a", DOWNLOAD_TIMEOUT=0.5)
        error = found.errors[site.url("/a")]
        assert isinstance(error, RobotsDenied)
        assert (error.reason, error.transient) == ("robots-unreachable", True)
    assert "/a" not in site.paths()


def test_unresolvable_host_forbids_pages(crawl: Any, site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", nothing)
    error = crawl("http://nowhere.test/", ROBOTSTXT_OBEY=True).errors["http://nowhere.test/"]
    assert isinstance(error, RobotsDenied)
    assert (error.reason, error.transient) == ("dns", True)


def test_robots_txt_redirect_to_private_address_is_refused(crawl: Any, make_site: Any, response: Any) -> None:
    inside = make_site({"/robots.txt": response(b"")})
    site = make_site({"/robots.txt": response(b"", "302 Found", location=inside.url("/robots.txt")), "/a": response(b"a")})
    found = _crawl(crawl, site, "/a")
    assert inside.connections == 0
    assert found.errors[site.url("/a")].reason == "robots-unreachable"
    assert isinstance(crawl(inside.url("/a"), ROBOTSTXT_OBEY=True).errors[inside.url("/a")], EgressDenied)


def test_five_redirects_of_robots_txt_are_followed(crawl: Any, make_site: Any, response: Any) -> None:
    other = make_site({"/final": response(SHUT)}, host="127.0.0.2")
    site = make_site({"/a": response(b"a")})
    for number in range(1, 5):
        site.routes[f"/{number}"] = response(b"", "302 Found", location=f"/{number + 1}")
    site.routes["/5"] = response(b"", "302 Found", location=other.url("/final", "127.0.0.2"))
    everywhere = {"NEWSPORTAL_ALLOW_PRIVATE": ["127.0.0.0/8"]}
    site.routes["/robots.txt"] = response(b"", "301 Moved", location="/2")
    assert _crawl(crawl, site, "/a", **everywhere).errors[site.url("/a")].reason == "robots"
    site.routes["/robots.txt"] = response(b"", "301 Moved", location="/1")
    assert _crawl(crawl, site, "/a", **everywhere).pages[site.url("/a")].body == b"a"


@pytest.mark.slow
def test_crawl_delay_slows_the_host_down(crawl: Any, site: Any, response: Any) -> None:
    site.routes |= {"/robots.txt": response(b"User-agent: *\nCrawl-delay: 0.3\n")}
    site.routes |= {f"/{number}": response(b"x") for number in range(3)}
    start = time.monotonic()
    found = _crawl(crawl, site, "/0", "/1", "/2", CONCURRENT_REQUESTS_PER_DOMAIN=8)
    assert len(found.pages) == 3
    assert time.monotonic() - start >= 0.6


def test_replay_without_robots_txt_is_allowed_and_fast(crawl: Any, tmp_path: Path) -> None:
    with Writer(tmp_path / "a.warc.gz") as writer:
        writer.write(Exchange("http://a.test/a", 200, (), b"a"))
        writer.write(Exchange("http://b.test/robots.txt", 200, (), b"User-agent: *\nDisallow: /b\nCrawl-delay: 50\n"))
        for number in range(3):
            writer.write(Exchange(f"http://b.test/{number}", 200, (), b"c"))
    urls = ["http://a.test/a", "http://b.test/b", *(f"http://b.test/{number}" for number in range(3))]
    start = time.monotonic()
    found = crawl(*urls, ROBOTSTXT_OBEY=True, NEWSPORTAL_REPLAY=str(tmp_path / "a.warc.gz"))
    assert time.monotonic() - start < 50, "one delay would take longer"
    assert list(found.errors) == ["http://b.test/b"]


def test_rules_are_refreshed() -> None:
    """After a day, or after ten minutes if robots.txt was unreachable."""
    now = [0.0]
    requested: list[str] = []
    answers = iter([Response("http://a.test/robots.txt", status=503), *[Response("http://a.test/robots.txt", body=SHUT)] * 3])

    async def download(request: Any) -> Response:
        requested.append(request.url)
        return next(answers)

    crawler: Any = SimpleNamespace(
        settings=Settings({"ROBOTSTXT_OBEY": True}), stats=None, engine=SimpleNamespace(download_async=download, downloader=None)
    )
    middleware = RobotsMiddleware(crawler, clock=lambda: now[0])

    async def reason() -> str:
        from scrapy import Request

        with pytest.raises(RobotsDenied) as caught:
            await middleware.process_request(Request("http://a.test/x"))
        return caught.value.reason

    reasons = []
    for moment in (0, 599, 601, 700, 86000, 601 + 86401):
        now[0] = moment
        reasons.append((asyncio.run(reason()), len(requested)))
    unreachable, forbidden = "robots-unreachable", "robots"
    assert reasons == [(unreachable, 1), (unreachable, 1), (forbidden, 2), (forbidden, 2), (forbidden, 2), (forbidden, 3)]
