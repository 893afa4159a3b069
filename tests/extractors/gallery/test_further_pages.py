# ruff: noqa: E501  (markup is read best on one line)
"""Further pages of a photo story: URL patterns, counters, pagers, and answers that end the story."""

from __future__ import annotations

import pytest
from stories import CAPTIONS, TITLE, URL, page, picture, story

from newsportal.extractors.gallery import assemble, end_reason, more_urls, urls_left
from newsportal.extractors.gallery.further_pages import MAX_PAGES, MAX_PICTURES, parse_pattern
from newsportal.extractors.gallery.next_page import find_count
from newsportal.items import GalleryPage, Image

P = "https://p.example/photo/"


@pytest.mark.parametrize(
    ("pattern", "url", "number", "second"),
    [
        ("{id}_{n}.html", P + "123.html", 1, P + "123_2.html"),
        ("{id}_{n}.html", P + "123_7.html", 7, P + "123_2.html"),
        ("{id}{a}.html", P + "123.html", 1, P + "123b.html"),
        ("{id}{a}.html", P + "123c.html", 3, P + "123b.html"),
        ("{id}_{n-1}.html", P + "123.html", 1, P + "123_1.html"),
        ("{id}_{n-1}.html", P + "123_1.html", 2, P + "123_1.html"),
        ("{n}.html", P + "123/", 1, P + "123/2.html"),
        ("{n}.html", P + "123/index.html", 1, P + "123/2.html"),
        ("?id={id}&page={n}", P + "v.php?id=3", 1, P + "v.php?id=3&page=2"),
        ("?page={n}&id={id}", P + "v.php?id=3", 1, P + "v.php?page=2&id=3"),
        ("{id}/{nn}.html", P + "a/01.html", 1, P + "a/02.html"),
        ("/photo/{id}_{n}.html", P + "77.html", 1, P + "77_2.html"),
        ("https://p.example/photo/{id}-p{n}.shtml", P + "c-1.shtml", 1, P + "c-1-p2.shtml"),
        ("{id}_{n}.html", P + "2026_0305.html", 1, P + "2026_0305_2.html"),
        ("{id}_{n}.html", P + "123.shtml", None, None),
    ],
)
def test_pattern_gives_page_number_and_next_url(pattern: str, url: str, number: int | None, second: str | None) -> None:
    assert parse_pattern(pattern).number(url) == number
    assert parse_pattern(pattern).url_of(url, 2) == second


@pytest.mark.parametrize("text", ["{id}.html", "{n}_{n}.html", "{id}_{x}{n}.html", "{id}{id}{n}", ""])
def test_invalid_pattern_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\{"):
        parse_pattern(text)


@pytest.mark.parametrize(
    ("line", "number", "total"),
    [
        ("3/12", 3, 12),
        ("(3/12)", 3, 12),
        ("第3页 共12页", 3, 12),
        ("3\t/\t12", 3, 12),
        ("Page 3 of 12", 3, 12),
        ("（共8页）", None, 8),
        ("1 / 8 张", 1, 8),
    ],
)
def test_counters_are_read(line: str, number: int | None, total: int) -> None:
    found = find_count(["别的一行字", line])
    assert found is not None
    assert (found.number, found.total) == (number, total)


@pytest.mark.parametrize("line", ["12/25/2024", "2024/3/12", "6/10分", "比分 3/2", "9/3", "5月3/4日的事情一直拖到今天也没有人管", "1/1"])
def test_counter_like_text_is_ignored(line: str) -> None:
    assert find_count([line]) is None


def test_contradictory_counters_are_ignored() -> None:
    assert find_count(["1/5", "1/7"]) is None


def story_page(url: str, at: int, more: str = "", *, title: str = TITLE) -> GalleryPage:
    body = f'<div class="photo"><img src="{picture(at)}"><p class="desc">{CAPTIONS[at]}</p></div>{more}'
    return story(page(body, title=title), url)


def page_url(at: int) -> str:
    return URL if at == 1 else URL.replace(".html", f"_{at}.html")


def test_pattern_without_total_gives_one_page_at_a_time() -> None:
    first = story_page(URL, 0)
    assert more_urls(first, [URL], "{id}_{n}.html", [first]) == (page_url(2),)
    assert more_urls(first, [URL], None, [first]) == ()
    assert more_urls(first, [URL, page_url(2)], "{id}_{n}.html", [first]) == ()


def test_total_gives_all_pages() -> None:
    first = story_page(URL, 0, "<p>1/4</p>")
    assert first.total == 4
    assert more_urls(first, [URL], "{id}_{n}.html", [first]) == (page_url(2), page_url(3), page_url(4))


def test_pager_links_give_further_pages() -> None:
    first = story_page(
        URL,
        0,
        f'<div class="pages"><b>1</b> <a href="{page_url(2)}">2</a> <a href="{page_url(3)}">3</a> <a href="{page_url(2)}">下一页</a></div>',
    )
    assert first.pages == (page_url(1), page_url(2), page_url(3))
    assert first.next == page_url(2)
    assert more_urls(first, [URL], None, [first]) == (page_url(2), page_url(3))


def test_pager_total_gives_pages_without_links() -> None:
    first = story_page(URL, 0, f'<p>第1页 共4页</p><a href="{page_url(2)}">下一页</a>')
    assert more_urls(first, [URL], None, [first]) == (page_url(2), page_url(3), page_url(4))


def test_lettered_pages_of_a_pager() -> None:
    lettered = URL.replace(".html", "b.html")
    first = story_page(URL, 0, f'<a href="{lettered}">下一页</a>')
    assert more_urls(first, [URL], None, [first]) == (lettered,)


def test_arrows_and_thumbnails_are_pager_links() -> None:
    strip = "".join(f'<li><a href="{page_url(at)}"><img src="{picture(at - 1, "_s")}" width="90"></a></li>' for at in (1, 2, 3, 4))
    body = f'<table><tr><td><a href="{page_url(2)}"><img src="{picture(0)}"></a></td></tr></table><p>{CAPTIONS[0]}</p><ul class="strip">{strip}</ul>'
    first = story(page(body))
    assert [image.url for image in first.images] == [picture(0)]
    assert more_urls(first, [URL], None, [first]) == (page_url(2), page_url(3), page_url(4))


def test_numbered_links_with_unrelated_urls() -> None:
    row = '<div class="pages"><span>1</span> ' + "".join(f'<a href="/2026/1122/c1031{at}.html">{at}</a> ' for at in (2, 3, 4)) + "</div>"
    first = story_page(URL, 0, row + "<p>1/4</p>")
    assert [url[-11:] for url in more_urls(first, [URL], None, [first])] == ["c10312.html", "c10313.html", "c10314.html"]


@pytest.mark.parametrize("words", ["下一组图", "下一组", "下一图集", "下一篇", "next gallery"])
def test_link_to_next_story_is_not_followed(words: str) -> None:
    first = story_page(URL, 0, f'<p>2/4</p><a href="/2026/1122/c10236.html">{words}</a>')
    assert "https://photo.example/2026/1122/c10236.html" not in more_urls(first, [URL], None, [first])


def test_image_linked_to_next_story_is_kept() -> None:
    body = f'<div class="photo"><a href="/2026/1122/c10236.html"><img src="{picture(3)}"></a><p>{CAPTIONS[3]}</p></div>'
    assert [image.url for image in story(page(body)).images] == [picture(3)]


def test_reasons_that_end_a_story() -> None:
    first, second = story_page(URL, 0), story_page(page_url(2), 1)
    pages = [first, second]
    assert end_reason(story_page(page_url(3), 2), pages, requested=page_url(3)) is None
    assert end_reason(story_page(page_url(3), 1), pages, requested=page_url(3)) == "repeats"
    assert end_reason(story_page("https://photo.example/2026/1122/c10999.html", 3), pages, requested=page_url(3)) == "elsewhere"
    assert (
        end_reason(GalleryPage("https://photo.example/", images=(Image("https://photo.example/x.jpg"),)), pages, requested=page_url(3))
        == "front-page"
    )
    assert end_reason(first, [], requested=URL) is None


def test_repeated_image_beside_new_advertisement_ends_story() -> None:
    again = story_page(page_url(3), 1, '<p><img src="https://ads.example/uploads/9.jpg"></p>')
    assert end_reason(again, [story_page(URL, 0), story_page(page_url(2), 1)], requested=page_url(3)) == "repeats"


def test_other_story_at_the_url_ends_story() -> None:
    other = story_page(page_url(2), 1, "<p>2/9</p>", title="北麓冰上帆船赛鸣枪")
    assert end_reason(other, [story_page(URL, 0, "<p>1/4</p>")], requested=page_url(2)) == "another-story"


def test_open_pages_end_at_max_pages() -> None:
    pages = [GalleryPage(URL, images=(Image(picture(0)),)), *(GalleryPage(page_url(at)) for at in range(2, MAX_PAGES + 1))]
    assert urls_left(pages, [], "{id}_{n}.html") == ()


def test_failed_pages_count_towards_max_pages() -> None:
    requested = [page_url(at) for at in range(2, MAX_PAGES + 1)]
    assert more_urls(GalleryPage(URL, next=page_url(900)), requested, None, ()) == ()


def test_no_further_pages_after_max_pictures() -> None:
    images = tuple(Image(f"https://photo.example/{at}.jpg") for at in range(MAX_PICTURES))
    assert more_urls(GalleryPage(URL, images=images[1:], next=page_url(2)), (), None, ()) == (page_url(2),)
    assert more_urls(GalleryPage(URL, images=images, next=page_url(2)), (), None, ()) == ()


def test_story_is_complete_when_no_page_is_open() -> None:
    pages = [story_page(page_url(at), at - 1) for at in (1, 2, 3)]
    assert not assemble(pages, pattern="{id}_{n}.html").complete
    assert assemble(pages, pattern="{id}_{n}.html", ended=[page_url(4)]).complete
