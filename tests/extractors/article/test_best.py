"""The ``best`` extractor on constructed pages, each with one feature of real news sites."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from newsportal.errors import NotApplicable
from newsportal.extractors import EXTRACTORS, extractor
from newsportal.items import Extraction, Link
from newsportal.text import dom

NOW = datetime(2024, 3, 6, 12, 0, tzinfo=UTC)
URL = "https://news.example/2024/a.html"
TITLE = "滨海新线今晨通车，首班列车满载出发"
ONE = "今天早上六点，滨海新线的首班列车从东站出发，车厢里坐满了赶早的市民和慕名而来的铁路爱好者。"
TWO = "据介绍，这条线路全长四十二公里，共设十一座车站，建成之后两地之间的通行时间将缩短到半个小时以内。"
THREE = "“以前要换三趟车，现在一趟就到了。”住在城南的一位乘客说，他以后会每天坐这趟车上班。"
PARAGRAPHS = f"<p>{ONE}</p><p>{TWO}</p><p>{THREE}</p>"
NAVIGATION = "<div class='nav'>" + "".join(f"<a href='/c{number}/'>频道{number}</a>" for number in range(30)) + "</div>"
FOOTER = "<div class='footer'>版权所有 滨海新闻网 未经书面授权，不得转载或建立镜像。互联网新闻信息服务许可证。</div>"


def page(body: str, head: str = f"<title>{TITLE}_社会_滨海新闻网</title>") -> dom.Document:
    return dom.from_text(f"<html><head>{head}</head><body>{NAVIGATION}{body}{FOOTER}</body></html>", URL)


def read(body: str, link: Link | None = None, **parts: str) -> Extraction:
    return extractor("best")(page(body, **parts), link, NOW)


def test_title_body_date_author_and_origin() -> None:
    found = read(
        f"<div class=main><h1>{TITLE}</h1><div class=info>2024-03-05 08:30　来源：滨海日报　作者：甲乙丙</div><div id=text>{PARAGRAPHS}"
        f"<p>（责任编辑：丁戊）</p></div></div><div class='comments'><p>{TWO * 3}</p><p>网友说的话，也不少。</p></div>"
    )
    assert found.title == TITLE
    assert found.text == f"{ONE}\n{TWO}\n{THREE}"
    assert found.published is not None
    assert found.published.isoformat() == "2024-03-05T08:30:00+08:00"
    assert (found.author, found.origin, found.language) == ("甲乙丙", "滨海日报", "zh")
    assert found.html is not None
    assert f"<p>{TWO}</p>" in found.html
    assert "责任编辑" not in found.html
    assert "网友" not in found.html


@pytest.mark.parametrize(
    "body",
    [
        f"<div id=a>{ONE}<br><br>　　{TWO}<br>{THREE}</div>",
        f"<table><tr><td><font>{ONE}<br>{TWO}<br>{THREE}</font></td><td><a href=/>热门</a></td></tr></table>",
        f"<div><p>{ONE}</p><p>{TWO}</p></div><div><p>{THREE}</p></div>",
        f"<div class='page-sidebar-left'><h1>{TITLE}</h1><div class='hot-news'>{PARAGRAPHS}</div></div>",
        f"<form><div>{PARAGRAPHS}</div><input name=q></form>",
        f"<div>{PARAGRAPHS}<ul><li><a href=/1>另一条新闻的标题在这里</a></li><li><a href=/2>再一条新闻的标题在这里</a></li></ul></div>",
        f"<div>{PARAGRAPHS}<div class=share>分享到：<a href=/s>微博</a></div><script>var x='{TWO}';</script><style>p{{}}</style></div>",
    ],
)
def test_body_markup_variants(body: str) -> None:
    assert read(body).text == f"{ONE}\n{TWO}\n{THREE}"


def test_short_news_beats_long_boilerplate() -> None:
    short = "央行宣布，明日起下调存款准备金率零点五个百分点。"
    form = "<form class=reply><p>网友评论仅供其表达个人看法，并不表明本网同意其观点或证实其描述，请勿发表违法言论。</p></form>"
    assert read(f"<div><h1>{TITLE}</h1><div class=text><p>{short}</p></div></div>{form}").text == short


def test_json_ld_article_is_used_when_page_is_empty() -> None:
    article = {
        "@type": "NewsArticle",
        "headline": TITLE,
        "articleBody": ONE + TWO,
        "datePublished": "2024-03-05T00:30:00Z",
        "author": [{"name": "甲乙丙"}],
    }
    head = f'<title>{TITLE}</title><script type="application/ld+json">{json.dumps({"@graph": [article]})}</script>'
    found = read("<div id=app></div>", head=head)
    assert (found.title, found.text, found.author) == (TITLE, ONE + TWO, "甲乙丙")
    assert found.html is not None
    assert ONE in found.html
    assert found.published == datetime(2024, 3, 5, 0, 30, tzinfo=UTC)


def test_link_fills_missing_title_and_date() -> None:
    published = datetime(2024, 3, 4, 1, 2, tzinfo=UTC)
    found = read(f"<div>{PARAGRAPHS}</div>", Link(URL, "feed:x", title=TITLE, published=published), head="")
    assert (found.title, found.published) == (TITLE, published)


def test_images_of_body_have_real_urls() -> None:
    found = read(
        f"<img src=/logo.png><div><p>{ONE}</p><figure><img src=/blank.gif data-src='/i/1.jpg'>"
        "<figcaption>站台上的乘客</figcaption></figure>"
        f"<p>{TWO}</p>"
        f"<img src='/i/s.jpg' srcset='/i/m.jpg 600w, /i/l.jpg 1200w'><img src='/t.gif' width=1 height=1><p>{THREE}</p></div>"
    )
    assert [(image.url, image.caption) for image in found.images] == [
        ("https://news.example/i/1.jpg", "站台上的乘客"),
        ("https://news.example/i/l.jpg", None),
    ]
    assert found.html is not None
    assert 'src="https://news.example/i/1.jpg"' in found.html


@pytest.mark.parametrize(
    ("canonical", "expected"),
    [
        ("/2024/b.html", "https://news.example/2024/b.html"),
        ("https://m.news.example/x", "https://m.news.example/x"),
        ("/", None),
        ("https://evil.example/x", None),
    ],
)
def test_canonical_url_is_accepted_only_on_same_site(canonical: str, expected: str | None) -> None:
    assert read(f"<div>{PARAGRAPHS}</div>", head=f"<title>{TITLE}</title><link rel=canonical href='{canonical}'>").canonical == expected


@pytest.mark.parametrize(
    ("html", "reason"),
    [
        ("", "no-body"),
        ("<title>频道首页</title>" + NAVIGATION * 3, "list-page"),
        ("<title>安全验证</title><body><p>请完成下方验证后继续操作。</p>", "captcha"),
        ("<title>Just a moment...</title><body><p>Checking your browser before you access the site.</p>", "captcha"),
        ("<title>用户登录</title><body><p>请先登录后查看全文内容。</p>", "login"),
        ("<title>404</title><body><p>抱歉，您访问的页面不存在或已删除。</p>", "soft-404"),
        ("<title>502 Bad Gateway</title><body><h1>502 Bad Gateway</h1><p>The server is not able to answer.</p>", "error-page"),
        ("%PDF-1.4 binary", "not-html"),
        ('<?xml version="1.0"?><rss><channel><item><title>一条新闻，不是网页。</title></item></channel></rss>', "not-html"),
        ('{"code": 0, "message": "a reply of an interface, and no page"}', "not-html"),
    ],
)
def test_non_article_is_refused_with_reason(html: str, reason: str) -> None:
    with pytest.raises(NotApplicable) as caught:
        extractor("best")(dom.from_text(html, URL), None, NOW)
    assert caught.value.reason == reason


@pytest.mark.parametrize("title", ["验证码产业链调查：打码平台日进万元", "404页面背后的故事：找不到的网页去了哪里"])
def test_article_about_error_pages_is_kept(title: str) -> None:
    body = f"<div><h1>{title}</h1>{PARAGRAPHS * 4}</div>"
    assert read(body, head=f"<title>{title}</title>").title == title


@pytest.mark.parametrize("last", ["评论家这样写道。", "作者从此不再写作。", "分享喜悦的还有邻居！", "“关注的是民生。”"])
def test_short_last_sentence_is_kept(last: str) -> None:
    assert (read(f"<div><h1>{TITLE}</h1>{PARAGRAPHS}<p>{last}</p></div>").text or "").endswith(last)


@pytest.mark.parametrize(
    "last", ["责任编辑：甲乙", "编辑 甲乙", "更多精彩内容", "分享到微信", "相关阅读", "版权声明：本网所有文字未经许可不得转载。"]
)
def test_boilerplate_ending_is_removed(last: str) -> None:
    assert last not in (read(f"<div><h1>{TITLE}</h1>{PARAGRAPHS}<p>{last}</p></div>").text or last)


BRIEF = "<p>镇上昨天下了一夜的大雨，救援队把老人和孩子先送到了高处，没有人受伤。</p><p>学校今天停课，明天照常上课，书店也会开门。</p>"


@pytest.mark.parametrize(
    "title",
    [
        "Forbidden City reopens after storm",
        "500 people rescued from flood",
        "Index falls 502 points - Markets",
        "大雨过后 500 名居民转移",
        "404 new cases reported",
        "Missing hiker still not found",
        "Airport security check delays flights",
        "验证码为何越来越难",
    ],
)
def test_brief_with_error_like_title_is_kept(title: str) -> None:
    assert read(f"<h1>{title}</h1>{BRIEF}", head=f"<title>{title}</title>").text


@pytest.mark.parametrize(
    ("title", "reason"),
    [
        ("404", "soft-404"),
        ("404 - 滨海网", "soft-404"),
        ("滨海网_404错误", "soft-404"),
        ("Error 404: Not Found", "soft-404"),
        ("Oops! 404", "soft-404"),
        ("Page not found | Bay News", "soft-404"),
        ("403 Forbidden", "error-page"),
        ("HTTP Status 500 – Internal Server Error", "error-page"),
        ("503", "error-page"),
        ("请输入验证码", "captcha"),
    ],
)
def test_error_page_titles_are_refused(title: str, reason: str) -> None:
    with pytest.raises(NotApplicable) as caught:
        read(f"<h1>{title}</h1>{BRIEF}", head=f"<title>{title}</title>")
    assert caught.value.reason == reason


PAGE_ONLY = [name for name in EXTRACTORS if name not in ("summary_anchor", "url_tree")]
"""Algorithms that need no input besides the page."""


@pytest.mark.parametrize("name", PAGE_ONLY)
def test_extractor_does_not_modify_page(name: str) -> None:
    document = page(f"<div><h1>{TITLE}</h1>{PARAGRAPHS}<ul><li><a href=/1>另一条</a></ul></div>")
    before = dom.html_of(document.root)
    assert extractor(name)(document, None, NOW).text
    assert dom.html_of(document.root) == before


HOSTILE = [
    "<div>" * 3000 + ONE,
    "<p>" + ONE * 20_000,
    f"<body><table>{ONE}<p>{TWO}",
    "<p>\ud800\x00" + ONE + TWO,
    "<b>" * 3000 + f"<p>{ONE}<p>{TWO}",
]


@pytest.mark.parametrize("name", ["best", "cetd", "cetr", "cevc"])
@pytest.mark.parametrize("html", HOSTILE)
def test_hostile_markup_keeps_text(name: str, html: str) -> None:
    text = extractor(name)(dom.from_text(html, URL), None, NOW).text
    assert text is not None
    assert ONE in text


@pytest.mark.parametrize("name", EXTRACTORS)
@pytest.mark.parametrize("html", ["", "<frameset><frame src=x>", "<a>" * 500, "\x00" * 99, "<svg><p>"])
def test_empty_page_is_not_applicable(name: str, html: str) -> None:
    with pytest.raises(NotApplicable):
        extractor(name)(dom.from_text(html, URL), None, NOW)


def test_unknown_extractor_error_lists_names() -> None:
    with pytest.raises(ValueError, match="there are: best, cevc"):
        extractor("magic")


def test_teaser_page_is_refused_but_news_digest_kept() -> None:
    teasers = "".join(f"<p><a href='/{number}'>第{number}条消息的标题在这里</a>：{ONE[:40]}……</p>" for number in range(8))
    with pytest.raises(NotApplicable, match="list-page"):
        read(f"<h1>今日速览</h1><div>{teasers}</div>")
    assert read(f"<h1>今日速览</h1><div>{teasers.replace('……', '。')}</div>").text


def test_front_page_is_refused_but_brief_among_headlines_kept() -> None:
    headlines = "".join(f"<li><a href='/{number}'>第{number}条新闻的标题说了另外一件事</a></li>" for number in range(40))
    boxes = f"<div><h2>要闻</h2><ul>{headlines}</ul></div><div><h2>社会</h2><ul>{headlines}</ul></div>"
    with pytest.raises(NotApplicable, match="list-page"):
        read(f"{boxes}{'<div>用微信扫码二维码</div><div>分享至好友和朋友圈</div>' * 3}", head="<title>滨海新闻网首页</title>")
    news = "滨海新线今晨六点通车，首班列车从东站满载出发。"
    assert read(f"<h1>{TITLE}</h1><div>{news}</div>{boxes}").text == news
