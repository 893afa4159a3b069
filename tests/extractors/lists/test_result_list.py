"""Template-free reading of result lists: independent of class names; navigation, advertisements and related searches are left out."""

from __future__ import annotations

import json
import re
from hashlib import md5
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsportal.extractors.lists.result_fields import find_date, is_date, split_site, split_summary, title_of
from newsportal.extractors.lists.result_list import find_results, page_host
from newsportal.text.dom import Document, from_text

FIXTURES = Path(__file__).parent / "engines" / "fixtures"
LAYOUTS = sorted(path.stem for path in FIXTURES.glob("*.html") if path.stem != "google_news_rss")

UNREADABLE_RENAMED = frozenset({"google_news-front"})
"""Without its classes this page shows only linked lines of text, like a menu."""


def layout(name: str) -> tuple[str, list[tuple[str, str]]]:
    html, _, answer = (FIXTURES / f"{name}.html").read_text(encoding="utf-8").partition("<!-- answer\n")
    return html, [(row["title"], row["link"]) for row in json.loads(answer.removesuffix("-->\n"))]


def titles_and_links(html: str) -> list[tuple[str, str]]:
    return [(entry.title, entry.link) for entry in find_results(from_text(html))]


@pytest.mark.parametrize("name", LAYOUTS)
def test_layout_is_read_without_its_wrapper(name: str) -> None:
    html, gold = layout(name)
    assert titles_and_links(html) == gold


def renamed(html: str) -> str:
    """Return the page with all classes and ids renamed, as Google does every few weeks."""
    return re.sub(r"""\b(class|id)=(["'])(.*?)\2""", lambda match: f'{match[1]}="k{md5(match[3].encode()).hexdigest()[:6]}"', html)


@pytest.mark.parametrize("name", [name for name in LAYOUTS if name not in UNREADABLE_RENAMED])
def test_layout_is_read_with_renamed_classes(name: str) -> None:
    html, gold = layout(name)
    missing = set(gold) - set(titles_and_links(renamed(html)))
    assert not missing


def site_search(link: str = "/2024/{}.shtml", summary: str = "记者走访了七家民宿，听他们算一笔细账，房租和人工一分不少。") -> Document:
    rows = "".join(
        f'<dt><a href="{link.format(number)}">古镇民宿如何过冬（{number}）</a></dt><dd>{summary}</dd>'
        f"<dd>示例周刊 2024-05-0{number} 08:30</dd>"
        for number in range(1, 6)
    )
    menu = "".join(f'<li><a href="/{number}/">频道名称第{number}个栏目</a></li>' for number in range(20))
    friends = "".join(f'<a href="https://f{number}.example/">友情链接网站{number}</a> ' for number in range(20))
    html = f"<body><ul>{menu}</ul><dl>{rows}</dl><div class='links'>{friends}</div></body>"
    return from_text(html, "https://sou.example.cn/s?q=x")


def test_rows_without_a_common_element_are_grouped() -> None:
    entries = find_results(site_search())
    assert [entry.link for entry in entries] == [f"/2024/{number}.shtml" for number in range(1, 6)]
    assert entries[4].summary == "记者走访了七家民宿，听他们算一笔细账，房租和人工一分不少。"
    assert (entries[4].site, entries[4].date) == ("示例周刊", "2024-05-05 08:30")


@pytest.mark.parametrize(
    "html",
    [
        "",
        "<p>text without links</p>",
        "<ul>" + "".join(f'<li><a href="/c{number}/">频道{number}</a></li>' for number in range(30)) + "</ul>",
        "<div>" + "".join(f'<a href="https://f{number}.example/">友情链接网站{number}</a>' for number in range(30)) + "</div>",
        "<nav>"
        + "".join(f'<h3><a href="https://a{number}.example/">标题标题标题{number}</a></h3><p>{"文" * 80}</p>' for number in range(9))
        + "</nav>",
        "<div>"
        + "".join(f'<p><a href="/s?wd=热词{number}">热词{number}登上热搜榜首引发讨论</a>{"文" * 80}</p>' for number in range(9))
        + "</div>",
    ],
    ids=["empty", "no links", "channels", "blogroll", "navigation", "related searches"],
)
def test_page_without_results_has_none(html: str) -> None:
    assert titles_and_links(f"<html><body>{html}</body></html>") == []


def test_numbered_articles_of_same_host_are_results() -> None:
    assert len(find_results(site_search("/?p=12{}"))) == 5
    assert find_results(site_search("/?s=x&q=词{}")) == []


def test_labelled_advertisements_are_left_out() -> None:
    rows = "".join(
        f'<div><h3><a href="https://a{number}.example/">关于<em>广告</em>的报道第{number}篇</a></h3><p>{"摘要文字" * 20}</p></div>'
        for number in range(4)
    )
    paid = f'<div><h3><a href="https://paid.example/">特价旅游团</a></h3><p>{"推广文字" * 20}</p><span>广告</span></div>'
    assert [link for _, link in titles_and_links(f"<div>{paid}{rows}</div>")] == [f"https://a{number}.example/" for number in range(4)]


@pytest.mark.parametrize(
    ("html", "host"),
    [
        ('<link rel="canonical" href="https://www.s.example/x"><a href="https://other.example/">a</a>', "s.example"),
        ('<form action="https://s.example/search"></form>', "s.example"),
        (
            '<a href="https://a.s.example.cn/1">1</a><a href="https://b.s.example.cn/2">2</a><a href="https://x.example/">3</a>',
            "example.cn",
        ),
        ("<p>nothing</p>", ""),
    ],
)
def test_host_is_inferred_from_page(html: str, host: str) -> None:
    assert page_host(from_text(f"<html><head></head><body>{html}</body></html>")) == host


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<a><h3>标题</h3><cite>a.example</cite></a>", "标题"),
        ("<a><div>示例日报</div><div role='heading'>真正的标题</div></a>", "真正的标题"),
        ("<a><div>示例日报</div><div>这是一条足够长的新闻标题</div><div>2小时前</div></a>", "这是一条足够长的新闻标题"),
        ("<a><span><b>Example</b> https://a.example › x</span>The title itself</a>", "The title itself"),
        ("<a>只有<em>文字</em></a>", "只有文字"),
        ("<a>dict.cc Wörterbuch :: snow</a>", "dict.cc Wörterbuch :: snow"),
    ],
)
def test_title_of_link_with_more_text(html: str, title: str) -> None:
    assert title_of(from_text(html).css("a")[0]) == title


@pytest.mark.parametrize(
    ("text", "site", "date"),
    [
        ("新华网 2015年05月12日 08:00", "新华网", "2015年05月12日 08:00"),
        ("a.example/x - 2018-11-12", "a.example/x", "2018-11-12"),
        ("来源：示例周刊", "示例周刊", None),
        ("2小时前", None, "2小时前"),
        ("", None, None),
        (None, None, None),
    ],
)
def test_source_line_is_split_into_site_and_date(text: str | None, site: str | None, date: str | None) -> None:
    assert split_site(text) == (site, date)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Nov 21, 2019 - Keyword tests", ("Nov 21, 2019", "Keyword tests")),
        ("3天前来西昌过暖冬", ("3天前", "来西昌过暖冬")),
        ("没有日期的一段摘要文字", (None, "没有日期的一段摘要文字")),
        (
            "公司公告称，截至目前一共有三十余家门店，将于2024年5月1日前关闭",
            (None, "公司公告称，截至目前一共有三十余家门店，将于2024年5月1日前关闭"),
        ),
        (None, (None, None)),
    ],
)
def test_date_before_summary_is_split_off(text: str | None, expected: tuple[str | None, str | None]) -> None:
    assert split_summary(text) == expected


def test_dates_and_texts_containing_dates() -> None:
    assert all(map(is_date, ("2h", "23d", "昨天18:37", "- 2021-9-16", "发布于 2024-05-01", "3 hours ago")))
    assert not any(map(is_date, ("", "一", "示例日报", "2024年度报告", "iPhone 15", "5月1日起多地景区实行预约制")))
    assert find_date("示例 昨天18:37 报道") == "昨天18:37"


TAGS = st.sampled_from(
    ["div", "li", "h3", "a href='https://a.example/'", "a href='/link?url=x'", "a href='http://[x'", "table", "td", "p", "style"]
)
SOUP = st.lists(st.tuples(TAGS, st.text(max_size=30), st.booleans()), max_size=40)


@given(SOUP)
def test_any_markup_is_accepted(soup: list[tuple[str, str, bool]]) -> None:
    html = "".join(f"<{tag}>{text}" + (f"</{tag.split()[0]}>" if closed else "") for tag, text, closed in soup)
    for entry in find_results(from_text(html)):
        assert entry.title
        assert entry.link
