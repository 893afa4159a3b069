"""The headline shown on the page is found, whatever is appended to ``<title>`` and whichever element holds it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from work_counts import count_calls

from newsportal.extractors.fields.headlines import bare, headline_by_place, is_site_name, without_site
from newsportal.extractors.fields.metadata import read_metadata
from newsportal.extractors.fields.title import best_title, thesis_title
from newsportal.items import Link
from newsportal.text import dom

TITLE = "滨海新线今晨通车，首班列车满载出发"
TEXT = "今天早上六点，滨海新线的首班列车从东站出发，车厢里坐满了赶早的市民和慕名而来的铁路爱好者，站台上人山人海，好不热闹，至晚方散。"
DATE = "<div>2024-03-05 08:30　来源：滨海日报</div>"


def read(body: str, title: str = f"{TITLE}_社会_滨海新闻网", head: str = "", link: Link | None = None) -> str | None:
    html = f"<html><head><title>{title}</title>{head}</head><body>{body}<p>{TEXT}</p></body></html>"
    document = dom.from_text(html, "https://news.example/a")
    return best_title(document, read_metadata(document), link)


@pytest.mark.parametrize(
    "title",
    [
        f"{TITLE}_社会_滨海新闻网",
        f"{TITLE} - 滨海新闻网",
        f"{TITLE}｜要闻｜滨海新闻网",
        f"滨海新闻网 - 要闻频道 - {TITLE}",
        f"{TITLE},滨海新闻网",
        f"{TITLE}-滨海 新闻资讯",
        f"{TITLE} 滨海市第一人民医院",
        f"{TITLE} @ 某某的家 :: 滨海博客",
        "滨海新闻网-新闻中心",
        "首页",
    ],
)
@pytest.mark.parametrize(
    "body",
    [
        f"<h1>{TITLE}</h1>{DATE}",
        f"<h1>滨海新闻网</h1><h2>{TITLE}</h2>{DATE}",
        f"<h5>{TITLE}</h5>{DATE}",
        f"<div class='art_title'>{TITLE}</div>{DATE}",
        f"<table><tr><td><font size=5><b>{TITLE}</b></font></td></tr></table>{DATE}",
        f"<h1>滨海新线今晨通车，<br>首班列车满载出发</h1>{DATE}",
    ],
)
def test_headline_is_found_in_any_element_under_any_title(title: str, body: str) -> None:
    assert (read(f"<ul><li><a href=/>首页</a></li><li><a href=/b>要闻</a></li></ul>{body}", title) or "").replace(" ", "") == TITLE


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"<h1>{TITLE}<span class=count>241</span></h1>", TITLE),
        (f"<h1><span>{TITLE}</span><div>播放文章</div></h1>", TITLE),
        (f"<h2>{TITLE} <span>【16:15】</span></h2>", f"{TITLE} 【16:15】"),
        (f"<h1>{TITLE}（图）</h1>", f"{TITLE}（图）"),
        (f"<div>》{TITLE}</div>", TITLE),
        ("<h1>滨海新线</h1>" + f"<h2>{TITLE}</h2>", TITLE),
        (f"<h1>{TITLE}</h1><h3>滨海新线今晨通车</h3>", TITLE),
        ("<h3>首班列车满载</h3>" + f"<h4>{TITLE}</h4>", TITLE),
    ],
)
def test_additions_in_and_around_headline(body: str, expected: str) -> None:
    assert read(body) == expected


def test_heading_may_differ_from_title_element() -> None:
    headline = "The 7 Biggest Diet Trends in 2025, According to Nutritionists"
    body = f"<h1>{headline}</h1><h2>What are diet trends?</h2>"
    assert read(body, "7 Major Diet Trends for 2025, According to Nutritionists - Harbour News") == headline
    assert read("<h1>About our summer camp</h1>", "Ten quick recipes for Monday - Harbour News") == "Ten quick recipes for Monday"
    declared = f'<script type="application/ld+json">{{"@type": "Article", "headline": "{headline}"}}</script>'
    assert read(body, "Read this first", f'<meta property=og:title content="Trends of the year">{declared}') == headline


def test_section_before_declared_headline_is_removed() -> None:
    headline = "The harbour keeps its seven oldest cranes"
    head = f'<meta property=og:title content="Old town: {headline}">'
    head += f'<script type="application/ld+json">{{"@type": "Article", "headline": "Quarrel at the pier - {headline}"}}</script>'
    assert read(f"<h1><i>Quarrel at the pier - </i><b>{headline}</b></h1>", f"Old town: {headline} - News - Harbour", head) == headline


def test_host_name_and_anchor_mark_are_removed() -> None:
    assert read("<p>text</p>", "", '<meta property=og:title content="Ten morning rides | Example">') == "Ten morning rides"
    assert read("<h1>Advanced Usage<a href=#u>¶</a></h1>", "Advanced Usage — Requests documentation") == "Advanced Usage"


def test_undisplayed_title_is_cut_at_site_name() -> None:
    assert read("<h1>滨海新闻网</h1>") == TITLE


def test_link_title_is_a_fallback() -> None:
    assert read("", "首页", link=Link("https://news.example/a", "feed:x", title=TITLE)) == TITLE


def test_double_escaped_title_is_decoded() -> None:
    assert read("", "A &amp;quot;great&amp;quot; day for the harbour of Example | News") == 'A "great" day for the harbour of Example'


def test_bullet_is_removed_but_quotation_kept() -> None:
    assert bare("》某地新闻一则") == "某地新闻一则"
    assert bare("》读《某书》有感") == "》读《某书》有感"
    assert bare("「某某」开业了") == "「某某」开业了"


@pytest.mark.parametrize("name", ["滨海新闻网", "滨海网-新闻中心", "首页", "Harbour News", "新闻动态--滨海学会官网"])
def test_site_names_are_not_headlines(name: str) -> None:
    assert is_site_name(name)
    assert not is_site_name(TITLE)


def test_breadcrumb_and_caption_are_not_headlines() -> None:
    html = f"<div>首页 &gt; 要闻 &gt; 正文</div><div>{TITLE}</div>{DATE}<p>{TEXT}</p><h3>图为首班列车</h3>"
    assert headline_by_place(dom.from_text(html), ()) == TITLE


def test_thesis_title_algorithm() -> None:
    document = dom.from_text(f"<title>{TITLE}_滨海网</title><h1>{TITLE}</h1>")
    assert thesis_title(document) == TITLE


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_gives_title_or_none(title: str, heading: str) -> None:
    document = dom.from_text(f"<title>{title}</title><h1>{heading}</h1><p>x</p>")
    found = best_title(document, read_metadata(document))
    assert found is None or found.strip()


@given(st.text(alphabet="滨海新线今晨通车首班列满载出发了", min_size=8, max_size=40), st.sampled_from(["_", " - ", "｜", "--"]))
def test_long_first_part_is_the_title(title: str, mark: str) -> None:
    assert without_site(f"{title}{mark}滨海网") == title


def test_many_headings_take_linear_time() -> None:
    body = "".join(f"<h3 class=title>某地第{number}条新闻今天发生了</h3>" for number in range(3000))
    assert read(body) == TITLE
    assert count_calls(read, body) < 300_000
