"""Links from an index page to photo stories, with a seed and without."""

from __future__ import annotations

from datetime import UTC, datetime

from newsportal.extractors.gallery.page import GalleryEntry, find_entries
from newsportal.text import dom

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)

PAGE = """<html><head><title>图片频道</title></head><body>
<div class="header"><a href="/"><img src="/logo.png"></a><a href="/photo/"><img src="/channel.png"></a></div>
<div class="nav"><a href="/news/"><img src="/n.png" alt="新闻"></a><a href="/photo/life/"><img src="/l.png" alt="生活"></a></div>
<ul class="list">
<li><a href="/photo/2026/0305/88123.html"><img src="/t/1.jpg" alt="渔港"></a>
    <a href="/photo/2026/0305/88123.html">渔港归船：一网打上来的早晨</a><span>2026-03-05 08:00</span></li>
<li><a href="/photo/2026/0305/88124.html#p=3" title="老街的理发店"><img src="/t/2.jpg"></a></li>
<li><a href="https://pics.news.example/album/7/"><img src="/t/3.jpg" alt="雪山"></a></li>
<li><a href="/photo/2026/0304/88125.shtml"><picture><img src="/t/4.jpg" alt="麦收时节"></picture></a></li>
<li><a href="/video/2026/0304/555123.html"><img src="/t/5.jpg" alt="一段影片"></a></li>
<li><a href="/pic/full.jpg"><img src="/t/6.jpg" alt="大图"></a></li>
<li><a href="https://shop.other.example/item/9981234.html"><img src="/ad.gif" alt="广告"></a></li>
</ul>
<div class="pager"><a href="/photo/?p=1">1</a><a href="/photo/?p=2">2</a><a href="/photo/?p=2">下一页</a></div>
<div class="footer"><a href="/about/88999.html"><img src="/wx.png" alt="关注"></a></div>
</body></html>"""


def items(**rules: object) -> list[GalleryEntry]:
    return find_entries(dom.from_text(PAGE, "https://www.news.example/photo/"), NOW, **rules)  # type: ignore[arg-type]


def paths(links: list[GalleryEntry]) -> list[str]:
    return [link.url.partition("news.example")[2] for link in links]


def test_seed_selects_links_and_banned_overrides_it() -> None:
    assert paths(items(seed="/2026/")) == [
        "/photo/2026/0305/88123.html",
        "/photo/2026/0305/88124.html",
        "/photo/2026/0304/88125.shtml",
        "/video/2026/0304/555123.html",
    ]
    assert paths(items(seed="/2026/", banned=["/video/", ".shtml"])) == ["/photo/2026/0305/88123.html", "/photo/2026/0305/88124.html"]
    assert items(seed="/nowhere/") == []


def test_without_seed_linked_images_are_stories() -> None:
    assert paths(items()) == [
        "/photo/2026/0305/88123.html",
        "/photo/2026/0305/88124.html",
        "/photo/2026/0304/88125.shtml",
        "/video/2026/0304/555123.html",  # recognised as a video only from its page
    ]
    assert "/video/2026/0304/555123.html" not in paths(items(banned=["/video/"]))


def test_title_and_date_come_from_image_and_headline() -> None:
    first, second, third, _ = items(seed="/2026/")
    assert first.title == "渔港归船：一网打上来的早晨"
    assert first.published is not None
    assert (first.published.month, first.published.day) == (3, 5)
    assert (second.title, third.title) == ("老街的理发店", "麦收时节")


def test_page_without_links() -> None:
    assert find_entries(dom.from_text("<p>没有", "https://www.news.example/photo/"), NOW) == []
