"""Feeds yield all readable entries, however damaged, and raise only ``NotApplicable``."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from work_counts import count_lines, ends

from newsportal.errors import NotApplicable
from newsportal.extractors.feeds import feed, feed_bytes
from newsportal.extractors.feeds.feed import Feed, FeedEntry
from newsportal.text import dom

FEEDS = Path(__file__).parent / "samples"
URL = "http://news.hedong.example/rss/guonei.xml"
NOW = datetime(2026, 3, 12, 12, tzinfo=UTC)
CHINA = timezone(timedelta(hours=8))


def parsed(name: str) -> Feed:
    return feed.parse_feed((FEEDS / name).read_bytes(), URL, "application/rss+xml", NOW)


def rss(items: str, encoding: str = "utf-8", declared: str | None = None) -> bytes:
    declaration = f'<?xml version="1.0" encoding="{declared}"?>' if declared else ""
    return f'{declaration}<rss version="2.0"><channel><link>http://news.hedong.example/</link>{items}</channel></rss>'.encode(encoding)


def parse(body: bytes, content_type: str | None = None) -> Feed:
    return feed.parse_feed(body, URL, content_type, NOW)


def first_entry(items: str) -> FeedEntry:
    return parse(rss(f"<item>{items}</item>")).entries[0]


def test_complete_rss_feed() -> None:
    found = parsed("rss20.xml")
    assert (found.format, found.title) == ("rss20", "河东新闻网 - 国内")
    assert (found.ttl_minutes, found.hub, found.warnings) == (30, "http://hub.hedong.example/", ())
    entry = found.entries[0]
    assert (entry.key, entry.id, entry.title) == ("830115", "830115", "三部门联合部署春季防汛工作")
    assert entry.url == "http://news.hedong.example/guonei/830115.html?utm_source=rss"
    assert entry.summary == "要求各地在三月底前 完成检查。"
    assert entry.author == "本报记者 林一舟"
    assert entry.content_html is not None
    assert entry.content_html.startswith("<p>要求各地")


def test_implausible_dates_and_dates_without_zone() -> None:
    entries = parsed("rss20.xml").entries
    assert entries[0].published == datetime(2026, 3, 12, 9, 15, tzinfo=CHINA)  # CST means China Standard Time in a Chinese feed
    assert entries[1].published == datetime(2026, 3, 12, 8, 2, tzinfo=CHINA)
    assert [entry.published for entry in entries[2:]] == [None, None]  # years 0001 and 2099


def test_original_links_and_permalink_guids() -> None:
    entries = parsed("rss20.xml").entries
    assert entries[1].url == "http://news.hedong.example/guonei/830098.html"
    assert entries[2].url == "http://news.hedong.example/guonei/830077.html"


def test_atom_resolves_xml_base() -> None:
    found = parsed("atom.xml")
    (entry,) = found.entries
    assert (found.format, entry.url) == ("atom10", "https://www.harbour.example/blog/2026/gulls")
    assert (entry.author, entry.summary) == ("Sam Gull", "A year of watching.")
    assert entry.content_html is not None
    assert 'href="https://www.harbour.example/deep/more"' in entry.content_html
    assert entry.published == datetime(2026, 3, 11, 20, tzinfo=UTC)


def test_rdf_syndication_period_is_ttl() -> None:
    found = parsed("rdf.xml")
    assert (found.format, found.ttl_minutes, found.entries[0].updated) == ("rss10", 30, datetime(2026, 3, 12, 10, 20, tzinfo=CHINA))


JSON_FEED = {
    "version": "https://jsonfeed.org/version/1.1",
    "title": "河东新闻",
    "home_page_url": "http://news.hedong.example/",
    "language": "zh-CN",
    "hubs": [{"type": "WebSub", "url": "http://hub.hedong.example/"}],
    "items": [
        {"id": "1", "url": "/a/1.html", "title": "一<二", "content_text": "正文 & 更多", "date_published": "2026-03-12T09:00:00+08:00"},
        {
            "id": 2,
            "external_url": "http://other.example/",
            "content_html": "<p>乙</p>",
            "authors": [{"name": "林一舟"}],
            "tags": ["国内", 3],
        },
    ],
}


def test_json_feed() -> None:
    found = parse(json.dumps(JSON_FEED).encode())
    assert (found.format, found.title, found.hub, found.warnings) == ("json11", "河东新闻", "http://hub.hedong.example/", ())
    first, second = found.entries
    assert (first.title, first.url, first.summary) == ("一<二", "http://news.hedong.example/a/1.html", "正文 & 更多")
    assert (second.key, second.url, second.author) == ("2", "http://other.example/", "林一舟")


def test_truncated_json_feed_keeps_complete_items() -> None:
    body = json.dumps(JSON_FEED, ensure_ascii=False).encode()
    found = parse(body[: body.index(b'"external_url"')])
    assert (found.title, [entry.id for entry in found.entries], found.warnings) == ("河东新闻", ["1"], ("not-well-formed",))


def test_rss_as_json() -> None:
    body = {"rss": {"channel": {"title": "t", "item": [{"title": "甲", "link": "http://a.example/1", "guid": {"#value": "g"}}]}}}
    (entry,) = parse(json.dumps(body).encode()).entries
    assert (entry.id, entry.title, entry.url) == ("g", "甲", "http://a.example/1")


ITEM = "<item><title>国务院部署春季防汛与农业生产工作</title></item>"
TRADITIONAL = "<item><title>國務院部署春季防汛與農業生產工作</title></item>"


@pytest.mark.parametrize(
    ("body", "content_type", "title"),
    [
        (rss(ITEM, encoding="gb18030", declared="gb2312"), None, "国务院部署春季防汛与农业生产工作"),
        (rss(ITEM, encoding="gb18030", declared="utf-8"), "text/xml; charset=utf-8", "国务院部署春季防汛与农业生产工作"),
        (rss(ITEM, encoding="utf-8", declared="gb2312"), "text/xml; charset=gb2312", "国务院部署春季防汛与农业生产工作"),
        (rss(ITEM, encoding="utf-8", declared="iso-8859-1"), None, "国务院部署春季防汛与农业生产工作"),
        (rss(ITEM, encoding="gb18030"), None, "国务院部署春季防汛与农业生产工作"),
        (rss(ITEM, encoding="utf-16", declared="utf-16"), None, "国务院部署春季防汛与农业生产工作"),
        (rss(ITEM, encoding="utf-16-le"), None, "国务院部署春季防汛与农业生产工作"),
        (rss(TRADITIONAL, encoding="big5hkscs", declared="big5"), None, "國務院部署春季防汛與農業生產工作"),
        (gzip.compress(rss(ITEM), mtime=0), None, "国务院部署春季防汛与农业生产工作"),
        (rss(ITEM, declared="no-such-thing"), "text/xml; charset=zlib", "国务院部署春季防汛与农业生产工作"),
    ],
)
def test_encodings(body: bytes, content_type: str | None, title: str) -> None:
    assert parse(body, content_type).entries[0].title == title


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("big5hkscs", "國務院部署春季防汛與農業生產工作"),
        ("euc_jp", "ゲーム三昧なお正月の過ごしかた"),
        ("cp932", "新しい記事の投稿が反映されない"),
        ("cp949", "한글 제목을 표시하는 방법"),
        ("koi8_r", "Как пережить новогоднюю ночь и не заболеть"),
    ],
)
def test_undeclared_encodings(encoding: str, text: str) -> None:
    body = f'<rss version="2.0"><channel><item><title>{text}</title></item></channel></rss>'.encode(encoding)
    assert parse(body).entries[0].title == text


def test_malformed_xml_keeps_other_entries() -> None:
    found = parse(rss("<item><title>甲 & 乙\x01</title></item><item><title>丙</title><b></item><item><title>丁&nbsp;戊&#1;</title>"))
    assert [entry.title for entry in found.entries] == ["甲 & 乙", "丙", "丁 戊"]
    assert {"illegal-characters", "not-well-formed"} <= set(found.warnings)


def test_truncated_feed_keeps_complete_entries() -> None:
    body = rss("".join(f"<item><title>第{number}条</title><link>http://a.example/{number}</link></item>" for number in range(20)))
    assert len(parse(body[: len(body) // 2]).entries) >= 9


def test_feed_is_cut_at_max_tags(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_bytes, "MAX_TAGS", 63)  # ten entries
    found = parse(rss("".join(f"<item><title>第{number}条 &amp;</title><link>/{number}</link></item>" for number in range(20))))
    assert len(found.entries) == 10
    assert "too-many-tags" in found.warnings


def test_many_namespaces_take_linear_time() -> None:
    def feed_of(number: int) -> bytes:
        return rss("<item><title>题</title></item>" + "".join(f"<x{at}:a xmlns:x{at}='u{at}'/>" for at in range(number)))

    assert [entry.title for entry in parse(feed_of(2_000)).entries] == ["题"]
    assert count_lines(parse, feed_of(2_000)) < 2 * count_lines(parse, feed_of(200))


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("&lt;p&gt;一&lt;/p&gt;&lt;p&gt;二&lt;/p&gt;", "一 二"),
        ("&amp;lt;p&amp;gt;一&amp;lt;/p&amp;gt;", "一"),
        ("<![CDATA[a < b <i>and</i> c]]>", "a < b and c"),
        ("AT&amp;T &amp;amp; 中文", "AT&T & 中文"),
    ],
)
def test_summaries_are_plain_text(markup: str, text: str) -> None:
    assert first_entry(f"<title>t</title><description>{markup}</description>").summary == text


def test_entries_with_shared_link_or_guid_have_distinct_keys() -> None:
    items = "".join(
        f"<item><title>第{n}条</title><link>http://a.example/</link><guid isPermaLink='false'>same</guid></item>" for n in range(3)
    )
    found = parse(rss(items))
    assert len({entry.key for entry in found.entries}) == 3
    assert all(entry.shared_link for entry in found.entries)
    assert "shared-link" in found.warnings
    again = parse(rss("<item><title>新的</title><link>http://a.example/</link><guid isPermaLink='false'>same</guid></item>" + items))
    assert {entry.key for entry in found.entries} < {entry.key for entry in again.entries}  # existing entries keep their keys


@pytest.mark.parametrize("link", ["javascript:alert(1)", "http://[::1", "mailto:a@b.example", "file:///etc/passwd", ""])
def test_invalid_links_are_dropped(link: str) -> None:
    assert first_entry(f"<title>t</title><link>{link}</link>").url is None


class TestBombs:
    def test_entities_are_not_expanded(self) -> None:
        entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
        head = f'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY e0 "lol">{entities}]>'
        found = parse(f"{head}<rss><channel><item><title>&e9;</title></item></channel></rss>".encode())
        assert "entities-declared" in found.warnings
        assert len(found.entries[0].title or "") < 20

    def test_external_entities_are_not_read(self) -> None:
        body = b'<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/hostname">]><rss><channel><item><title>[&x;]</title></item></channel></rss>'
        assert parse(body).entries[0].title == "[&x;]"

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "make",
        [
            lambda: b'<rss version="2.0"><channel>' + b"<x>" * 300_000,
            lambda: b'<rss version="2.0"><channel><item><description>' + b"&lt;b&gt;" * 500_000,
            lambda: gzip.compress(b"<rss>" + b" " * 100_000_000, mtime=0),
            lambda: b'{"version":"jsonfeed","items":[' + b"[" * 200_000,
        ],
        ids=["tags", "references", "gzip", "JSON"],
    )
    def test_time_and_memory_are_bounded(self, make: Callable[[], bytes]) -> None:
        body = make()
        with ends():
            parse(body)


@pytest.mark.parametrize(
    "body", [b"", b" \n", b"\xff\xfe", b"{}", b"[1]", b'{"items": 3, "title": "x"}', b"plain text", b"<a/>", b"\x1f\x8bbroken", b"{" * 99]
)
def test_invalid_feed_is_refused(body: bytes) -> None:
    with pytest.raises(NotApplicable) as caught:
        parse(body)
    assert caught.value.reason in ("empty", "not-a-feed")


def test_html_page_error_lists_its_feeds() -> None:
    declared = '<link rel="alternate" type="application/rss+xml" href="/rss.xml">'
    page = f'<!DOCTYPE html><html><head>{declared}</head><body><a href="/feed/">订阅</a></body></html>'
    assert feed.discover_feeds(dom.from_text(page, URL)) == ["http://news.hedong.example/rss.xml", "http://news.hedong.example/feed/"]
    with pytest.raises(NotApplicable, match=r"http://news\.hedong\.example/rss\.xml") as caught:
        parse(page.encode())
    assert caught.value.reason == "not-a-feed"


PIECES = [
    *(b"<item>", b"</item>", b"<title>", b"&", b"&#x110000;", b"<![CDATA[", b"]]>", b"<!--", b"<!DOCTYPE a [", b"{", b"\xff", b"\x00"),
    *(b'xml:base="http://[::1"', b"<link>http://[", b'<content type="application/xhtml+xml" mode="base64">', b"\xed\xa0\x80"),
    b"<pubDate>9999999999999</pubDate>",
]


@settings(max_examples=80)
@given(
    st.sampled_from(sorted(FEEDS.iterdir())), st.lists(st.tuples(st.floats(0, 1), st.sampled_from(PIECES), st.integers(0, 50)), max_size=12)
)
def test_damaged_feeds_raise_only_not_applicable(file: Path, edits: list[tuple[float, bytes, int]]) -> None:
    body = file.read_bytes()
    for place, inserted, removed in edits:
        at = int(place * len(body))
        body = body[:at] + inserted + body[at + removed :]
    try:
        found = parse(body)
    except NotApplicable:
        return
    assert len({entry.key for entry in found.entries}) == len(found.entries)


@settings(max_examples=60)
@given(st.binary(max_size=200))
def test_random_bytes_raise_only_not_applicable(body: bytes) -> None:
    try:
        found = parse(body)
    except NotApplicable:
        return
    assert isinstance(found, Feed)


@pytest.mark.data
def test_real_feeds_have_expected_entries(data: Path) -> None:
    expected = {row["file"]: row["entries"] for row in json.loads((data / "feeds" / "index.json").read_text("utf-8"))}
    files = [file for file in sorted((data / "feeds").iterdir()) if file.name != "index.json"]
    assert files
    for file in files:
        found = feed.parse_feed(file.read_bytes(), "http://feed.example/", None, datetime(2026, 11, 21, tzinfo=UTC))
        assert len(found.entries) >= expected.get(file.name, 0), file.name


def test_hub_self_link_and_skip_times() -> None:
    text = """<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>甲</title>
    <atom:link rel="hub" href="https://hub.example/"/><atom:link rel="self" href="/feed.xml"/>
    <skipHours><hour>0</hour><hour>24</hour><hour> 5 </hour><hour>x</hour></skipHours><skipDays><day>Sunday</day><day>Noday</day></skipDays>
    <item><title>一</title><link>https://a.example/1</link></item></channel></rss>"""
    found = feed.parse_feed(text.encode(), "https://a.example/rss", None, datetime(2026, 3, 5, tzinfo=UTC))
    assert (found.hub, found.topic) == ("https://hub.example/", "https://a.example/feed.xml")
    assert (found.skip_hours, found.skip_days) == ((0, 5), (6,))
