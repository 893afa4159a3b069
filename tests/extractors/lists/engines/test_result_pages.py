"""Reading result pages: the wrapper first, then the template-free reader; captchas and empty results are recognised."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from newsportal.errors import EngineBlocked, NotApplicable
from newsportal.extractors.lists import engines, result_pages
from newsportal.extractors.lists.engines import Engine, Result
from newsportal.extractors.lists.result_pages import read_results, target_of
from newsportal.extractors.lists.wrapper import parse_with
from newsportal.text.dom import from_text

NOW = datetime(2024, 5, 2, 9, tzinfo=UTC)
SUMMARY = "五一假期首日，多地景区客流较去年同期增长两成，夜间开放和预约入园成为常态。"


def row(number: int, title: str = "旅游市场回暖的第{}个观察") -> str:
    return (
        f'<section class="k7"><h4><a href="https://n{number}.example/a/{number}.html">{title.format(number)}</a></h4>'
        f"<div>{SUMMARY}{number}</div><i>n{number}.example</i></section>"
    )


def unknown_layout(rows: int, extra: str = "") -> str:
    head = '<title>旅游 - 搜索</title><form action="https://www.baidu.com/s"><input name="wd"></form>'
    return f"<html><body>{head}{extra}<div>{''.join(map(row, range(rows)))}</div></body></html>"


WALLS = {
    "captcha: Baidu": """<title>百度安全验证</title><div class="timeout-title">网络不给力，请稍后重试</div>
        <script src="https://wappass.baidu.com/static/touch/js/mkdjump.js"></script>""",
    "captcha: Sogou": """<title>搜狗搜索</title><p>用户您好，我们的系统检测到您网络中存在异常访问请求。</p>
        <p>此验证码用于确认这些请求是您的正常行为而不是自动程序发出的。</p><form name="authform" id="seccodeForm"><input></form>""",
    "captcha: 360": """<title>访问异常页面</title><p>系统检测到您操作过于频繁。</p>
        <form action="https://qcaptcha.so.com/?ret=x"><img src="c.png"></form>""",
    "captcha: Google": """<title>https://www.google.com/search?q=x</title>
        <form id="captcha-form" action="index"><div id="recaptcha" data-sitekey="k"></div></form>
        Our systems have detected unusual traffic from your computer network.""",
    "consent: Google": """<title>Before you continue to Google Search</title>
        <form action="https://consent.google.com/save" method="POST"><button>Reject all</button></form>""",
    "captcha: DuckDuckGo": """<form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=html">
        <div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div></form>""",
    "captcha: Bing": """<div class="captcha"><div class="captcha_header">One last step</div>
        <div>Please solve the challenge below to continue</div><iframe src="https://challenges.cloudflare.com/x"></iframe></div>""",
    "captcha": """<title>安全检查</title><p>请输入验证码</p><form><img src="/code.png"><input name="code"></form>""",
    "login": """<title>提示</title><p>请登录后继续访问</p><a href="/login">登录</a>""",
    "quota": """<title>429</title><h1>Too Many Requests</h1>""",
}


@pytest.mark.parametrize("reason", WALLS)
def test_blocking_page_raises_engine_blocked(reason: str) -> None:
    with pytest.raises(EngineBlocked) as caught:
        read_results(engines.load_engine("baidu_web"), from_text(f"<html><body>{WALLS[reason]}</body></html>"), NOW)
    assert caught.value.reason == reason
    assert caught.value.rest >= 3600


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://wappass.baidu.com/static/captcha/tuxing.html?ak=x", "captcha: Baidu"),
        ("http://www.sogou.com/antispider/?from=%2Fweb", "captcha: Sogou"),
        ("https://www.google.com/sorry/index?continue=x", "captcha: Google"),
        ("https://consent.google.de/m?continue=x", "consent: Google"),
    ],
)
def test_blocking_url_after_redirect_is_enough(url: str, reason: str) -> None:
    with pytest.raises(EngineBlocked, match=reason):
        read_results(engines.load_engine("google_web"), from_text("<html><body></body></html>", url), NOW)


def test_results_about_captchas_are_kept() -> None:
    rows = "".join(row(number, "请输入验证码：百度安全验证为何总是弹出（{}）unusual traffic") for number in range(6))
    baidu_rows = rows.replace('<section class="k7">', '<div class="c-container">').replace("</section>", "</div>").replace("h4>", "h3>")
    assert len(read_results(engines.load_engine("baidu_web"), from_text(f'<div id="content_left">{baidu_rows}</div>'), NOW).results) == 6
    assert len(read_results(engines.load_engine("baidu_web"), from_text(f"<body>{rows}</body>"), NOW).results) == 6


def test_changed_layout_is_read_and_reported() -> None:
    page = read_results(engines.load_engine("baidu_web"), from_text(unknown_layout(8)), NOW)
    assert [result.link for result in page.results] == [f"https://n{number}.example/a/{number}.html" for number in range(8)]
    assert page.results[0].summary == f"{SUMMARY}0"
    assert (page.by, page.changed) == ("generic", True)


def test_partial_wrapper_is_completed_in_page_order() -> None:
    half = unknown_layout(9).replace("<section", '<section id="content_left"', 1).replace("<h4>", '<div class="result"><h3>', 1)
    half = half.replace("</h4>", "</h3></div>", 1)
    engine = engines.load_engine("baidu_web")
    assert len(parse_with(engine.wrappers, from_text(half), NOW)) == 1
    page = read_results(engine, from_text(half.replace("h4>", "h3>")), NOW)
    assert [result.link for result in page.results] == [f"https://n{number}.example/a/{number}.html" for number in range(9)]
    assert (page.by, page.changed) == ("generic", True)


def page_with_other_list(other_rows: int) -> str:
    """Return a page with ``other_rows`` results in Baidu's layout and a list of nine in an unknown layout."""
    few = "".join(
        f'<div class="c-container"><h3><a href="https://r{number}.example/">结果第{number}条的标题</a></h3>'
        f'<div class="c-abstract">{SUMMARY}</div></div>'
        for number in range(other_rows)
    )
    return f'<div id="content_left">{few}</div>{unknown_layout(9)}'


def test_wrapper_results_beside_other_list_are_kept() -> None:
    page = read_results(engines.load_engine("baidu_web"), from_text(page_with_other_list(3)), NOW)
    assert [result.link for result in page.results] == [f"https://r{number}.example/" for number in range(3)]
    assert (page.by, page.changed) == ("wrapper", False)


def test_single_old_layout_result_counts_as_changed() -> None:
    page = read_results(engines.load_engine("baidu_web"), from_text(page_with_other_list(1)), NOW)
    assert [result.link for result in page.results[:2]] == ["https://r0.example/", "https://n0.example/a/0.html"]
    assert (len(page.results), page.by, page.changed) == (10, "generic", True)


@pytest.mark.parametrize(
    ("engine", "html"),
    [
        ("baidu_web", '<div id="content_left"><div class="content_none"><p>抱歉没有找到与“甲乙丙”相关的网页。</p></div></div>'),
        ("so360_news", "<body><p>抱歉，未找到和“甲乙丙”相关的新闻</p><p>建议您：检查输入是否正确</p></body>"),
        ("google_web", '<body><div id="topstuff"><p>Your search - <b>xqzv</b> - did not match any documents.</p></div></body>'),
        ("bing_web", '<ol id="b_results"><li class="b_no"><h1>There are no results for <strong>xqzv</strong></h1></li></ol>'),
        ("duckduckgo_web", '<div class="no-results">No results.</div>'),
        ("yahoo_web", '<div id="web"><ol class="zrp"><li><p>We did not find results for: xqzv</p></li></ol></div>'),
    ],
)
def test_empty_result_message_is_not_a_changed_layout(engine: str, html: str) -> None:
    page = read_results(
        engines.load_engine(engine), from_text(f'<html>{html}<ul><li><a href="/s?wd=热词">热词甲登上榜首</a></li></ul></html>'), NOW
    )
    assert (page.results, page.changed) == ((), False)


@pytest.mark.parametrize("way", ['style="display: none"', "hidden", 'style="color:red;display:none"'])
def test_hidden_empty_result_message_is_ignored(way: str) -> None:
    spare = f'<div {way} class="no-results"><p>抱歉，没有找到<b>相关</b>结果</p></div>'
    page = read_results(engines.load_engine("baidu_web"), from_text(unknown_layout(3, spare)), NOW)
    assert (len(page.results), page.changed) == (3, True)


def test_blank_page_is_a_changed_layout() -> None:
    page = read_results(engines.load_engine("baidu_web"), from_text(""), NOW)
    assert (page.results, page.changed) == ((), True)


def test_captcha_form_beside_results_is_not_blocking() -> None:
    form = '<form action="/comment"><div class="g-recaptcha"></div><label>请输入验证码</label></form>'
    page = read_results(Engine("own", "https://s.example/?q=##QUERY##"), from_text(unknown_layout(6, form)), NOW)
    assert len(page.results) == 6


def test_line_breaks_in_url_are_removed() -> None:
    html = unknown_layout(5).replace("https://n0.example/a/0.html", "\n https://n0.example/a/\t\n0.html")
    assert (
        read_results(Engine("own", "https://s.example/?q=##QUERY##"), from_text(html), NOW).results[0].link == "https://n0.example/a/0.html"
    )


def test_engine_without_wrapper_reports_no_change() -> None:
    page = read_results(Engine("own", "https://s.example/?q=##QUERY##"), from_text(unknown_layout(4)), NOW)
    assert (len(page.results), page.by, page.changed) == (4, "generic", False)


def test_failing_wrapper_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: object) -> list[Result]:
        raise NotApplicable("no-results")

    monkeypatch.setattr(result_pages, "parse_with", slow)
    page = read_results(engines.load_engine("bing_web"), from_text(unknown_layout(5)), NOW)
    assert (len(page.results), page.by, page.changed) == (5, "generic", True)


def test_feed_is_read_for_any_engine() -> None:
    feed = (
        '<?xml version="1.0" encoding="gb2312"?><rss><channel><item><title>旅游 &amp; 交通 - 示例日报</title>'
        "<link>https://n.example/1</link><description>摘要</description><source url='https://n.example'>示例日报</source></item>"
        "<item><title>no link</title></item><item><link>javascript:alert(1)</link><title>x</title></item></channel></rss>"
    )
    page = read_results(engines.load_engine("bing_news"), from_text(feed), NOW)
    assert page.results == (Result("旅游 & 交通", "https://n.example/1", "示例日报", "摘要"),)
    assert not page.changed


def test_malformed_feed_entry_does_not_lose_others() -> None:
    entry = "<item><title>{}</title><link>https://n.example/{}</link></item>"
    feed = f"<rss version='2.0'><channel><title>x</title>{entry.format('甲&#x110000;', 1)}{entry.format('乙', 2)}</channel>"  # never closed
    page = read_results(engines.load_engine("bing_news"), from_text(feed), NOW)
    assert "https://n.example/2" in [result.link for result in page.results]


def test_target_comes_from_page_or_link() -> None:
    assert target_of(Result("a", "/link?url=x", target="https://t.example/1")) == "https://t.example/1"
    assert target_of(Result("a", "https://www.google.com/url?q=https://t.example/2")) == "https://t.example/2"
    assert target_of(Result("a", "https://t.example/3", target="javascript:alert(1)")) == "https://t.example/3"


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 20_000 + "<a href='https://a.example/'>x</a>" * 50,
        "<a href='https://a.example/'>" * 5_000,
        '<div id="content_left">' + '<div class="result"><h3><a href="https://a.example/">t</a></h3>' * 3_000,
        "<div " + " ".join(f"a{number}='1'" for number in range(20_000)) + "><a href='https://a.example/'>x</a></div>",
        "<p>" + "长" * 1_000_000 + "</p><h3><a href='https://a.example/'>x</a></h3>",
        "\x00\ufffe<h3><a href='http://[bad/'>x</a></h3><h3><a href='https://a.example:99999/'>y</a></h3>&#x110000;",
    ],
    ids=["deep", "nested links", "nested blocks", "attributes", "long text", "garbage"],
)
def test_hostile_pages_are_read_in_bounded_time(html: str) -> None:
    page = read_results(engines.load_engine("baidu_web"), from_text(html), NOW)
    assert all(result.title and result.link for result in page.results)
