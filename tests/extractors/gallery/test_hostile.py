"""Hostile and huge pages take time linear in their size."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest
from stories import NOW, URL, page
from work_counts import count_calls, ends

from newsportal.errors import NotApplicable
from newsportal.extractors.gallery import assemble, read
from newsportal.extractors.gallery.script_values import find_values
from newsportal.items import GalleryPage, Image
from newsportal.text import dom

pytestmark = pytest.mark.slow

RECORD = '{"img":"https://i.example/%d.jpg","note":"说明%d"}'
PAGES: dict[str, Callable[[], str]] = {
    "nested boxes": lambda: "<div class=side>" * 100_000 + "<img src=/a.jpg>",
    "nested links": lambda: "<a href=/x.html><div class=pic>" * 50_000 + "<img src=/a.jpg>",
    "teasers": lambda: "".join(f"<li><a href=/photo/{at}.html><img src=/p/{at}.jpg alt=说明{at}></a></li>" for at in range(10_000)),
    "alternating pictures and captions": lambda: "".join(f"<p><img src=/p/{at}x.jpg></p><p>这是第{at}张的说明</p>" for at in range(3_000)),
    "backgrounds": lambda: "".join(f"<div style='background:url(/p/{at}x.jpg)'></div>" for at in range(10_000)),
    "endless style": lambda: "<div style='" + "background:" * 200_000 + "'></div><img src=/a.jpg>",
    "long srcset": lambda: "<img srcset='" + ",".join(f"/p{at}.jpg {at}w" for at in range(50_000)) + "'>",
    "ten megabytes of JSON": lambda: (
        '<script>var d={"list":[' + ",".join(RECORD % (at, at) for at in range(200_000)) + "]};</script><img src=/a.jpg>"
    ),
    "long literal": lambda: (
        "<script>var d={list:[" + ",".join(RECORD % (at, at) for at in range(50_000)).replace('"img"', "img") + "]};</script>"
    ),
    "nested lists": lambda: (
        "<script>var d=[" + ",".join(f"[{RECORD % (at, at)},{RECORD % (at, at)}]" for at in range(30_000)) + "];</script>"
    ),
    "deep JSON": lambda: "<script type=application/json>" + '{"a":[' * 30_000 + "1.jpg" + "]}" * 30_000 + "</script>",
    "brackets": lambda: "<script>.jpg" + "([" * 1_000_000 + "</script>",
    "unclosed comments": lambda: "<script>.jpg" + "x={img:/*" * 200_000 + "</script>",
    "many size marks in file names": lambda: "".join(f"<img src=/{'thumb_' * 100}{at}.jpg>" for at in range(1_000)),
    "nested records": lambda: "<div><i>https://i.example/1.jpg</i>" * 2_000 + "说明" * 100_000,
    "numbered links": lambda: "".join(f"<a href=/photo/{at}.html>{at % 300}</a> " for at in range(10_000)) + "<img src=/a.jpg>",
}


@pytest.mark.parametrize("kind", PAGES)
def test_hostile_page_is_read_in_bounded_time(kind: str) -> None:
    document = dom.from_text(page(PAGES[kind]()), URL)
    with ends(), suppress(NotApplicable):
        found = read(document, now=NOW)
        assert len(found.images) <= 500
        assert len(found.pages) <= 200


def test_script_values_are_limited() -> None:
    document = dom.from_text("<script>" + 'x={"src":"/1.jpg"};' * 5_000 + "</script>", URL)
    assert len(list(find_values(document))) <= 301


def test_long_urls_are_ordered_in_bounded_time() -> None:
    urls = [f"https://photo.example/{'a' * 1_900}_{at}.html" for at in range(1, 201)]
    pages = [GalleryPage(url, images=(Image(f"{url}.jpg"),)) for url in reversed(urls)]
    assert assemble(pages).pages == tuple(urls)
    assert count_calls(assemble, pages) < 1_000_000  # comparing all URLs for each page takes ten times as many
