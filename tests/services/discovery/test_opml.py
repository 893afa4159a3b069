"""OPML lists of feed readers, malformed lists, and our own."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from newsportal.services.discovery.opml import MAX_BYTES, BadOpml, Outline, read, write

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)

FRESHRSS = """\
<?xml version="1.0" encoding="UTF-8"?>
<opml xmlns:frss="https://freshrss.org/opml" version="2.0">
  <head><title>FreshRSS</title><dateCreated>Fri, 20 Nov 2026 08:00:00 +0000</dateCreated></head>
  <body>
    <outline text="科技">
      <outline text="青苔科技" type="rss" xmlUrl="https://qingtai.example/atom.xml" htmlUrl="https://qingtai.example/" description="芯片"
        frss:priority="important"/>
      <outline text="Harbour" type="rss" xmlUrl="https://harbour.example/rss?a=1&amp;b=2" htmlUrl="https://harbour.example/"/>
    </outline>
    <outline text="Uncategorized"/>
  </body>
</opml>
"""
MINIFLUX = """\
<?xml version="1.0" encoding="UTF-8"?>
<opml version="2.0">
    <head><title>Miniflux</title></head>
    <body>
        <outline text="All">
            <outline title="Blog" text="Blog" xmlUrl="https://blog.example/feed" htmlUrl="https://blog.example/"></outline>
        </outline>
    </body>
</opml>
"""
FEEDLY = """\
<?xml version="1.0" encoding="UTF-8"?>

<opml version="1.0">
    <head>
        <title>A reader's subscriptions in feedly Cloud</title>
    </head>
    <body>
        <outline text="News" title="News">
            <outline type="rss" text="Nanwan" title="南灣日報" xmlUrl="http://nanwan.example/rss.php" htmlUrl="http://nanwan.example"/>
        </outline>
        <outline text="World" title="World">
            <outline type="rss" text="Nanwan" title="Nanwan again" xmlUrl="http://nanwan.example/rss.php" htmlUrl="http://nanwan.example"/>
        </outline>
    </body>
</opml>
"""
NESTED = """\
<opml version="2.0"><body>
<outline text="一级"><outline text="二级"><outline text="内" xmlUrl="https://a.example/1"/></outline><outline text="外" xmlUrl="https://a.example/2"/></outline>
<outline text="散" XMLURL="feed://a.example/3" category="/Tech/Linux,/Open"/>
<outline text="坏" xmlUrl="javascript:alert(1)"/><outline text="空" xmlUrl=""/><outline type="link" text="link" url="https://a.example/4"/>
</body></opml>
"""


def test_freshrss() -> None:
    found = read(FRESHRSS.encode())
    assert found.title == "FreshRSS"
    assert found.feeds == (
        Outline("https://qingtai.example/atom.xml", "青苔科技", "科技", "https://qingtai.example/"),
        Outline("https://harbour.example/rss?a=1&b=2", "Harbour", "科技", "https://harbour.example/"),
    )


def test_miniflux() -> None:
    assert read(MINIFLUX.encode()).feeds == (Outline("https://blog.example/feed", "Blog", "All", "https://blog.example/"),)


def test_feed_in_several_folders_is_listed_once() -> None:
    found = read(FEEDLY.encode())
    assert [(feed.title, feed.folder) for feed in found.feeds] == [("南灣日報", "News")]
    assert found.repeated == 1


def test_nested_folders_upper_case_attributes_and_invalid_entries() -> None:
    found = read(NESTED.encode())
    assert [(feed.url, feed.folder) for feed in found.feeds] == [
        ("https://a.example/1", "二级"),
        ("https://a.example/2", "一级"),
        ("https://a.example/3", "Linux"),
    ]
    assert found.skipped == 2


def test_relative_urls_need_base_url() -> None:
    body = b"<opml><body><outline xmlUrl='/feed.xml' htmlUrl='/'/><outline xmlUrl='feed.xml'/></body></opml>"
    assert (read(body).feeds, read(body).skipped) == ((), 2)
    found = read(body, base="https://a.example/lists/all.opml")
    assert [(feed.url, feed.home) for feed in found.feeds] == [
        ("https://a.example/feed.xml", "https://a.example/"),
        ("https://a.example/lists/feed.xml", None),
    ]


@pytest.mark.parametrize("encoding", ["gb18030", "utf-16", "utf-8-sig"])
def test_encodings(encoding: str) -> None:
    label = {"gb18030": "GBK", "utf-8-sig": "utf-8"}.get(encoding, encoding)
    assert read(FRESHRSS.replace("UTF-8", label).encode(encoding)).feeds[0].title == "青苔科技"


def test_broken_xml_is_recovered() -> None:
    broken = '<opml><body><outline text="A & B" xmlUrl="https://a.example/?x=1&y=2"><outline text="C" xmlUrl="https://c.example/"/></body>'
    assert [feed.url for feed in read(broken.encode()).feeds] == ["https://a.example/?x=1&y=2", "https://c.example/"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "empty"),
        (b"hello", "not an OPML"),
        (b"<html><body>login</body></html>", "an HTML page"),
        (b"<rss><channel/></rss>", "a feed"),
        (b"<?xml version='1.0'?>", "no"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "not an OPML"),
        (b"<opml><body>" + b" " * (MAX_BYTES + 1), "larger than 8 MB"),
    ],
)
def test_error_names_what_the_file_is(body: bytes, words: str) -> None:
    with pytest.raises(BadOpml, match=words):
        read(body)


def test_entities_are_dropped_and_nesting_is_bounded() -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    head = f'<!DOCTYPE o [<!ENTITY l0 "ha">{laughs}<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    found = read(f'{head}<opml><body><outline text="&l11;&x;" xmlUrl="https://a.example/"/></body></opml>'.encode())
    assert found.feeds[0].title == "&l11;&x;"
    assert "entities-declared" in found.warnings
    deep = read(b"<opml><body>" + b'<outline text="d">' * 100_000)
    assert deep.feeds == ()


def test_round_trip() -> None:
    feeds = (
        Outline("https://a.example/?x=1&y=2", '引号 " & <b>', "科技 & 财经"),
        Outline("https://b.example/feed", "B\x0b\x00", "科技 & 财经", "https://b.example/"),
        Outline("https://c.example/feed", None, None),
    )
    text = write("门户 1 <x>", feeds, NOW)
    found = read(text.encode())
    assert found.title == "门户 1 <x>"
    assert [feed.url for feed in found.feeds] == [feed.url for feed in feeds]
    assert [feed.folder for feed in found.feeds] == ["科技 & 财经", "科技 & 财经", None]
    assert [feed.title for feed in found.feeds] == ['引号 " & <b>', "B", "https://c.example/feed"]
    assert read(write("门户 1 <x>", found.feeds, NOW).encode()).feeds == found.feeds
