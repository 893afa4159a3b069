"""How the news of the made-up Web is found: feeds, search engines, robots.txt, and its ``sources.yaml``."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

import feedparser
import pytest
from madeup import MadeUpWeb
from madeup.client import get
from madeup.sites import KEYS, ROBOTS

from newsportal.sources import load


@pytest.fixture
def fresh(web: MadeUpWeb) -> MadeUpWeb:
    """The shared Web, reset to its initial state."""
    web.reset()
    return web


@pytest.fixture(scope="module")
def gold(web: MadeUpWeb) -> dict[str, Any]:
    return web.manifest()


# Feeds


def test_feeds_parse_or_are_broken_as_in_manifest(gold: dict[str, Any]) -> None:
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
        dated = sum(entry.get("published_parsed") is not None or "updated_parsed" in entry for entry in parsed.entries)
        assert dated == 0 if feed["quirk"] == "no-dates" else dated < len(links) if feed["quirk"] == "odd-dates" else dated == len(links)


def test_broken_feed_is_invalid_xml(web: MadeUpWeb) -> None:
    from xml.etree import ElementTree

    with pytest.raises(ElementTree.ParseError):
        ElementTree.fromstring(get(web.url("xifeng", "/rss.xml"))[2].decode("gbk").partition("?>")[2])


def test_unchanged_feed_responds_304(gold: dict[str, Any]) -> None:
    for feed in gold["feeds"]:
        if feed["quirk"] == "changing-etag":
            continue
        _, headers, body = get(feed["url"])
        assert body
        assert get(feed["url"], If_None_Match=headers["etag"])[::2] == (304, b"")
        assert get(feed["url"], If_Modified_Since=headers["last-modified"])[::2] == (304, b"")
        assert get(feed["url"], If_None_Match='"old"', If_Modified_Since=headers["last-modified"])[0] == 200


def test_feed_with_changing_etag_never_responds_304(web: MadeUpWeb) -> None:
    url = web.url("maze", "/restless.xml")
    _, headers, body = get(url)
    status, later, same = get(url, If_None_Match=headers["etag"])
    assert (status, same) == (200, body)
    assert later["etag"] != headers["etag"]


# Engines


def results(web: MadeUpWeb, engine: str, path: str, encoding: str = "utf-8") -> list[str]:
    """Return the URLs of one result page, with redirects resolved."""
    _, _, body = get(web.url(engine, path))
    patterns = {
        "baixun": r'<h3 class="t"><a href="([^"]+)"',
        "wansou": r'<h2><a href="([^"]+)"',
        "kuaiwen": r'<a class="title" href="([^"]+)"',
    }
    links = [urljoin(web.url(engine), href) for href in re.findall(patterns[engine], body.decode(encoding))]
    return [get(link)[1].get("location", link) if "/link?" in link else link for link in links]


def test_engine_gives_ten_results_per_page(web: MadeUpWeb, gold: dict[str, Any]) -> None:
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


def test_engines_return_same_results(fresh: MadeUpWeb) -> None:
    first = results(fresh, "baixun", f"/search?q={quote('流感')}&start=0")
    assert len(first) == 4
    assert results(fresh, "wansou", f"/web?wd={quote('流感')}&pn=0") == first
    assert results(fresh, "kuaiwen", f"/s?word={quote('流感'.encode('gb18030'))}&p=1", "gb18030") == first
    assert results(fresh, "kuaiwen", f"/s?word={quote('流感'.encode('gb18030'))}&p=2", "gb18030") == []


def test_second_engine_shows_captcha_after_three_queries(fresh: MadeUpWeb) -> None:
    path = f"/web?wd={quote('芯片')}&pn=0"
    assert [len(results(fresh, "wansou", path)) > 0 for _ in range(5)] == [True, True, True, False, False]
    assert "验证码" in get(fresh.url("wansou", path))[2].decode()
    fresh.reset()
    assert results(fresh, "wansou", path)


def test_unknown_redirect_is_404(web: MadeUpWeb) -> None:
    assert get(web.url("baixun", "/link?url=0123"))[0] == 404


# Robots


def test_robots_txt_of_every_kind(web: MadeUpWeb) -> None:
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


def test_denied_articles_are_linked_and_marked(gold: dict[str, Any]) -> None:
    denied = {article["url"]: article for article in gold["articles"] if article["expect"] == "deny"}
    assert {article["site"] for article in denied.values()} == {"kunzhou", "shenyuan"}
    urls = {url for hub in gold["hubs"] for url in hub["articles"]}
    assert denied.keys() <= urls
    assert any("/private/" in url for url in denied)


# sources.yaml


@pytest.mark.parametrize("traps", [False, True])
def test_generated_sources_load(web: MadeUpWeb, tmp_path: Path, traps: bool) -> None:
    sources = load(web.sources(tmp_path / "sources.yaml", traps))
    assert [topic.name for topic in sources.topics] == ["旅游", "科技", "财经", "健康"]
    assert [engine.name for engine in sources.engines] == ["baixun", "wansou", "kuaiwen"]
    assert sources.politeness.delay == 0
    assert sources.politeness.obey_robots
    assert set(sources.politeness.allow_private) == {urlsplit(address).hostname for address in web.addresses.values()}
    assert sources.store == f"sqlite:///{tmp_path / 'data' / 'newsportal.db'}"
    assert any(region.prefix == web.url("maze") for region in sources.regions) is traps
    for feed in sources.feeds:
        assert get(feed.url)[0] == 200
    for region in sources.regions:
        assert all(get(seed)[0] == 200 for seed in region.seeds)
