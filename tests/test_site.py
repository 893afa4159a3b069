"""The made-up Web holds what its manifest says, misbehaves as told, and is the same each time."""

from __future__ import annotations

import gzip
import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from html import escape, unescape
from itertools import combinations
from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

import feedparser
import pytest
from madeup import Limits, MadeUpWeb
from madeup.exchange import Request
from madeup.router import Router
from madeup.server import CHINA
from madeup.sites import KEYS, ROBOTS, SITES
from madeup.traps import PAYLOADS, XSS_TITLE
from madeup.world import World

from newsportal.sources import load

NOW = datetime(2026, 3, 14, 15, 9, tzinfo=CHINA)
ADDRESSES = {key: f"http://127.0.0.1:{9000 + index}" for index, key in enumerate(KEYS)}
TAG = re.compile(r"<(?:script|style)\b.*?</(?:script|style)>|<[^>]+>", re.DOTALL | re.IGNORECASE)
LINK = re.compile(r'<a\b[^>]*?href="([^"]*)"', re.IGNORECASE)
NAMES = ("http://www.w3.org/", "https://schema.org", "https://jsonfeed.org/", "http://purl.org/")
"""Names of vocabularies look like addresses; nobody fetches them."""

Answer = tuple[int, dict[str, str], bytes]


def get(url: str, method: str = "GET", **headers: str) -> Answer:
    """One request without redirects: status, headers (lower case), body."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=10)
    try:
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        connection.request(method, target, headers={name.replace("_", "-"): value for name, value in headers.items()})
        response = connection.getresponse()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
    finally:
        connection.close()


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def visible(html: str) -> str:
    return squeezed(unescape(TAG.sub("", html)))


@pytest.fixture
def fresh(web: MadeUpWeb) -> MadeUpWeb:
    """The shared Web without memory of earlier tests."""
    web.reset()
    return web


@pytest.fixture(scope="session")
def gold(web: MadeUpWeb) -> dict[str, Any]:
    return web.manifest()


@pytest.fixture(scope="session")
def pages(web: MadeUpWeb, gold: dict[str, Any]) -> dict[str, list[Answer]]:
    """Every article's pages by its address, once fetched over HTTP (the second try for the one that fails at first)."""
    web.reset()
    found = {}
    for article in gold["articles"]:
        answers = [get(url) for url in article["pages"]]
        found[article["url"]] = [get(url) if answer[0] == 503 else answer for url, answer in zip(article["pages"], answers, strict=True)]
    return found


# What is told


def test_there_are_enough_stories_of_every_kind(gold: dict[str, Any]) -> None:
    first = {article["story"]: article for article in gold["articles"]}
    chinese = [article for article in first.values() if article["language"].startswith("zh")]
    assert len(chinese) >= 80
    assert len(first) - len(chinese) == 15
    assert {article["category"] for article in chinese} == {"旅游", "科技", "财经", "体育", "社会", "文化", "教育", "健康"}
    assert sum(len(article["text"]) <= 60 for article in chinese) >= 8, "flashes"
    assert sum(article["language"] == "zh-Hant" for article in chinese) >= 6
    assert sum(bool(article["images"]) for article in chinese) >= 20


def test_different_stories_share_no_text(gold: dict[str, Any]) -> None:
    """A near-duplicate detector must not be able to confuse two of them."""

    def shingles(text: str) -> set[str]:
        text = squeezed(text)
        return {text[start : start + 8] for start in range(len(text) - 7)}

    first = {article["story"]: shingles(article["text"]) for article in gold["articles"]}
    for (one, some), (other, more) in combinations(first.items(), 2):
        shared = len(some & more) / min(len(some), len(more))
        assert shared < 0.1, f"{one} and {other} share {shared:.0%}"


def test_a_repost_keeps_the_title_and_a_retelling_does_not(gold: dict[str, Any]) -> None:
    articles = {article["url"]: article for article in gold["articles"]}
    reposted = [story for story in gold["stories"].values() if story["reposts"]]
    assert len(reposted) >= 35
    retold = 0
    for story in gold["stories"].values():
        first, *rest = (articles[url] for url in story["articles"])
        for article in rest:
            assert first["published"] < article["published"]
            assert first["site"] != article["site"]
            assert article["origin"] == first["site_name"]
            if article["url"] in story["reposts"] and article["language"] == first["language"]:
                assert (article["title"], article["text"]) == (first["title"], first["text"])
            elif article["url"] not in story["reposts"]:
                assert article["title"] != first["title"]
                retold += 1
    assert retold >= 8


def test_standing_columns_share_a_title_on_one_site_only(gold: dict[str, Any]) -> None:
    columns = [article for article in gold["articles"] if article["column"]]
    assert {(article["site"], article["title"]) for article in columns} == {("xifeng", "溪峰早市菜价"), ("kunzhou", "堃州一周天气")}
    assert len({article["text"] for article in columns}) == len(columns) == 5


def test_titles_are_unique_but_for_columns_and_reposts(gold: dict[str, Any]) -> None:
    stories: dict[str, set[str]] = {}
    for article in gold["articles"]:
        if not article["column"]:
            stories.setdefault(article["title"], set()).add(article["story"])
    assert all(len(found) == 1 for found in stories.values())


def test_everything_was_published_in_the_last_three_days(web: MadeUpWeb, gold: dict[str, Any]) -> None:
    for article in gold["articles"]:
        published = datetime.fromisoformat(article["published"])
        assert web.now - timedelta(days=3) < published <= web.now
        assert published.second == 0


# Articles


def test_every_article_shows_its_gold(gold: dict[str, Any], pages: dict[str, list[Answer]]) -> None:
    for article in gold["articles"]:
        answers = pages[article["url"]]
        assert {status for status, _, _ in answers} == {200}, article["url"]
        shown = visible("".join(body.decode(article["encoding"]) for _, _, body in answers))
        place = 0
        for line in article["text"].splitlines():
            place = shown.find(squeezed(line), place)
            assert place >= 0, f"{article['url']}: {line}"
        assert squeezed(article["origin"]) in shown
        assert squeezed(article["author"] or "") in shown


def test_every_article_shows_title_and_date(gold: dict[str, Any], pages: dict[str, list[Answer]]) -> None:
    for article in gold["articles"]:
        _, _, body = pages[article["url"]][0]
        shown = re.sub("[\u200b\u202e\u00ad\ufeff\x00]", "", visible(body.decode(article["encoding"])))
        assert shown.count(squeezed(article["title"])) >= 2, "in title and heading"
        assert squeezed(SITES[article["site"]].date(datetime.fromisoformat(article["published"]))) in shown


def test_an_article_over_several_pages_repeats_nothing_and_links_all(gold: dict[str, Any], pages: dict[str, list[Answer]]) -> None:
    long = [article for article in gold["articles"] if len(article["pages"]) > 1]
    assert {len(article["pages"]) for article in long} == {2, 3}
    for article in long:
        bodies = [visible(body.decode(article["encoding"])) for _, _, body in pages[article["url"]]]
        for line in article["text"].splitlines():
            assert sum(squeezed(line) in body for body in bodies) == 1
        linked = {urljoin(article["url"], href) for href in LINK.findall(pages[article["url"]][0][2].decode())}
        assert linked >= set(article["pages"][1:])


def test_encodings_lie_as_told(gold: dict[str, Any], pages: dict[str, list[Answer]]) -> None:
    by_site: dict[str, list[Answer]] = {}
    for article in gold["articles"]:
        by_site.setdefault(article["site"], []).extend(pages[article["url"]])
    for _, headers, body in by_site["kunzhou"]:
        assert headers["content-type"].endswith("gb2312")
        with pytest.raises(UnicodeDecodeError):
            body.decode("gb2312")
    for _, headers, body in by_site["xifeng"]:
        assert headers["content-type"] == "text/html", "the header says nothing"
        assert body.index(b"charset=gbk") > 1024
        with pytest.raises(UnicodeDecodeError):
            body.decode("utf-8")
    assert all(b"charset=big5" in body for _, _, body in by_site["nanwan"])
    assert any("’".encode("cp1252") in body and b"iso-8859-1" in body for _, _, body in by_site["harbour"])
    assert {body[:2] == b"\xff\xfe" for _, _, body in by_site["beichen"]} == {True, False}, "with and without a byte order mark"


def test_pictures_are_png_of_their_size(gold: dict[str, Any]) -> None:
    images = [image for article in gold["articles"] for image in article["images"]]
    for image in images[:6]:
        status, headers, body = get(image["url"])
        assert (status, headers["content-type"]) == (200, "image/png")
        assert body[:8] == b"\x89PNG\r\n\x1a\n"
        assert (int.from_bytes(body[16:20], "big"), int.from_bytes(body[20:24], "big")) == (480, 300)
    assert get(images[0]["url"].replace("_0.png", "_9.png"))[0] == 404


# Lists


def test_every_link_of_a_list_is_known(gold: dict[str, Any]) -> None:
    """Articles, lists, the rest: what is none of them would be a hole in the gold. The maze is full of holes on purpose."""
    for hub in gold["hubs"]:
        if hub["site"] == "maze":
            continue
        status, _, body = get(hub["url"])
        assert status == 200
        encoding = SITES[hub["site"]].encoding
        found = {urljoin(hub["url"], unescape(href)) for href in LINK.findall(body.decode(encoding))}
        side = {article["url"] for article in gold["articles"] if article["site"] == hub["site"]}
        assert set(hub["articles"]) <= found
        assert found <= {*hub["articles"], *hub["hubs"], *hub["other"], *hub["pages"], *side}, hub["url"]


def test_lists_lead_to_every_article(gold: dict[str, Any]) -> None:
    for kind in ("rolling", "channel"):
        listed = {url.partition("?from")[0] for hub in gold["hubs"] if hub["kind"] == kind for url in hub["articles"]}
        assert listed == {article["url"] for article in gold["articles"]}
    assert any(len(hub["pages"]) == 4 for hub in gold["hubs"])


def test_pages_that_lists_link_besides_answer(gold: dict[str, Any]) -> None:
    for url in {url for hub in gold["hubs"] for url in hub["other"]}:
        assert get(url)[0] == 200, url


# Feeds


def test_feeds_parse_or_are_broken_as_told(gold: dict[str, Any]) -> None:
    for feed in gold["feeds"]:
        status, headers, body = get(feed["url"])
        assert status == 200
        if feed["format"] == "json":
            assert [(item["url"], item["title"]) for item in json.loads(body)["items"]] == list(
                zip(feed["articles"], feed["titles"], strict=True)
            )
            continue
        parsed = feedparser.parse(body, response_headers={"content-type": headers["content-type"], "content-location": feed["url"]})
        links = [entry.link for entry in parsed.entries]
        assert len(links) == len(feed["articles"]) > 1
        if feed["quirk"] == "broken":
            assert parsed.bozo
            continue
        assert [entry.title for entry in parsed.entries] == feed["titles"]
        if feed["quirk"] == "shared-link":
            assert len(set(links)) == 1
        elif feed["quirk"] == "utm":
            assert [link.partition("?utm_")[0] for link in links] == feed["articles"]
        else:
            assert links == feed["articles"]
        assert all("published" in entry or "updated" in entry for entry in parsed.entries) == (feed["quirk"] != "no-dates")


def test_the_broken_feed_is_no_xml(web: MadeUpWeb) -> None:
    from xml.etree import ElementTree

    with pytest.raises(ElementTree.ParseError):
        ElementTree.fromstring(get(web.url("xifeng", "/rss.xml"))[2].decode("gbk").partition("?>")[2])


def test_a_feed_that_did_not_change_says_so(gold: dict[str, Any]) -> None:
    for feed in gold["feeds"]:
        _, headers, body = get(feed["url"])
        assert body
        assert get(feed["url"], If_None_Match=headers["etag"])[::2] == (304, b"")
        assert get(feed["url"], If_Modified_Since=headers["last-modified"])[::2] == (304, b"")
        assert get(feed["url"], If_None_Match='"old"', If_Modified_Since=headers["last-modified"])[0] == 200


# Engines


def results(web: MadeUpWeb, engine: str, path: str, encoding: str = "utf-8") -> list[str]:
    """The addresses behind one result page, redirects resolved."""
    _, _, body = get(web.url(engine, path))
    patterns = {
        "baixun": r'<h3 class="t"><a href="([^"]+)"',
        "wansou": r'<h2><a href="([^"]+)"',
        "kuaiwen": r'<a class="title" href="([^"]+)"',
    }
    links = [urljoin(web.url(engine), unescape(href)) for href in re.findall(patterns[engine], body.decode(encoding))]
    return [get(link)[1].get("location", link) if "/link?" in link else link for link in links]


def test_an_engine_gives_ten_results_a_page_until_there_are_no_more(web: MadeUpWeb, gold: dict[str, Any]) -> None:
    query = quote("游客")
    found = [results(web, "baixun", f"/search?q={query}&start={start}") for start in range(0, 60, 10)]
    filled = [page for page in found if page]
    assert all(len(page) == 10 for page in filled[:-1])
    assert len(filled) >= 2
    assert not found[-1]
    flat = [url for page in found for url in page]
    expected = [
        article["url"]
        for article in gold["articles"]
        if "游客" in article["title"] + article["text"] and article["site"] != "maze" and article["expect"] != "deny"
    ]
    assert sorted(flat) == sorted(expected)


def test_all_engines_agree_on_what_there_is(fresh: MadeUpWeb) -> None:
    first = results(fresh, "baixun", f"/search?q={quote('流感')}&start=0")
    assert len(first) == 4
    assert results(fresh, "wansou", f"/web?wd={quote('流感')}&pn=0") == first
    assert results(fresh, "kuaiwen", f"/s?word={quote('流感'.encode('gb18030'))}&p=1", "gb18030") == first
    assert results(fresh, "kuaiwen", f"/s?word={quote('流感'.encode('gb18030'))}&p=2", "gb18030") == []


def test_the_second_engine_asks_for_a_captcha_after_a_while(fresh: MadeUpWeb) -> None:
    path = f"/web?wd={quote('芯片')}&pn=0"
    assert [len(results(fresh, "wansou", path)) > 0 for _ in range(5)] == [True, True, True, False, False]
    assert "验证码" in get(fresh.url("wansou", path))[2].decode()
    fresh.reset()
    assert results(fresh, "wansou", path)


def test_an_unknown_redirect_leads_nowhere(web: MadeUpWeb) -> None:
    assert get(web.url("baixun", "/link?url=0123"))[0] == 404


# Robots


def test_robots_are_of_every_kind(web: MadeUpWeb) -> None:
    answers = {key: get(web.url(key, "/robots.txt")) for key in KEYS}
    assert answers.keys() == ROBOTS.keys()
    assert answers["nanwan"][0] == 404
    assert answers["shenyuan"][0] == 500
    assert b"Crawl-delay: 0.2" in answers["kunzhou"][2]
    assert answers["haitang"][2].startswith(b"\xef\xbb\xbf")
    assert b"<!doctype html>" in answers["qingtai"][2]
    assert answers["quill"][2] == b""
    status, headers, _ = answers["chaoyin"]
    assert (status, headers["location"]) == (301, "/robots/rules.txt")
    assert get(web.url("chaoyin", "/robots/rules.txt"))[0] == 200


def test_what_robots_deny_is_linked_and_marked(gold: dict[str, Any]) -> None:
    denied = {article["url"]: article for article in gold["articles"] if article["expect"] == "deny"}
    assert {article["site"] for article in denied.values()} == {"kunzhou", "shenyuan"}
    listed = {url for hub in gold["hubs"] for url in hub["articles"]}
    assert denied.keys() <= listed
    assert any("/private/" in url for url in denied)


# Traps


def test_traps_answer_as_told(fresh: MadeUpWeb, gold: dict[str, Any]) -> None:
    bounded = {"/traps/endless.html", "/traps/bomb.html"}
    statuses = {}
    for trap in gold["traps"]:
        path = urlsplit(trap["url"]).path
        if path not in bounded:
            statuses.setdefault(trap["expect"], set()).add(get(trap["url"])[0])
    assert statuses["skip"] == {200}
    assert statuses["refuse"] == {302}
    assert statuses["fail"] == {302, 404, 500, 503}
    assert statuses["store"] == {200, 503}
    assert statuses["bounded"] == {200}


def test_the_front_page_of_the_maze_leads_into_every_trap(fresh: MadeUpWeb, gold: dict[str, Any]) -> None:
    front = fresh.url("maze")
    found = {urljoin(front, unescape(href)) for href in LINK.findall(get(front)[2].decode())}
    assert {trap["url"] for trap in gold["traps"] if "comment" not in trap["url"]} <= found


def test_redirects_go_where_nobody_may_follow(web: MadeUpWeb) -> None:
    targets = {path: get(web.url("maze", f"/traps/{path}"))[1]["location"] for path in ("to-file", "to-metadata", "loop-a", "loop-b")}
    assert targets["to-file"].startswith("file:///")
    assert targets["to-metadata"].startswith("http://169.254.169.254/")
    assert (targets["loop-a"], targets["loop-b"]) == ("/traps/loop-b", "/traps/loop-a")


def test_the_flaky_page_fails_once(fresh: MadeUpWeb, gold: dict[str, Any]) -> None:
    url = next(article["url"] for article in gold["articles"] if article["story"] == "maze-flaky")
    status, headers, _ = get(url)
    assert (status, headers["retry-after"]) == (503, "0")
    assert [get(url)[0] for _ in range(2)] == [200, 200]


def test_one_article_answers_under_many_addresses(web: MadeUpWeb, gold: dict[str, Any]) -> None:
    front = get(web.url("maze"))[2].decode()
    for story, least in (("maze-session", 3), ("maze-slugs", 4)):
        article = next(article for article in gold["articles"] if article["story"] == story)
        number = urlsplit(article["url"]).path.removesuffix(".html")
        ways = {href for href in LINK.findall(front) if href.startswith(number)}
        assert len(ways) >= least
        for href in ways:
            assert article["title"] in get(urljoin(web.url("maze"), unescape(href)))[2].decode()


def test_session_ids_differ_from_list_to_list(web: MadeUpWeb, gold: dict[str, Any]) -> None:
    ways = {href for hub in gold["hubs"] if hub["site"] == "maze" for href in LINK.findall(get(hub["url"])[2].decode()) if "sid=" in href}
    assert len(ways) >= 3


def test_the_calendar_has_no_end(web: MadeUpWeb) -> None:
    url = web.url("maze", "/calendar?month=2026-12")
    for _ in range(3):
        url = urljoin(url, unescape(LINK.findall(get(url)[2].decode())[-1]))
    assert url.endswith("month=2027-03")
    assert get(web.url("maze", "/calendar?month=2026-13"))[0] == 404


def test_relative_links_nest_without_end(web: MadeUpWeb) -> None:
    url = web.url("maze", "/deep/a/b/")
    for _ in range(5):
        url = urljoin(url, LINK.findall(get(url)[2].decode())[0])
    assert urlsplit(url).path == "/deep/" + "a/b/" * 6


def test_the_payloads_are_there(web: MadeUpWeb, gold: dict[str, Any]) -> None:
    article = next(article for article in gold["articles"] if article["story"] == "maze-xss")
    body = get(article["url"])[2].decode()
    for payload in (*PAYLOADS, "onmouseover=", escape(XSS_TITLE)):
        assert payload in body
    marks = get(next(article["url"] for article in gold["articles"] if article["story"] == "maze-marks"))[2].decode()
    assert "\x00" in marks
    assert "\u202e" in marks


def test_bombs_are_as_large_as_asked() -> None:
    with MadeUpWeb(NOW, limits=Limits(slow=0.01, endless=1_000_000, bomb=3_000_000)) as small:
        _, headers, packed = get(small.url("maze", "/traps/bomb.html"))
        assert headers["content-encoding"] == "gzip"
        assert len(packed) < 10_000
        assert len(gzip.decompress(packed)) > 3_000_000
        assert 900_000 < len(get(small.url("maze", "/traps/endless.html"))[2]) < 1_100_000
        assert get(small.url("maze", "/traps/trickle.html"))[2].endswith(b"</html>")


# The same each time


def everything(world: World) -> Iterator[tuple[str, str, bytes]]:
    """What every address of the manifest answers, without a server."""
    router = Router(world)
    gold = json.dumps([world.now.isoformat(), world.seed])
    yield "", "", gold.encode()
    targets = [(copy.site, path) for copy in world.copies for path in copy.paths]
    targets += [*router.hubs, ("kunzhou", "/rss/news.xml"), ("qingtai", "/feed.json"), ("baixun", "/search?q=%E6%B8%B8&start=0")]
    for site, target in targets:
        yield site, target, router.answer(Request(site, target)).body


def test_the_same_seed_and_time_give_the_same_bytes() -> None:
    assert list(everything(World(NOW, 7, ADDRESSES))) == list(everything(World(NOW, 7, ADDRESSES)))


def test_another_seed_gives_other_times_and_addresses_but_the_same_stories() -> None:
    one, other = World(NOW, 7, ADDRESSES), World(NOW, 8, ADDRESSES)
    assert {(copy.site, copy.title, copy.text) for copy in one.copies} == {(copy.site, copy.title, copy.text) for copy in other.copies}
    assert {copy.published for copy in one.copies} != {copy.published for copy in other.copies}
    assert not {copy.number for copy in one.copies} & {copy.number for copy in other.copies if copy.story == "tram"}


def test_no_two_articles_share_an_address() -> None:
    for seed in range(20):
        world = World(NOW, seed, ADDRESSES)
        assert len(world.by_path) == sum(len(copy.paths) for copy in world.copies)


def test_nothing_leads_out_of_the_made_up_web() -> None:
    """But for the redirects that no crawler may follow, and names of vocabularies."""
    for site, target, body in everything(World(NOW, 7, ADDRESSES)):
        text = body.decode("utf-16" if site == "beichen" and body[:2] == b"\xff\xfe" else "utf-16-le" if site == "beichen" else "latin-1")
        for address in re.findall(r"(?:https?:)?//[\w.:-]+[^\s\"'<>]*", text):
            assert address.startswith((*NAMES, *ADDRESSES.values(), "//W3C//", "//DTD", "//EN")), f"{site}{target}: {address}"


# The server


def test_requests_are_remembered_in_order(fresh: MadeUpWeb) -> None:
    get(fresh.url("kunzhou", "/robots.txt"), User_Agent="tester")
    get(fresh.url("maze", "/traps/missing.html?x=1"), method="HEAD")
    first, second = fresh.requests
    assert (first.site, first.method, first.path, first.status) == ("kunzhou", "GET", "/robots.txt", 200)
    assert first.headers["User-Agent"] == "tester"
    assert fresh.url("kunzhou") == f"http://{first.host}/"
    assert (second.site, second.method, second.path, second.status) == ("maze", "HEAD", "/traps/missing.html?x=1", 404)
    assert first.time <= second.time


def test_faults_are_injected_as_often_as_asked(fresh: MadeUpWeb) -> None:
    fresh.fail("/", times=2, status=429, site="haitang", Retry_After="2")
    answers = [get(fresh.url("haitang")) for _ in range(3)]
    assert [status for status, _, _ in answers] == [429, 429, 200]
    assert answers[0][1]["retry-after"] == "2"
    fresh.fail(fresh.url("quill", "/tag/roll"))
    assert [get(fresh.url("quill", "/tag/roll"))[0] for _ in range(2)] == [503, 200]
    fresh.fail("/robots.txt", status=0, site="xifeng")
    with pytest.raises(http.client.RemoteDisconnected):
        get(fresh.url("xifeng", "/robots.txt"))


def test_many_threads_may_ask_at_once(fresh: MadeUpWeb) -> None:
    statuses: list[int] = []
    asking = [threading.Thread(target=lambda: statuses.extend(get(fresh.url("haitang"))[0] for _ in range(5))) for _ in range(8)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert statuses == [200] * 40
    assert len(fresh.requests) == 40


def test_it_stops_cleanly_in_the_middle_of_an_endless_body() -> None:
    before = set(threading.enumerate())
    web = MadeUpWeb(NOW).start()
    address = urlsplit(web.url("maze"))
    with socket.create_connection((str(address.hostname), address.port or 80), timeout=10) as connection:
        connection.sendall(b"GET /traps/endless.html HTTP/1.1\r\nHost: x\r\n\r\n")
        assert connection.recv(100)
        with socket.create_connection((str(address.hostname), address.port or 80)):
            web.stop()
    assert not set(threading.enumerate()) - before
    with pytest.raises(OSError):
        socket.create_connection((str(address.hostname), address.port or 80), timeout=1)


def test_a_taken_port_leaves_nothing_open() -> None:
    with MadeUpWeb(NOW) as web:
        taken = urlsplit(web.url("nanwan")).port or 0
        other = MadeUpWeb(NOW, port_base=taken)
        with pytest.raises(OSError):
            other.start()
        assert not other._servers


def test_every_site_can_have_an_address_of_its_own() -> None:
    try:
        with socket.socket() as probe:
            probe.bind(("127.0.0.11", 0))
    except OSError:
        pytest.skip("this system has no loopback address but 127.0.0.1")
    with MadeUpWeb(NOW, hosts=True) as web:
        assert len({urlsplit(address).hostname for address in web.addresses.values()}) == len(KEYS)
        assert get(web.url("haitang"))[0] == 200


# Its sources.yaml


@pytest.mark.parametrize("traps", [False, True])
def test_its_sources_load(web: MadeUpWeb, tmp_path: Path, traps: bool) -> None:
    sources = load(web.sources(tmp_path / "sources.yaml", traps))
    assert [topic.name for topic in sources.topics] == ["旅游", "科技", "财经", "健康"]
    assert [engine.name for engine in sources.engines] == ["baixun", "wansou", "kuaiwen"]
    assert sources.politeness.delay == 0
    assert sources.politeness.obey_robots
    assert sources.politeness.allow_private == ("127.0.0.1",)
    assert sources.store == f"sqlite:///{tmp_path / 'data' / 'newsportal.db'}"
    assert any(region.prefix == web.url("maze") for region in sources.regions) is traps
    for feed in sources.feeds:
        assert get(feed.url)[0] == 200
    for region in sources.regions:
        assert all(get(seed)[0] == 200 for seed in region.seeds)


def test_it_serves_from_the_command_line(tmp_path: Path) -> None:
    script = Path(__file__).parent / "site" / "serve.py"
    sources, gold = tmp_path / "a" / "sources.yaml", tmp_path / "gold.json"
    command = [sys.executable, str(script), "--port-base", "0", "--write-sources", str(sources), "--write-manifest", str(gold)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        lines = []
        for line in process.stdout:
            lines.append(line.strip())
            if lines[-1] == "ready":
                break
        address = lines[0].split()[0]
        assert get(address)[0] == 200
        assert load(sources).feeds
        assert json.loads(gold.read_text(encoding="utf-8"))["articles"][0]["url"].startswith("http://127.0.0.1:")
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
