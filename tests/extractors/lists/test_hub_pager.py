"""Further pages of a list; numbers that are not a pager are ignored."""

from __future__ import annotations

from pathlib import Path

import pytest

from newsportal.extractors.lists.hub import MAX_PAGES, next_pages
from newsportal.text import dom

PAGES = Path(__file__).parent / "hub"
URL = "http://news.hedong.example/guonei/index.html"


def pages(html: str, url: str = URL) -> list[str]:
    return [found.removeprefix("http://news.hedong.example") for found in next_pages(dom.from_text(html, url))]


def test_next_page_precedes_numbered_pages() -> None:
    html = '<p><a href="p3.html">3</a> <a href="p4.html">4</a> <a href="p2.html">2</a> <a href="p3.html">下一页</a></p>'
    assert pages(html, "http://news.hedong.example/guonei/p2.html") == ["/guonei/p3.html", "/guonei/p4.html"]


def test_channel_and_board_pagers() -> None:
    channel = dom.from_text((PAGES / "channel.html").read_text("utf-8"), URL)
    assert [url.rpartition("/")[2] for url in next_pages(channel)] == ["index_2.html", "index_3.html", "index_4.html"]
    board = dom.from_text((PAGES / "board.html").read_text("utf-8"), "http://bbs.hedong.example/forum-9-1.html")
    assert [url.rpartition("/")[2] for url in next_pages(board)] == ["forum-9-2.html", "forum-9-3.html"]


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ('<link rel="next" href="/guonei/?page=2">', ["/guonei/?page=2"]),
        ('<a rel="next" href="/guonei/2/">weiter</a>', ["/guonei/2/"]),
        ('<a href="/guonei/o20.html">Older posts »</a>', ["/guonei/o20.html"]),
        ('<div class="fenye"><a href="?pn=20">2</a><a href="?pn=40">3</a></div>', ["/guonei/index.html?pn=20", "/guonei/index.html?pn=40"]),
        ('<a class="next disabled" href="/guonei/2/">下一页</a>', []),
        ('<a href="javascript:go(2)">下一页</a>', []),
        ('<a href="http://other.example/2/">下一页</a>', []),
        (f'<a href="{URL}#top">下一页</a>', []),
        ('<li><a href="/thread-7-2.html">2</a><a href="/thread-7-3.html">3</a></li>', []),
        ("<p>没有下一页</p>", []),
    ],
)
def test_forms_of_pagers(html: str, found: list[str]) -> None:
    assert pages(html) == found


def test_pages_are_limited() -> None:
    html = '<div class="pager">' + "".join(f'<a href="index_{number}.html">{number}</a>' for number in range(1, 500)) + "</div>"
    assert len(pages(html)) == MAX_PAGES
