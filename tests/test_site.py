"""The made-up Web matches its manifest, and its pages and lists show the content."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from itertools import combinations
from typing import Any
from urllib.parse import urljoin

import pytest
from madeup import MadeUpWeb
from madeup.client import Answer, get, links, squeezed, visible
from madeup.sites import SITES


@pytest.fixture(scope="module")
def gold(web: MadeUpWeb) -> dict[str, Any]:
    return web.manifest()


@pytest.fixture(scope="module")
def pages(web: MadeUpWeb, gold: dict[str, Any]) -> dict[str, list[Answer]]:
    """Fetch every article's pages over HTTP, by URL (again for the one that fails at first)."""
    web.reset()
    found = {}
    for article in gold["articles"]:
        answers = [get(url) for url in article["pages"]]
        found[article["url"]] = [get(url) if answer[0] == 503 else answer for url, answer in zip(article["pages"], answers, strict=True)]
    return found


# Content


def test_enough_stories_of_every_kind(gold: dict[str, Any]) -> None:
    first = {article["story"]: article for article in gold["articles"]}
    chinese = [article for article in first.values() if article["language"].startswith("zh")]
    assert len(chinese) >= 80
    assert len(first) - len(chinese) == 15
    assert {article["category"] for article in chinese} == {"旅游", "科技", "财经", "体育", "社会", "文化", "教育", "健康"}
    assert sum(len(article["text"]) <= 60 for article in chinese) >= 8, "flashes"
    assert sum(article["language"] == "zh-Hant" for article in chinese) >= 6
    assert sum(bool(article["images"]) for article in chinese) >= 20


def test_different_stories_share_no_text_passages(gold: dict[str, Any]) -> None:
    """A near-duplicate detector must not confuse two of them."""

    def shingles(text: str) -> set[str]:
        text = squeezed(text)
        return {text[start : start + 8] for start in range(len(text) - 7)}

    first = {article["story"]: shingles(article["text"]) for article in gold["articles"]}
    for (this, some), (other, more) in combinations(first.items(), 2):
        shared = len(some & more) / min(len(some), len(more))
        assert shared < 0.1, f"{this} and {other} share {shared:.0%}"


def test_reposts_keep_title_and_rewrites_do_not(gold: dict[str, Any]) -> None:
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


def test_columns_share_title_on_one_site_only(gold: dict[str, Any]) -> None:
    columns = [article for article in gold["articles"] if article["column"]]
    assert {(article["site"], article["title"]) for article in columns} == {("xifeng", "溪峰早市菜价"), ("kunzhou", "堃州一周天气")}
    assert len({article["text"] for article in columns}) == len(columns) == 5


def test_titles_are_unique_except_columns_and_reposts(gold: dict[str, Any]) -> None:
    stories: dict[str, set[str]] = {}
    for article in gold["articles"]:
        if not article["column"]:
            stories.setdefault(article["title"], set()).add(article["story"])
    assert all(len(found) == 1 for found in stories.values())


def test_articles_are_from_last_three_days(web: MadeUpWeb, gold: dict[str, Any]) -> None:
    for article in gold["articles"]:
        published = datetime.fromisoformat(article["published"])
        assert web.now - timedelta(days=3) < published <= web.now
        assert published.second == 0


# Articles


def test_articles_show_gold_text(gold: dict[str, Any], pages: dict[str, list[Answer]]) -> None:
    for article in gold["articles"]:
        answers = pages[article["url"]]
        assert {status for status, _, _ in answers} == {200}, article["url"]
        text = visible("".join(body.decode(article["encoding"]) for _, _, body in answers))
        place = 0
        for line in article["text"].splitlines():
            place = text.find(squeezed(line), place)
            assert place >= 0, f"{article['url']}: {line}"
        assert squeezed(article["origin"]) in text
        assert squeezed(article["author"] or "") in text


def test_articles_show_title_and_date(gold: dict[str, Any], pages: dict[str, list[Answer]]) -> None:
    for article in gold["articles"]:
        _, _, body = pages[article["url"]][0]
        text = re.sub("[\u200b\u202e\u00ad\ufeff\x00]", "", visible(body.decode(article["encoding"])))
        assert text.count(squeezed(article["title"])) >= 2, "in title and heading"
        assert squeezed(SITES[article["site"]].date(datetime.fromisoformat(article["published"]))) in text


def test_multi_page_article_repeats_nothing_and_links_all(gold: dict[str, Any], pages: dict[str, list[Answer]]) -> None:
    long = [article for article in gold["articles"] if len(article["pages"]) > 1 and article["site"] != "maze"]
    assert {len(article["pages"]) for article in long} == {2, 3}
    for article in long:
        bodies = [visible(body.decode(article["encoding"])) for _, _, body in pages[article["url"]]]
        for line in article["text"].splitlines():
            assert sum(squeezed(line) in body for body in bodies) == 1
        linked = {urljoin(article["url"], href) for href in links(pages[article["url"]][0][2].decode())}
        assert linked >= set(article["pages"][1:])


def test_declared_encodings_are_wrong_as_specified(gold: dict[str, Any], pages: dict[str, list[Answer]]) -> None:
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


def test_pictures_are_png_of_declared_size(gold: dict[str, Any]) -> None:
    images = [image for article in gold["articles"] for image in article["images"]]
    for image in images[:6]:
        status, headers, body = get(image["url"])
        assert (status, headers["content-type"]) == (200, "image/png")
        assert body[:8] == b"\x89PNG\r\n\x1a\n"
        assert (int.from_bytes(body[16:20], "big"), int.from_bytes(body[20:24], "big")) == (480, 300)
    assert get(images[0]["url"].replace("_0.png", "_9.png"))[0] == 404


# Lists


def test_links_of_lists_are_in_manifest(gold: dict[str, Any]) -> None:
    """Articles, lists, other pages: any further link would be missing in the gold. The maze has such links on purpose."""
    for hub in gold["hubs"]:
        if hub["site"] == "maze":
            continue
        status, _, body = get(hub["url"])
        assert status == 200
        encoding = SITES[hub["site"]].encoding
        found = {urljoin(hub["url"], href) for href in links(body.decode(encoding))}
        side = {article["url"] for article in gold["articles"] if article["site"] == hub["site"]}
        assert set(hub["articles"]) <= found
        assert found <= {*hub["articles"], *hub["hubs"], *hub["other"], *hub["pages"], *side}, hub["url"]


def test_lists_cover_every_article(gold: dict[str, Any]) -> None:
    for kind in ("rolling", "channel"):
        urls = {url for hub in gold["hubs"] if hub["kind"] == kind for url in hub["articles"]}
        assert urls == {article["url"] for article in gold["articles"]}
    assert any(len(hub["pages"]) == 4 for hub in gold["hubs"])


def test_other_linked_pages_respond(gold: dict[str, Any]) -> None:
    for url in {url for hub in gold["hubs"] for url in hub["other"]}:
        assert get(url)[0] == 200, url
