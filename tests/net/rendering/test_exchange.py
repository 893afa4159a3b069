"""Requests of the browser and responses to it, without a browser."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from newsportal.errors import FetchFailed
from newsportal.net.egress.client import HttpResponse, join_headers
from newsportal.net.rendering.exchange import PageRequest, declare, follow, has_markup, is_renderable, same_page, sent_headers, true_headers
from newsportal.net.rendering.visit import block_reason


@pytest.mark.parametrize(
    ("status", "content_type", "expected"),
    [
        (200, "text/html; charset=gbk", True),
        (200, " TEXT/HTML", True),
        (200, "application/xhtml+xml", True),
        (200, None, True),
        (204, "text/html", True),
        (200, "application/rss+xml", False),
        (200, "text/htmlish", False),
        (200, "image/png", False),
        (301, "text/html", False),
        (304, None, False),
        (404, "text/html", False),
        (503, "text/html", False),
    ],
)
def test_only_html_pages_are_rendered(status: int, content_type: str | None, expected: bool) -> None:
    assert is_renderable(status, content_type) is expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"<html>", True),
        (b"<?xml version='1.0'?><!DOCTYPE html><html>", True),
        (b"<p>rss</p>", True),
        (b"<?xml version='1.0'?>\n<rss version='2.0'>", False),
        (b"<feed xmlns='http://www.w3.org/2005/Atom'>", False),
        (b"<rdf:RDF xmlns='x'>", False),
        (b"\x89PNG", False),
        (b"", False),
    ],
)
def test_feeds_sent_as_html_are_not_rendered(body: bytes, expected: bool) -> None:
    assert has_markup(body) is expected


@pytest.mark.parametrize(
    ("kind", "method", "navigates", "main", "expected"),
    [
        ("document", "GET", True, True, None),
        ("document", "POST", True, True, "form"),
        ("document", "GET", True, False, "frame"),
        ("script", "GET", False, False, None),
        ("fetch", "POST", False, False, None),
        ("xhr", "DELETE", False, False, "method"),
        ("websocket", "GET", False, False, "websocket"),
        ("eventsource", "GET", False, False, "eventsource"),
        ("media", "GET", False, False, "media"),
        ("image", "GET", False, False, "image"),
        ("ping", "POST", False, False, "ping"),
    ],
)
def test_allowed_requests_of_a_page(kind: str, method: str, navigates: bool, main: bool, expected: str | None) -> None:
    assert block_reason(kind, method, navigates=navigates, main=main) == expected


def test_reserved_request_headers_are_dropped() -> None:
    written = [("Host", "a"), ("Accept-Encoding", "x"), (":method", "GET"), ("Referer", "http://a/"), ("Cookie", "a=1")]
    assert sent_headers(written) == {"referer": "http://a/", "cookie": "a=1"}


def test_invalid_response_headers_are_dropped() -> None:
    written = (("content-encoding", "gzip"), ("set-cookie", "a=1"), ("set-cookie", "b=2"), ("vary", "a"), ("vary", "b"), ("alt-svc", "h3"))
    assert true_headers(join_headers(written)) == {"set-cookie": "a=1\nb=2", "vary": "a, b"}


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        ("北京今天多云转晴，市民出行游玩".encode("gb18030"), None, "text/html; charset=gb18030"),
        ("北京今天多云转晴，市民出行游玩".encode("gbk"), "text/html; charset=utf-8", "text/html; charset=gb18030"),
        ("北京今天多云转晴".encode(), "application/xhtml+xml; charset=gbk", "application/xhtml+xml; charset=utf8"),
        ("臺灣今天的天氣很好，市民出遊".encode("big5"), "text/html; charset=big5", "text/html; charset=big5"),
    ],
)
def test_declared_encoding_is_the_detected_one(body: bytes, content_type: str | None, expected: str) -> None:
    headers = {"vary": "a"} | ({"content-type": content_type} if content_type else {})
    found = declare(HttpResponse(200, headers, body))
    assert found.headers == {"vary": "a", "content-type": expected}


def _server(**moved: tuple[int, str]) -> tuple[Any, list[PageRequest]]:
    requests = []

    async def ask(request: PageRequest) -> HttpResponse:
        requests.append(request)
        name = request.url.rpartition("/")[2]
        if name in moved:
            return HttpResponse(moved[name][0], {"location": moved[name][1]})
        return HttpResponse(200, body=b"end")

    return ask, requests


def test_redirects_are_followed_for_the_browser() -> None:
    ask, requests = _server(a=(302, "b"), b=(307, "https://other.example/c"))
    request = PageRequest("https://one.example/a", "POST", {"cookie": "s", "referer": "r"}, b"body")
    assert asyncio.run(follow(ask, request)).body == b"end"
    assert [request.url for request in requests] == ["https://one.example/a", "https://one.example/b", "https://other.example/c"]
    assert [(request.method, request.body) for request in requests] == [("POST", b"body"), ("GET", b""), ("GET", b"")]
    assert [dict(request.headers) for request in requests][1:] == [{"cookie": "s", "referer": "r"}, {"referer": "r"}]


def test_method_is_kept_on_308() -> None:
    ask, requests = _server(a=(308, "/b"))
    asyncio.run(follow(ask, PageRequest("https://one.example/a", "POST", {}, b"body")))
    assert [(request.method, request.body) for request in requests] == [("POST", b"body")] * 2


def test_redirect_loops_end() -> None:
    ask, requests = _server(a=(302, "a"))
    with pytest.raises(FetchFailed, match="redirects"):
        asyncio.run(follow(ask, PageRequest("https://one.example/a")))
    assert len(requests) == 6


def test_same_page_ignores_the_fragment() -> None:
    assert same_page("https://a.example/b?c#d", "https://a.example/b?c")
    assert not same_page("https://a.example/b?c", "https://a.example/b?d")
