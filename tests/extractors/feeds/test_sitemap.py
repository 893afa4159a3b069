"""Sitemaps: usual, malformed and hostile ones."""

from __future__ import annotations

import gzip
import tracemalloc
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from newsportal.errors import NotApplicable
from newsportal.extractors.feeds import sitemap, xml_stream
from newsportal.extractors.feeds.sitemap import MAX_ENTRIES, SitemapEntry, choose_children, choose_entries
from newsportal.extractors.lists.hub import HubRules

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
AT = "https://news.example/sitemap.xml"
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
NEWS = """\
<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"
        xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:video="http://www.google.com/schemas/sitemap-video/1.1">
<url>
  <loc>https://news.example/a/1.html?from=map&amp;id=7</loc>
  <image:image><image:loc>https://img.example/1.jpg</image:loc><image:title>图</image:title></image:image>
  <video:video><video:title>片</video:title><video:publication_date>2020-01-01</video:publication_date></video:video>
  <news:news>
    <news:publication><news:name>潮汐报</news:name><news:language>zh-cn</news:language></news:publication>
    <news:publication_date>2026-11-20T10:30:00+08:00</news:publication_date>
    <news:title><![CDATA[港口 & 渡轮]]></news:title>
    <news:keywords>港口, 渡轮，航运</news:keywords>
  </news:news>
  <lastmod>2026-11-20T03:00:00Z</lastmod>
</url>
</urlset>
"""


def parse(text: str | bytes, content_type: str | None = "application/xml") -> sitemap.Sitemap:
    return sitemap.parse_sitemap(text if isinstance(text, bytes) else text.encode(), AT, content_type, NOW)


def urls(found: sitemap.Sitemap) -> list[str]:
    return [entry.url for entry in found.entries]


def refusal_reason(text: str | bytes) -> str:
    with pytest.raises(NotApplicable) as error:
        parse(text)
    return error.value.reason


def test_news_sitemap_entry_fields() -> None:
    found = parse(NEWS)
    assert (found.kind, found.news, found.warnings) == ("urlset", True, ())
    assert found.entries == (
        SitemapEntry(
            "https://news.example/a/1.html?from=map&id=7",
            changed=datetime(2026, 11, 20, 3, 0, tzinfo=UTC),
            title="港口 & 渡轮",
            published=datetime.fromisoformat("2026-11-20T10:30:00+08:00"),
            publication="潮汐报",
        ),
    )


def test_sitemap_index_lists_sitemaps_with_dates() -> None:
    found = parse(
        "<sitemapindex><sitemap><loc>https://news.example/1.xml.gz</loc><lastmod>2026-11</lastmod></sitemap>"
        "<sitemap><loc>/2.xml</loc></sitemap></sitemapindex>"
    )
    assert found.kind == "index"
    assert urls(found) == ["https://news.example/1.xml.gz", "https://news.example/2.xml"]
    assert found.entries[0].changed == datetime(2026, 11, 1, tzinfo=UTC)


def test_text_sitemap_has_one_url_per_line() -> None:
    found = parse("\ufeffhttps://news.example/1.html\r\n\r\nhttps://news.example/中文.html\nfoo\n", "text/plain")
    assert (found.kind, found.broken) == ("text", 1)
    assert urls(found) == ["https://news.example/1.html", "https://news.example/中文.html"]


@pytest.mark.parametrize("half", ["&#xD800;", "&#xdfff;", "&#55296;", "&#0057343;"])
def test_surrogate_reference_does_not_lose_other_urls(half: str) -> None:
    locations = "".join(f"<url><loc>https://news.example/{path}</loc></url>" for path in ("1", f"2{half}", "3"))
    assert {"https://news.example/1", "https://news.example/3"} <= set(urls(parse(f"<urlset>{locations}</urlset>")))


@pytest.mark.parametrize("pack", [gzip.compress, lambda data: gzip.compress(data[:300]) + gzip.compress(data[300:])])
def test_gzip_is_detected_without_content_type(pack: object) -> None:
    assert len(parse(pack(NEWS.encode())).entries) == 1  # type: ignore[operator]


def test_gzip_members_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    sitemap_xml = f"{HEAD}<url><loc>https://news.example/1</loc></url></urlset>".encode()
    packed = b"".join(gzip.compress(sitemap_xml[place : place + 1]) for place in range(len(sitemap_xml)))
    assert urls(sitemap.parse_sitemap(packed, AT, None, NOW)) == ["https://news.example/1"]
    monkeypatch.setattr(xml_stream, "MAX_MEMBERS", len(sitemap_xml) - 3)
    found = sitemap.parse_sitemap(packed, AT, None, NOW)
    assert urls(found) == ["https://news.example/1"]
    assert found.warnings == ("broken-gzip",)


def test_truncated_gzip_keeps_complete_entries() -> None:
    text = HEAD + "".join(f"<url><loc>https://news.example/{number * 7919}.html</loc></url>" for number in range(5000))
    found = parse(gzip.compress(text.encode())[:8000])
    assert 100 < len(found.entries) < 5000
    assert "broken-gzip" in found.warnings


@pytest.mark.parametrize("encoding", ["gb18030", "utf-16", "utf-8"])
def test_titles_in_other_encodings(encoding: str) -> None:
    label = {"gb18030": "gb2312"}.get(encoding, encoding)
    assert parse(NEWS.replace("UTF-8", label).encode(encoding)).entries[0].title == "港口 & 渡轮"


def test_malformed_xml_keeps_readable_entries() -> None:
    found = parse(
        f"{HEAD}<url><loc>https://news.example/?a=1&b=2</loc><url><loc>https://news.example/2</loc>"
        "<news:title>没有声明&nbsp;的前缀</news:title></url><url><loc>javascript:alert(1)</loc></url><url><loc></loc></url><url><loc>https://news.exa"
    )
    assert urls(found)[:2] == ["https://news.example/?a=1&b=2", "https://news.example/2"]
    assert "没有声明" in (found.entries[1].title or "")
    assert (found.broken, found.warnings) == (2, ("bad-address",))


def test_references_across_chunk_borders_are_kept() -> None:
    padding = " " * (65_536 - len(HEAD.encode()) - 40)
    for shift in range(12):
        found = parse(f"{HEAD}{padding}{' ' * shift}<url><loc>https://news.example/?a=1&amp;b=2&c=3</loc></url></urlset>")
        assert urls(found) == ["https://news.example/?a=1&b=2&c=3"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2026-11-20", datetime(2026, 11, 20, tzinfo=UTC)),
        ("2026-11-20T08:00+08:00", datetime(2026, 11, 20, tzinfo=UTC)),
        ("2026-11-20 08:00:00 +0800", datetime(2026, 11, 20, tzinfo=UTC)),
        ("0001-01-01", None),
        ("2099-01-01", None),
        ("2026-13-45", None),
        ("soon", None),
        ("", None),
    ],
)
def test_dates(written: str, meant: datetime | None) -> None:
    found = parse(f"{HEAD}<url><loc>https://news.example/1</loc><lastmod>{written}</lastmod></url></urlset>")
    assert found.entries[0].changed == meant


def test_invalid_sitemap_is_refused() -> None:
    assert refusal_reason("<html><body>404</body></html>") == "not-a-sitemap"
    assert refusal_reason("<rss><channel/></rss>") == "not-a-sitemap"
    assert refusal_reason("hello") == "not-a-sitemap"
    assert refusal_reason(b"\x89PNG\r\n\x1a\n" + bytes(range(256))) == "not-a-sitemap"
    assert refusal_reason("") == "empty"
    assert parse("<urlset/>").entries == ()


# bombs


def test_entity_bombs_are_not_expanded() -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    entities = f'<!DOCTYPE u [<!ENTITY l0 "ha">{laughs}<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    found = parse(f"{entities}<urlset><url><loc>https://news.example/1</loc><news:title>&l11;&x;</news:title></url></urlset>")
    assert urls(found) == ["https://news.example/1"]
    assert found.entries[0].title == "&l11;&x;"
    assert "entities-declared" in found.warnings


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_oversized_doctype_is_refused(encoding: str) -> None:
    text = '<!DOCTYPE u [<!ENTITY a "ha">' + " " * 70_000 + "]><urlset><url><loc>https://news.example/&a;</loc></url></urlset>"
    with pytest.raises(NotApplicable):
        parse(text.encode(encoding))


@pytest.mark.slow
def test_gzip_bomb_is_limited_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemap, "XmlText", partial(xml_stream.XmlText, limit=12_000_000))
    bomb = gzip.compress(f"{HEAD}<url><loc>https://news.example/1</loc></url>".encode() + bytes(13_000_000), 1)
    tracemalloc.start()
    found = parse(bomb)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert urls(found) == ["https://news.example/1"]
    assert "too-large" in found.warnings
    assert most < 8_000_000, "the input is decompressed in chunks"


def test_nesting_attributes_and_text_are_limited() -> None:
    first = f"{HEAD}<url><loc>https://news.example/1</loc></url>"
    assert urls(parse(first + "<url>" + "<a>" * 100_000)) == ["https://news.example/1"]
    assert urls(parse(first + "<url " + " ".join(f'a{n}="1"' for n in range(100_000)) + ">")) == ["https://news.example/1"]
    assert urls(parse(first + "<url><loc>" + "x" * 1_000_000)) == ["https://news.example/1"]


@pytest.mark.slow
def test_tags_are_limited() -> None:
    found = parse(HEAD + "<a/>" * 1_500_000)
    assert "too-many-tags" in found.warnings


def test_lone_ampersands_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xml_stream, "MAX_LONE", 1000)
    first = f"{HEAD}<url><loc>https://news.example/1?a=1&b=2</loc></url>"
    assert parse(first + "&" * 900 + "</urlset>").warnings == ()
    found = parse(first + "&" * 1_000_000 + "</urlset>")
    assert urls(found) == ["https://news.example/1?a=1&b=2"]
    assert found.warnings == ("too-large",)


def test_entries_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_ENTRIES == 50_000
    monkeypatch.setattr(sitemap, "MAX_ENTRIES", 10)
    text = "".join(f"<url><loc>https://news.example/{number}</loc></url>" for number in range(50))
    found = parse(f"{HEAD}{text}</urlset>")
    assert (len(found.entries), found.warnings) == (10, ("too-many-entries",))
    lines = "\n".join(f"https://news.example/{number}" for number in range(50))
    assert len(parse(lines).entries) == 10


# implausible dates


def dated(*moments: str, published: bool = False) -> sitemap.Sitemap:
    news = "<news:publication_date>2026-11-19T00:00:00Z</news:publication_date>" if published else ""
    items = (f"<url><loc>https://news.example/{n}</loc><lastmod>{m}</lastmod>{news}</url>" for n, m in enumerate(moments))
    return parse(f"{HEAD}{''.join(items)}</urlset>")


def test_lastmod_generated_on_request_is_ignored() -> None:
    found = dated(*(f"2026-11-20T11:59:{second:02}Z" for second in range(10)))
    assert found.warnings == ("lastmod-now",)
    assert {entry.changed for entry in found.entries} == {None}


def test_identical_lastmod_times_are_ignored_but_days_kept() -> None:
    assert dated(*["2026-11-01T03:14:15Z"] * 10).warnings == ("lastmod-same",)
    assert dated(*["2026-11-20"] * 10).warnings == ()
    assert dated(*["2026-11-20T11:59:00Z"] * 4).warnings == (), "a few entries may indeed be new"
    assert dated(*["2026-11-20T11:59:00Z"] * 10, published=True).warnings == (), "entries with a publication date do not depend on lastmod"


def test_fingerprint_covers_urls_not_dates() -> None:
    first, other = dated("2026-11-01", "2026-11-02"), dated("2026-11-03", "2026-11-04")
    assert sitemap.fingerprint(first.entries) == sitemap.fingerprint(reversed(other.entries))
    assert sitemap.fingerprint(first.entries) != sitemap.fingerprint(first.entries[:1])


def test_robots_txt_lists_sitemaps() -> None:
    robots = b"\xef\xbb\xbfUser-agent: *\nDisallow: /x\nSITEMAP : https://news.example/a.xml\nsitemap: /b.xml\nSitemap: /b.xml\nSitemap: ftp://x/\n"
    assert sitemap.sitemaps_in_robots(robots, "https://news.example/robots.txt") == [
        "https://news.example/a.xml",
        "https://news.example/b.xml",
    ]
    marked = b"\xef\xbb\xbfSitemap: /a.xml\rUser-agent: *\rSitemap: /b.xml\r"
    assert sitemap.sitemaps_in_robots(marked, "https://news.example/robots.txt") == [
        "https://news.example/a.xml",
        "https://news.example/b.xml",
    ]
    assert len(sitemap.sitemaps_in_robots(b"".join(b"Sitemap: /%d.xml\n" % n for n in range(500)), AT)) == 100


# selection of entries

WEEK = timedelta(days=7)


def entry(path: str, days: float | None = None, **fields: str) -> SitemapEntry:
    url = path if "://" in path else f"https://news.example{path}"
    return SitemapEntry(url, changed=None if days is None else NOW - timedelta(days=days), **fields)  # type: ignore[arg-type]


def test_selected_entries_are_recent_articles_newest_first() -> None:
    entries = [
        entry("/2026/1105/100.html", 8),
        entry("/a/20001.html"),
        entry("/a/20002.html", 2),
        entry("/a/20003.html", 1),
        entry("/2025/0303/20004.html"),  # no lastmod, but the URL holds a date
        entry("https://m.news.example/a/20005.html", 3),
        entry("https://other.example/a/20006.html", 1),
        entry("/"),
        entry("/sports/"),
        entry("/tag/port/"),
        entry("/about/contact.html"),
        entry("/a/1.pdf"),
    ]
    found = choose_entries(entries, AT, HubRules(), WEEK, NOW)
    assert [entry.url.rpartition("/")[2] for entry in found.entries] == ["20003.html", "20002.html", "20005.html", "20001.html"]
    assert found.skipped == {"old": 2, "foreign": 1, "no-article": 5}


def test_entry_with_title_is_always_an_article() -> None:
    assert len(choose_entries([entry("/sports/", title="渡轮复航")], AT, HubRules(), WEEK, NOW).entries) == 1


def test_rules_override_url_heuristics() -> None:
    entries = [entry("/x/"), entry("https://other.example/x/1.html"), entry("/y/1.html"), entry("/x/video/1.html")]
    found = choose_entries(entries, AT, HubRules(allow=("/x/",), deny=("/video/",)), WEEK, NOW)
    assert [entry.url for entry in found.entries] == ["https://news.example/x/", "https://other.example/x/1.html"]
    assert found.skipped == {"rules": 2}


def test_index_selects_latest_sitemaps() -> None:
    entries = [
        entry("/1.xml", 20),
        entry("/2.xml", 3),
        entry("/3.xml"),
        entry("/4.xml", 7.5),
        entry("https://cdn.example/5.xml"),
        entry("/6.xml", 1),
    ]
    found = choose_children(entries, AT, WEEK, NOW, 3)
    assert [entry.url.rpartition("/")[2] for entry in found.entries] == ["6.xml", "2.xml", "4.xml"]
    assert found.skipped == {"old": 1, "foreign": 1, "many": 1}
