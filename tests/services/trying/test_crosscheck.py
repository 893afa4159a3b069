"""A rule is compared with the template-free extractor on saved pages; a template library is trained on saved pages."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from factories import empty_store

from newsportal.extractors.article.rule import ArticleRule, apply
from newsportal.items import Page
from newsportal.net.archive import Exchange, Writer
from newsportal.services.trying import saved
from newsportal.services.trying.crosscheck import compared_lines, cross_check, similarity
from newsportal.services.trying.saved import saved_pages
from newsportal.services.trying.templates import compare_results, learn_pages, library_of, site_templates
from newsportal.services.trying.trial import fetch_once, trials
from newsportal.sources import Sources
from newsportal.text import dom

NOW = datetime(2026, 3, 8, 12, tzinfo=UTC)

STORIES = {
    "渡轮今晨开航": "海港新航线的第一班渡轮今晨六时开出，船上有二百名乘客。\n码头工人说，准备工作用了整整三年时间。\n下午还有两班。",
    "灯塔修缮完工": "百年灯塔的修缮工程昨天完工，灯光重新照亮海湾。\n工程队更换了全部玻璃，保留了原来的铜制灯座。\n周末向市民开放。",
    "鱼市搬到新址": "城里最大的鱼市本周搬到新址，摊位比过去多出一倍。\n摊主们说，冷库终于够用了，夏天不用再发愁。\n老鱼市将改建成公园。",
}


def page(title: str, text: str, css: str = "text") -> Page:
    paragraphs = "".join(f"<p>{line}</p>" for line in text.split("\n"))
    top = f'<div class="top"><a href="/">首页</a></div><h1>{title}</h1><div class="when">2026-03-07 08:30</div>'
    foot = '<div class="foot"><a href="/about">关于</a></div>'
    html = f'<html><head><title>{title}_海港网</title></head><body>{top}<div class="{css}">{paragraphs}</div>{foot}</body></html>'
    return Page(f"https://port.example/news/{ord(title[0])}.html", html.encode(), NOW, 200, "text/html; charset=utf-8")


PAGES = [page(title, text) for title, text in STORIES.items()]


def test_matching_rule_and_rule_that_finds_nothing() -> None:
    matching = cross_check(ArticleRule(body=".text", title="h1", date=".when"), PAGES)
    assert (matching.read, matching.similar, matching.titles, matching.dates) == (3, 3, 3, 3)
    assert matching.similarity > 0.9
    missing = cross_check(ArticleRule(body=".no-such"), PAGES)
    assert (missing.read, missing.similar) == (0, 0)
    assert all(result.ruled is None and result.free is not None for result in missing.pages)


@pytest.mark.parametrize(
    "rule",
    [
        ArticleRule(body="//div[has-class('text')]", title="//h1/text()", date=".//div[re:test(@class, '^when$')]"),
        ArticleRule(body='re:<div class="text">(.*?)</div>', title="re:<h1>(.*?)</h1>", date="re:20[0-9-]+ [0-9:]+"),
        ArticleRule(body=".text", title="h1::text", date="div.when::text"),
    ],
)
def test_rules_are_css_xpath_or_regular_expressions(rule: ArticleRule) -> None:
    found = cross_check(rule, PAGES)
    assert (found.read, found.similar, found.titles, found.dates) == (3, 3, 3, 3)
    assert all(result.ruled and result.ruled.title in STORIES and result.ruled.published for result in found.pages)


@pytest.mark.parametrize("remove", ["p:last-child", "//p[last()]", "re:<p>[^<]*两班[^<]*</p>"])
def test_remove_accepts_every_kind_of_rule(remove: str) -> None:
    found = apply(ArticleRule(body=".text", remove=(remove,)), dom.document(PAGES[0]), NOW)
    assert found.text == "\n".join(STORIES["渡轮今晨开航"].split("\n")[:2])


SEARCH = "https://sou.example/s?q=##QUERY##&p=##START##"
ENGINE = {"name": "搜", "url": SEARCH, "step": 1, "wrapper": {"block": "li", "title": "h3 a", "summary": "p"}}
REGION = {"name": "港", "prefix": "https://port.example/news/", "seeds": ["https://port.example/news/"]}


def result_page(url: str, changed: bool = False) -> Page:
    number, tag = len(url) + 10 * url.count("&p=1"), "section" if changed else "li"
    rows = (
        f'<{tag}><h3><a href="https://n.example/{number}/{n}.html">第{n}条关于海港的新闻{number}</a></h3>'
        f"<p>海港建设的消息，第{n}条，全文见站内。</p></{tag}>"
        for n in range(8)
    )
    return Page(url, f"<html><body><div>{''.join(rows)}</div></body></html>".encode(), NOW, 200, "text/html; charset=utf-8")


@pytest.mark.parametrize(("changed", "last"), [(False, "check.trusted"), (True, "check.untrusted")])
def test_engine_trial_checks_its_wrapper_on_several_pages(changed: bool, last: str) -> None:
    sources = Sources.model_validate({"engines": [ENGINE], "topics": [{"name": "港口", "engines": ["搜"]}]})
    requested: list[str] = []

    def fetch(url: str) -> Page:
        requested.append(url)
        return result_page(url, changed=changed and len(requested) > 2)

    (trial,) = trials(sources.engines[0], sources, fetch_once(fetch))
    assert len(requested) == len(set(requested)) == 4, "two pages of two queries, each fetched once"
    (check,) = [note for note in trial.notes if note.code == "check.engine-trial"]
    found = dict(check.params)
    assert (found["pages"], found["agreed"]) == (4, found["results"])
    assert trial.notes[-1].code == last


def test_source_trial_checks_its_rule_on_several_articles(monkeypatch: pytest.MonkeyPatch) -> None:
    links = "".join(f'<li><a href="{page.url}">{title}，海港网记者报道</a></li>' for page, title in zip(PAGES, STORIES, strict=True))
    channel = Page("https://port.example/news/", f"<ul>{links}</ul>".encode(), NOW, 200, "text/html; charset=utf-8")
    pages = {page.url: page for page in (*PAGES, channel)}
    monkeypatch.setattr(saved, "source_fetcher", lambda *_args: pages.__getitem__)
    for body, read in ((".text", 3), (".no-such", 0)):
        sources = Sources.model_validate({"regions": [{**REGION, "article": {"body": body, "title": "//h1"}}]})
        ((trial, reading),) = saved.try_source("region:港", sources)
        (check,) = [note for note in trial.notes if note.code == "check.rule-trial"]
        counts = dict(check.params)
        assert (counts["pages"], counts["read"], counts["similar"]) == (3, read, read)
        assert reading is not None


def test_incomplete_rule_is_reported_first() -> None:
    other = page("潮汐表更新", STORIES["鱼市搬到新址"], css="body-text")
    found = cross_check(ArticleRule(body=".text p:first-child, .body-text", title=".when"), [*PAGES, other])
    assert found.titles == 0
    assert found.pages[0].similarity < 0.9
    assert {line.of for line in found.pages[0].lines} == {"both", "best"}
    assert found.pages[-1].url == other.url


def test_texts_are_compared_line_by_line() -> None:
    found = [(line.text, line.of) for line in compared_lines("甲\n乙\n丙", "甲\n丙\n丁")]
    assert found == [
        ("甲", "both"),
        ("乙", "rule"),
        ("丙", "both"),
        ("丁", "best"),
    ]
    assert similarity("甲乙\n丙", "甲 乙\n丁") == pytest.approx(4 / 6)
    assert similarity("", "") == 0.0


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    file = tmp_path / "crawl.warc.gz"
    others = [Page("https://other.example/a.html", b"<p>x</p>", NOW), Page("https://port.example/a.png", b"\x89PNG", NOW)]
    with Writer(file) as writer:
        for page in [*PAGES, *others]:
            kind = "image/png" if page.url.endswith("png") else "text/html; charset=utf-8"
            writer.write(Exchange(page.url, 200, (("Content-Type", kind),), page.body, when=NOW))
    return file


def test_saved_pages_of_the_site_are_selected(archive: Path) -> None:
    found = saved_pages(archive, frozenset({"port.example"}), NOW)
    assert {page.url for page in found} == {page.url for page in PAGES}
    assert {page.body for page in found} == {page.body for page in PAGES}
    assert len(saved_pages(archive, frozenset({"port.example"}), NOW, limit=2)) == 2
    assert saved_pages(archive, frozenset({"nowhere.example"}), NOW) == []


def test_library_is_trained_and_inspected(tmp_path: Path) -> None:
    store = empty_store(tmp_path / "news.db")
    assert learn_pages(store, PAGES[:2], NOW) == 1
    assert learn_pages(store, PAGES[:2], NOW) == 0
    library, _ = library_of(store)
    by_method = {reading.by: reading for reading in compare_results(library, PAGES[2])}
    assert by_method["url_tree"].found is not None
    assert "冷库" in (by_method["url_tree"].found.text or "")
    assert by_method["best"].found is not None
    (look,) = site_templates(library, "port.example")
    assert look.directory == "/news"
    assert any(holds for _, _, holds in look.boxes)
    assert site_templates(library, "nowhere.example") == []
    strange = page("另一种版式", "甲" * 50).body.replace(b"<div class", b"<section><div class").replace(b"</div>", b"</div></section>")
    waiting = {
        reading.by: reading
        for reading in compare_results(library, Page("https://port.example/x/1.html", strange, NOW, 200, "text/html; charset=utf-8"))
    }
    assert waiting["url_tree"].reason == "waits-for-sibling"
    assert sum(1 for _ in library_of(store)[0]) == 1, "trying a page does not train the library"
    store.close()
