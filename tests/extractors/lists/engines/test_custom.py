"""Custom search engines: a URL alone, or rules of any kind; errors name the field."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from newsportal.extractors.lists.custom_engine import cross_check, make_engine
from newsportal.extractors.lists.result_pages import read_results
from newsportal.extractors.lists.selector import MAX_MATCHES
from newsportal.text.dom import Document, from_text

NOW = datetime(2024, 5, 2, 9, tzinfo=UTC)
URL = "https://sou.example.cn/search?q=##QUERY##&p=##START##"


def site_search(rows: int = 6, summary: str = "记者走访了七家民宿，听他们算一笔细账，房租和人工一分不少。") -> Document:
    """Return a news site's own result page, on which every link has the same host."""
    items = "".join(
        f'<li class="item"><a class="tit" href="/2024/05/{number}.shtml">古镇民宿如何过冬（{number}）</a><p>{summary}</p>'
        f'<span class="from">来源：示例周刊</span><span class="when">2024-05-0{1 + number % 2} 08:30</span></li>'
        for number in range(rows)
    )
    menu = "".join(f'<li><a href="/{name}/">{name}</a></li>' for name in ("首页", "国内", "国际", "财经", "体育", "图片"))
    return from_text(f'<body><ul class="menu">{menu}</ul><ul id="list">{items}</ul></body>', "https://sou.example.cn/search?q=x")


CSS = {"block": "#list li.item", "title": "a.tit", "summary": "p", "site": ".from", "date": ".when"}
XPATH = {"block": "//li[@class='item']", "title": "./a", "link": "./a/@href", "summary": "./p", "date": "xpath:span[2]"}
PAPER = {
    "block": r're:<li class="item">(.*?)</li>',
    "title": r're:<a class="tit"[^>]*>(.*?)</a>',
    "link": r're:href="(.*?)"',
    "summary": r"re:<p>(.*?)</p>",
    "date": r're:<span class="when">(.*?)</span>',
}


@pytest.mark.parametrize("rules", [CSS, XPATH, PAPER, {}], ids=["css", "xpath", "regular expressions", "none"])
def test_rules_of_any_kind_and_none(rules: dict[str, str]) -> None:
    page = read_results(make_engine("own", URL, **rules), site_search(), NOW)  # type: ignore[arg-type]
    assert [row.title for row in page.results] == [f"古镇民宿如何过冬（{number}）" for number in range(6)]
    assert page.results[3].link == "https://sou.example.cn/2024/05/3.shtml"
    assert page.results[3].summary == "记者走访了七家民宿，听他们算一笔细账，房租和人工一分不少。"
    assert page.results[3].published == datetime.fromisoformat("2024-05-02T08:30+08:00")
    assert page.by == ("wrapper" if rules else "generic")
    assert not page.changed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"url": "https://sou.example.cn/search"}, "url: must contain ##QUERY##"),
        ({"url": "ftp://sou.example.cn/##QUERY##"}, "url: must be an http"),
        ({"url": "https:///##QUERY##"}, "url: must be an http"),
        ({"url": "http://[x/##QUERY##"}, "url: "),
        ({"encoding": "gb-klingon"}, "encoding: unknown"),
        ({"block": "li["}, "block: not a CSS selector"),
        ({"block": "li", "title": "re:("}, "title: not a regular expression"),
        ({"block": "li", "date": "//a["}, "date: not an XPath"),
        ({"title": "h3 a"}, "title: a rule for a field needs a rule for the block"),
    ],
)
def test_invalid_setting_error_names_its_field(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        make_engine("own", **{"url": URL, **arguments})


def test_paging_and_encoding_are_configurable() -> None:
    engine = make_engine("own", URL, first=1, step=1, encoding="gbk", kind="news")
    assert engine.request("旅游", 2) == "https://sou.example.cn/search?q=%C2%C3%D3%CE&p=3"
    assert (engine.kind, engine.has_pages) == ("news", True)
    assert not make_engine("one page", "https://s.example/?q=##QUERY##").has_pages


def test_template_free_reader_replaces_failed_rule() -> None:
    page = read_results(make_engine("own", URL, block=r"re:(<li|<li class)+(.|..)*nothing"), site_search(), NOW)
    assert (len(page.results), page.by, page.changed) == (6, "generic", True)


def test_matches_of_a_block_are_limited() -> None:
    engine = make_engine("own", URL, block="re:<a(.*?)</a>", title="re:>(.*)", link='re:href="(.*?)"')
    page = read_results(engine, from_text('<a href="https://a.example/">t</a>' * (2 * MAX_MATCHES)), NOW)
    assert len(page.results) == 1


def test_wrapper_is_trusted_after_several_pages() -> None:
    report = cross_check(make_engine("own", URL, **CSS), [site_search(6), site_search(5)], NOW)  # type: ignore[arg-type]
    assert (report.pages, report.results, report.agreed, report.trusted, report.problems) == (2, 11, 11, True, ())
    assert not cross_check(make_engine("own", URL, **CSS), [site_search()], NOW).trusted  # type: ignore[arg-type]


def test_wrapper_failing_on_one_page_is_not_trusted() -> None:
    other = from_text(site_search(6).html.replace('class="item"', 'class="new"'))
    report = cross_check(make_engine("own", URL, **CSS), [site_search(), other, from_text("<p>请输入验证码</p>")], NOW)  # type: ignore[arg-type]
    assert not report.trusted
    assert [(problem.code, dict(problem.params)["page"]) for problem in report.problems[:2]] == [("check.page", 2), ("check.page", 3)]
    assert "captcha" in str(report.problems[1])
