"""Outgoing feeds: readable by common libraries, well-formed for any content, unchanged while the store is."""

from __future__ import annotations

import csv
import json
import warnings
from datetime import UTC, datetime
from io import StringIO
from types import ModuleType
from typing import Any

import httpx
import pytest
from lxml import etree
from lxml import html as lxml_html

from newsportal.portal.reading.feed_formats import Feed, FeedItem, atom, json_feed, rss
from newsportal.store.store import Store

MOMENT = datetime(2026, 5, 20, 10, 30, tzinfo=UTC)
HOSTILE_TEXT = "标题 & <b>粗</b> ]]> \x00\x0b\x1b\ud800\uffff “引号” 'x' \U0001f600"


def read(content: bytes) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # feedparser's warnings
        import feedparser

        return feedparser.parse(content)


def hostile_feed() -> Feed:
    entry = FeedItem(
        "urn:x:1",
        HOSTILE_TEXT,
        "http://p/story/1",
        "https://a.example/?a=1&b=2",
        MOMENT,
        MOMENT,
        HOSTILE_TEXT,
        f"<p>{HOSTILE_TEXT}</p>",
        HOSTILE_TEXT,
        HOSTILE_TEXT,
        (HOSTILE_TEXT,),
        "zh",
    )
    return Feed(HOSTILE_TEXT, "http://p/", "http://p/feed.rss", "zh", [entry])


@pytest.mark.parametrize("write", [rss, atom])
def test_illegal_characters_keep_feed_well_formed(write: Any) -> None:
    content = write(hostile_feed())
    etree.fromstring(content)
    found = read(content)
    assert not found.bozo
    [entry] = found.entries
    assert entry.title.startswith("标题 & ")
    assert "]]>" in entry.title
    assert entry.link == "https://a.example/?a=1&b=2"
    assert entry.published_parsed[:5] == (2026, 5, 20, 10, 30)
    assert "<p>" in (entry.content[0].value)


def test_json_feed_has_fields_of_version_1_1() -> None:
    data = json.loads(json_feed(hostile_feed()))
    assert data["version"] == "https://jsonfeed.org/version/1.1"
    [item] = data["items"]
    assert {"id", "url", "title", "content_html", "date_published", "authors", "tags", "language"} <= set(item)
    assert item["date_published"] == "2026-05-20T10:30:00Z"


@pytest.mark.parametrize("write", [rss, atom, json_feed])
def test_empty_feed_is_valid(write: Any) -> None:
    content = write(Feed("空", "http://p/", "http://p/f", "zh"))
    found = read(content)
    assert not found.bozo or write is json_feed
    assert found.entries == []


@pytest.mark.parametrize("ending", ["rss", "atom"])
@pytest.mark.parametrize("scope", ["", "/topic/旅游", "/search"])
def test_every_list_has_a_readable_feed(client: httpx.Client, ending: str, scope: str) -> None:
    answer = client.get(f"{scope}/feed.{ending}", params={"q": "峡谷"} if scope == "/search" else None)
    assert answer.headers["content-type"] == f"application/{ending}+xml; charset=utf-8"
    found = read(answer.content)
    assert not found.bozo
    assert len(found.entries) == {"": 15, "/topic/旅游": 5, "/search": 1}[scope]
    for entry in found.entries:
        assert entry.link.startswith("https://")
        assert entry.id.startswith("urn:newsportal:")
        assert len(entry.content[0].value) > 20  # the full text


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/feed.json?category=财经", True),
        ("/feed.json?site=南江日报", True),
        ("/topic/旅游/feed.json?site=云岭晚报", True),
        ("/feed.json?site=没有", False),
    ],
)
def test_filtered_list_has_its_own_feed(client: httpx.Client, path: str, found: bool) -> None:
    data = client.get(path).json()
    assert bool(data["items"]) == found
    value = path.split("=")[1]
    assert value in data["title"]
    page = lxml_html.document_fromstring(client.get(data["home_page_url"]).text)
    assert data["feed_url"].endswith(page.xpath("//link[@type='application/feed+json']/@href")[0])
    ids = {link.rsplit("/", 1)[1].partition("?")[0] for link in page.xpath("//main//*[contains(@class, 'headline')]/a/@href")}
    assert len(data["items"]) == len(ids)


def test_feeds_page_links_to_category_feeds(client: httpx.Client) -> None:
    links = lxml_html.document_fromstring(client.get("/feeds").text).xpath("//table//a/@href")
    assert any("category=" in link for link in links)
    assert all(client.get(link).status_code == 200 for link in links)


def test_pages_link_to_their_feeds(client: httpx.Client) -> None:
    for path in ("/", "/latest", "/topic/旅游", "/search?q=峡谷"):
        links = lxml_html.document_fromstring(client.get(path).text).xpath("//link[@rel='alternate']/@href")
        assert len(links) == 3, path
        for link in links:
            assert client.get(link).status_code == 200, link


def test_opml_links_to_feeds(client: httpx.Client) -> None:
    root = etree.fromstring(client.get("/feeds.opml").content)
    addresses = [outline.get("xmlUrl") for outline in root.iter("outline")]
    assert len(addresses) == 4
    assert all(client.get(address).status_code == 200 for address in addresses)


def test_unchanged_feed_returns_304(client: httpx.Client) -> None:
    first = client.get("/feed.atom")
    repeated = client.get("/feed.atom", headers={"if-none-match": first.headers["etag"]})
    assert (repeated.status_code, repeated.content) == (304, b"")
    assert client.get("/feed.atom", headers={"if-none-match": f'"other", {first.headers["etag"]}'}).status_code == 304
    assert client.get("/feed.atom", headers={"if-none-match": '"other"'}).status_code == 200
    assert client.get("/feed.atom", headers={"if-modified-since": first.headers["last-modified"]}).status_code == 304
    assert client.get("/feed.atom", headers={"if-modified-since": "Mon, 01 Jan 2001 00:00:00 GMT"}).status_code == 200
    assert client.get("/feed.atom", headers={"if-modified-since": "yesterday"}).status_code == 200


def test_new_story_changes_etag(fresh: Store, serve, newsroom: ModuleType) -> None:
    client = serve(fresh)
    empty = client.get("/feed.rss").headers["etag"]
    newsroom.write(fresh, newsroom.article("新到", "新到的正文" * 20))
    assert client.get("/feed.rss", headers={"if-none-match": empty}).status_code == 200


@pytest.mark.parametrize(
    ("habit", "target"),
    [("/rss", "/feed.rss"), ("/feed/atom.xml", "/feed.atom"), ("/feed/feed.json", "/feed.json"), ("/index.xml", "/feed.rss")],
)
def test_common_feed_urls_redirect(client: httpx.Client, habit: str, target: str) -> None:
    assert client.get(habit).headers["location"] == target


def test_feeds_and_pages_are_compressed(client: httpx.Client) -> None:
    for path in ("/", "/feed.rss", "/static/portal.css"):
        assert client.get(path, headers={"accept-encoding": "gzip"}).headers["content-encoding"] == "gzip"


def test_feed_links_use_the_portal_url(fresh: Store, serve, newsroom: ModuleType) -> None:
    settings = newsroom.settings(portal={"title": "公开", "url": "https://news.example.org/"})
    newsroom.write(fresh, newsroom.article("一则", "一则的正文" * 20, url="javascript:alert(1)"))
    [entry] = read(serve(fresh, settings=settings).get("/feed.rss").content).entries
    assert entry.link.startswith("https://news.example.org/story/")


@pytest.mark.parametrize("path", ["/feed", "/topic/旅游/feed"])
def test_list_is_exported_as_csv_and_json_lines(client: httpx.Client, path: str) -> None:
    table, lines = client.get(f"{path}.csv"), client.get(f"{path}.jsonl")
    rows = list(csv.DictReader(StringIO(table.content.decode("utf-8-sig"))))
    assert rows
    assert [row["title"] for row in rows] == [json.loads(line)["title"] for line in lines.text.splitlines()]
    assert all(row["url"].startswith("http") and row["site"] and row["text"] for row in rows)
    assert table.headers["content-type"] == "text/csv; charset=utf-8"
    assert table.headers["content-disposition"] == 'attachment; filename="newsportal.csv"'
    assert "hidden_by" not in lines.text


def test_lists_link_to_their_exports(client: httpx.Client) -> None:
    page = lxml_html.document_fromstring(client.get("/topic/旅游?site=晨光网").text)
    files = page.xpath("//a[@download]/@href")
    assert [address.partition("?")[0].rpartition(".")[2] for address in files] == ["csv", "jsonl"]
    rows = list(csv.DictReader(StringIO(client.get(files[0]).content.decode("utf-8-sig"))))
    assert {row["site"] for row in rows} == {"晨光网"}, "the export has the filters of the list"


@pytest.mark.parametrize(
    "path", ["/topic/旅游?order=hottest", "/latest?order=hottest", "/latest", "/search?q=的", "/search?q=的&sort=time"]
)
def test_files_have_the_order_of_their_list(client: httpx.Client, path: str) -> None:
    page = lxml_html.document_fromstring(client.get(path).text)
    shown = [link.text_content().strip() for link in page.xpath("//article//h2/a | //article//h3/a")]
    [address] = page.xpath("//a[@download][.='JSON Lines']/@href")
    stored = [json.loads(line)["title"] for line in client.get(address).text.splitlines()]
    assert len(shown) > 2
    assert stored[: len(shown)] == shown
