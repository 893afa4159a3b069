"""Joining the pages of an article: order, duplicates, and pages that do not belong."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from work_counts import ends

from newsportal.extractors.article import joining
from newsportal.items import Extraction, Image

LINES = tuple(f"镇上的老人说了第{number}件事，走了六十年的路终于不再积水，店家把凳子搬到门外。" for number in "一二三四五六七八九")
EDITOR = "责任编辑：周小青"
WHEN = datetime(2026, 3, 12, tzinfo=UTC)


def page(*lines: str, title: str = "古镇修路", **more: object) -> Extraction:
    html = f"<div>{''.join(f'<p>{line}</p>' for line in lines)}</div>"
    return Extraction(title=title, text="\n".join(lines), html=html, **more)  # type: ignore[arg-type]


URLS = ("http://a.example/1.html", "http://a.example/1_2.html", "http://a.example/1_3.html")


def test_text_html_and_images_keep_page_order() -> None:
    first = page(LINES[0], title="古镇修路（第1页）", published=WHEN, images=(Image("http://a.example/1.jpg"),))
    second = page(
        LINES[1], title="古镇修路（第2页）", author="周小青", images=(Image("http://a.example/1.jpg"), Image("http://a.example/2.jpg"))
    )
    found = joining.join([first, second], URLS[:2])
    assert found.text == f"{LINES[0]}\n{LINES[1]}"
    assert found.html == f"<div><p>{LINES[0]}</p></div>\n<div><p>{LINES[1]}</p></div>"
    assert (found.title, found.published, found.author) == ("古镇修路", WHEN, "周小青")
    assert [image.url[-5:] for image in found.images] == ["1.jpg"[-5:], "2.jpg"[-5:]]
    assert found.pages == URLS[:2]


def test_single_page_is_returned_unchanged() -> None:
    single = page(LINES[0], title="古镇修路 (2)")
    assert joining.join([single], URLS[:1]) is single


def test_lines_of_every_page_appear_once() -> None:
    lead = "核心提示：古镇的路修好了，来看的人很多。"
    pages = [page(lead, *LINES[:3], EDITOR), page(lead, *LINES[3:6], EDITOR), page(lead, *LINES[6:], EDITOR)]
    found = joining.join(pages, URLS)
    assert found.text is not None
    assert found.text.split("\n") == [lead, *LINES, EDITOR]
    assert found.html is not None
    assert (found.html.count(lead), found.html.count(EDITOR)) == (1, 1)


def test_overlapping_paragraph_appears_once() -> None:
    found = joining.join([page(*LINES[:4]), page(*LINES[3:6])], URLS[:2])
    assert found.text is not None
    assert found.text.split("\n") == list(LINES[:6])


def test_repeated_short_line_in_text_is_kept() -> None:
    found = joining.join([page(LINES[0], "他笑了。", LINES[1]), page(LINES[2], "他笑了。", LINES[3])], URLS[:2])
    assert found.text is not None
    assert found.text.count("他笑了。") == 2


@pytest.mark.parametrize(
    ("html", "left"),
    [
        ("<div><p>周小青</p><p>后文。</p></div>", "<div><p>后文。</p></div>"),
        ("<div>周小青<br>后文。</div>", "<div><br>后文。</div>"),
        ("<div><b>周小青</b><br>后文。</div>", "<div><br>后文。</div>"),
        ("<div><p>后文。</p>周小青</div>", "<div><p>后文。</p></div>"),
        ("<div><p><b><i>周小青</i></b></p><p>后文。</p></div>", "<div><p>后文。</p></div>"),
        ("<div><p><b>周小青</b>：后文。</p></div>", None),
        ("<div><p>周小青<b>说</b>后文。</p></div>", None),
        ("<div><p>后文是<span><b>周小青</b></span>写的。</p></div>", None),
        ("<div><p>后文是<b>他</b>周小青</p></div>", None),
    ],
)
def test_html_drops_only_complete_repeated_lines(html: str, left: str | None) -> None:
    second = Extraction(title="古镇修路", text=f"周小青\n{LINES[1]}", html=html)
    found = joining.join([page("周小青", LINES[0]), second], URLS[:2])
    assert found.html is not None
    assert found.html.partition("\n")[2] == (left or html)


@pytest.mark.parametrize(
    "line",
    ["上一页 1 2 3 下一页", "下一页", "[1] [2] [3]", "首页 上一页 1 2 下一页 末页", "共3页 第2页", "Previous 1 2 Next", "在本页阅读全文"],
)
def test_pager_line_is_removed(line: str) -> None:
    found = joining.join([page(LINES[0], line), page(LINES[1], line)], URLS[:2])
    assert found.text == f"{LINES[0]}\n{LINES[1]}"
    assert found.html is not None
    assert line not in found.html


@pytest.mark.parametrize("line", ["2012", "3-0", "第2页上写着古镇的名字。", "58 60", "1.5%", "下一页的故事"])
def test_pager_like_lines_are_kept(line: str) -> None:
    found = joining.join([page(LINES[0], line, LINES[1]), page(LINES[2])], URLS[:2])
    assert found.text is not None
    assert line in found.text.split("\n")


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("古镇修路（第2页）", "古镇修路"),
        ("古镇修路(2)", "古镇修路"),
        ("古镇修路（2/5）", "古镇修路"),
        ("古镇修路[第二页]", "古镇修路"),
        ("古镇修路_第3页", "古镇修路"),
        ("Roads mended - Page 2", "Roads mended"),
        ("Roads mended – Page 2 of 3", "Roads mended"),
        ("古镇修路（组图）", "古镇修路（组图）"),
        ("古镇修路（2026）", "古镇修路（2026）"),
        ("Chapter 2", "Chapter 2"),
        ("第2页", "第2页"),
    ],
)
def test_page_number_is_removed_from_title(written: str, plain: str) -> None:
    assert joining.join([page(LINES[0], title=written), page(LINES[1])], URLS[:2]).title == plain


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (page(*LINES[4:6]), None),
        (page("核心提示：路修好了。", *LINES[4:6]), None),
        (page(*LINES[:4]), "repeats"),
        (page(*LINES[2:4]), "repeats"),
        (page("镇上的老人说了第一件事走了六十年的路终于不再积水 店家把凳子搬到门外"), "repeats"),
        (page(*LINES[1:4], "又有一个人来看。"), "repeats"),
        (page("上一页 1 2 3 下一页"), "no-text"),
        (Extraction(title="古镇修路"), "no-text"),
        (page("路修得好。", "楼上说得对。", title="古镇修路的网友评论"), "comments"),
        (page("Well done.", title="Comments on: Roads mended"), "comments"),
    ],
)
def test_reasons_against_a_further_page(found: Extraction, reason: str | None) -> None:
    assert joining.rejection([page(*LINES[:2]), page(*LINES[2:4])], found) == reason


def test_photo_story_pages_may_share_text() -> None:
    first, second = (page(LINES[0], images=(Image(f"http://a.example/{number}.jpg"),)) for number in (1, 2))
    assert joining.rejection([first], second) is None
    assert joining.rejection([first, second], second) == "repeats"
    html = f'<p><img src="http://a.example/2.jpg">{LINES[0]}</p>'
    found = joining.join([first, Extraction(text=LINES[0], html=html, images=second.images)], URLS[:2])
    assert found.text == LINES[0]
    assert found.html is not None
    assert (found.html.count("<img"), found.html.count(LINES[0]), len(found.images)) == (1, 1, 2)


def test_article_about_comments_may_have_further_pages() -> None:
    title = "网友评论古镇修路"
    assert joining.rejection([page(*LINES[:2], title=title)], page(*LINES[2:4], title=f"{title}（2）")) is None


def test_single_page_version_must_contain_first_page() -> None:
    first = page(*LINES[:4], "下一页", published=WHEN)
    assert joining.is_single_page_view(first, page(*LINES))
    assert not joining.is_single_page_view(first, page(*LINES[:4]))
    assert not joining.is_single_page_view(first, page(*LINES[4:]))
    assert not joining.is_single_page_view(first, Extraction())
    found = joining.use_single_page_view(first, page(*LINES, title="单页"), URLS)
    assert (found.text, found.title, found.published) == ("\n".join(LINES), "古镇修路", WHEN)


def test_adversarial_lines_take_linear_time() -> None:
    with ends():
        joining.join([page("1" * 79 + "x", "1 " * 39 + "x", title="（" * 100_000 + "1"), page(" " * 200_000 + "x", *LINES)], URLS[:2])
