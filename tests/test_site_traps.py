"""Every trap of the made-up Web behaves as its manifest says."""

from __future__ import annotations

import gzip
import re
from datetime import datetime
from html import escape
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from madeup import Limits, MadeUpWeb
from madeup.client import get, links
from madeup.sites import CHINA
from madeup.traps import PAYLOADS, TRAPS, XSS_TITLE, path_of

NOW = datetime(2026, 3, 14, 15, 9, tzinfo=CHINA)


@pytest.fixture
def fresh(web: MadeUpWeb) -> MadeUpWeb:
    """The shared Web, reset to its initial state."""
    web.reset()
    return web


@pytest.fixture(scope="module")
def gold(web: MadeUpWeb) -> dict[str, Any]:
    return web.manifest()


@pytest.mark.slow
def test_traps_respond_as_in_manifest(fresh: MadeUpWeb, gold: dict[str, Any]) -> None:
    bounded = {"endless", "bomb"}
    statuses = {}
    for trap in gold["traps"]:
        if trap["name"] not in bounded:
            statuses.setdefault(trap["expect"], set()).add(get(trap["url"])[0])
    assert statuses["skip"] == {200}
    assert statuses["refuse"] == {302}
    assert statuses["fail"] == {302, 404, 500, 503}
    assert statuses["store"] == {200, 503}
    assert statuses["bounded"] == {200}


def test_front_page_of_maze_links_to_every_trap(fresh: MadeUpWeb, gold: dict[str, Any]) -> None:
    front = fresh.url("maze")
    found = {urljoin(front, href) for href in links(get(front)[2].decode())}
    assert {trap["url"] for trap in gold["traps"] if trap["name"] != "comments"} <= found
    assert len({trap.path for trap in TRAPS}) == len(TRAPS)


def test_redirects_to_forbidden_targets_and_loops(web: MadeUpWeb) -> None:
    targets = {name: get(web.url("maze", path_of(name)))[1]["location"] for name in ("to-file", "to-metadata", "loop-a", "loop-b")}
    assert targets["to-file"].startswith("file:///")
    assert targets["to-metadata"].startswith("http://169.254.169.254/")
    assert (targets["loop-a"], targets["loop-b"]) == (path_of("loop-b"), path_of("loop-a"))


def test_flaky_page_fails_once(fresh: MadeUpWeb, gold: dict[str, Any]) -> None:
    url = next(article["url"] for article in gold["articles"] if article["story"] == "maze-flaky")
    status, headers, _ = get(url)
    assert (status, headers["retry-after"]) == (503, "0")
    assert [get(url)[0] for _ in range(2)] == [200, 200]


def test_circular_pager_never_ends(web: MadeUpWeb, gold: dict[str, Any]) -> None:
    article = next(article for article in gold["articles"] if article["story"] == "maze-circle")
    url, positions = article["url"], []
    for _ in range(6):
        positions.append(article["pages"].index(url))
        url = urljoin(url, re.findall(r'<a href="([^"]+)">下一页</a>', get(url)[2].decode())[0])
    assert positions == [0, 1, 2, 1, 2, 1]


def test_article_responds_at_many_urls(web: MadeUpWeb, gold: dict[str, Any]) -> None:
    front = get(web.url("maze"))[2].decode()
    for story, least in (("maze-session", 5), ("maze-slugs", 4)):
        article = next(article for article in gold["articles"] if article["story"] == story)
        number = urlsplit(article["url"]).path.removesuffix(".html")
        ways = {href for href in links(front) if href.startswith(number)}
        assert len(ways) >= least
        for href in ways:
            assert article["title"] in get(urljoin(web.url("maze"), href))[2].decode()


def test_session_ids_differ_between_lists(web: MadeUpWeb, gold: dict[str, Any]) -> None:
    ways = {href for hub in gold["hubs"] if hub["site"] == "maze" for href in links(get(hub["url"])[2].decode()) if "sid=" in href}
    assert len(ways) >= 3


def test_calendar_is_endless(web: MadeUpWeb) -> None:
    url = web.url("maze", "/calendar?month=2026-12")
    for _ in range(3):
        url = urljoin(url, links(get(url)[2].decode())[-1])
    assert url.endswith("month=2027-03")
    assert get(web.url("maze", "/calendar?month=2026-13"))[0] == 404


def test_relative_links_nest_endlessly(web: MadeUpWeb) -> None:
    url = web.url("maze", "/deep/a/b/")
    for _ in range(5):
        url = urljoin(url, links(get(url)[2].decode())[0])
    assert urlsplit(url).path == "/deep/" + "a/b/" * 6


def test_xss_payloads_are_on_page(web: MadeUpWeb, gold: dict[str, Any]) -> None:
    article = next(article for article in gold["articles"] if article["story"] == "maze-xss")
    body = get(article["url"])[2].decode()
    for payload in (*PAYLOADS, "onmouseover=", escape(XSS_TITLE)):
        assert payload in body
    marks = get(next(article["url"] for article in gold["articles"] if article["story"] == "maze-marks"))[2].decode()
    assert "\x00" in marks
    assert "\u202e" in marks


def test_bombs_have_requested_size() -> None:
    with MadeUpWeb(NOW, limits=Limits(slow=0.01, endless=1_000_000, bomb=3_000_000)) as small:
        _, headers, packed = get(small.url("maze", path_of("bomb")))
        assert headers["content-encoding"] == "gzip"
        assert len(packed) < 10_000
        assert len(gzip.decompress(packed)) > 3_000_000
        assert 900_000 < len(get(small.url("maze", path_of("endless")))[2]) < 1_100_000
        assert get(small.url("maze", path_of("trickle")))[2].endswith(b"</html>")
