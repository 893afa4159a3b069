"""Archives are processed into articles: lists, redirects, multi-page articles, and unreadable records."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from newsportal import sources
from newsportal.cli import app
from newsportal.errors import NewsportalError
from newsportal.net.archive import Exchange, Writer
from newsportal.processing.mapping import processes
from newsportal.processing.storing import Summary, process_archives
from newsportal.processing.tracker import share
from newsportal.store import open_store
from newsportal.store.results import StoredArticle
from newsportal.store.store import Store

AT = datetime(2024, 3, 5, 4, tzinfo=UTC)
SITE = "https://qinghe.example"
SOURCES = f"""
version: 1
store: sqlite:///data/news.db
feeds:
  - {{name: 青河, url: {SITE}/feed.xml, category: 旅游}}
topics:
  - {{name: 夜游, keywords: {{any: [夜游]}}, engines: []}}
"""
BRIDGE = "青河大桥昨天晚上亮起了灯，两岸的市民带着孩子来散步，船家说客人比上个月多了一倍，末班船要晚一个小时才靠岸。"
NIGHT = "古城夜游线路从本周五起开放，游人可以乘船看灯，也可以步行听讲解，票价不变，雨天照常，老人和孩子走专门的通道上船。"
MARKET = "股市今天收盘上涨，投资者关注银行板块的成交，分析师认为贷款利率下调之后，基金和债券的收益还会有一些变化。"


def page(title: str, *lines: str, more: str = "") -> str:
    text = "".join(f"<p>{line}</p>" for line in lines)
    return f"<html><head><title>{title}</title></head><body><article><h1>{title}</h1>{text}{more}</article></body></html>"


def feed(*entries: tuple[str, str]) -> str:
    items = "".join(f"<item><title>{title}</title><link>{SITE}{path}</link></item>" for path, title in entries)
    return f'<rss version="2.0"><channel><title>青河</title>{items}</channel></rss>'


def saved(path: Path, *answers: tuple[str, int, str, str]) -> Path:
    with Writer(path) as writer:
        for url, status, about, body in answers:
            name = "Location" if status == 301 else "Content-Type"
            writer.write(Exchange(f"{SITE}{url}", status, ((name, about),), body.encode(), when=AT))
    return path


HTML, XML = "text/html; charset=utf-8", "application/rss+xml"
NUMBERS = '<div class="pages"><a href="/b.html">1</a> <a href="/b_2.html">2</a></div>'
WEB = (
    (
        "/feed.xml",
        200,
        XML,
        feed(("/old-a.html", "大桥亮灯"), ("/b.html", "古城夜游"), ("/gone.html", "没有了"), ("/lost.html", "没存下来")),
    ),
    ("/old-a.html", 301, "/a.html", ""),
    ("/a.html", 200, HTML, page("大桥亮灯", BRIDGE, BRIDGE.replace("昨天", "前天"))),
    ("/b.html", 200, HTML, page("古城夜游", NIGHT, NIGHT.replace("周五", "周六"), more=NUMBERS)),
    (
        "/b_2.html",
        200,
        HTML,
        page(
            "古城夜游", "第二天的路线要经过老码头，讲解员会在那里等候大家，一直走到城墙的尽头再回来，全程大约两个小时。" * 2, more=NUMBERS
        ),
    ),
    ("/gone.html", 404, HTML, "<h1>404</h1>"),
    ("/unnamed.html", 200, HTML, page("股市收盘上涨", MARKET, MARKET.replace("今天", "昨天"))),
    ("/empty.html", 200, HTML, "<html><body></body></html>"),
    ("/logo.png", 200, "image/png", "PNG"),
)


@pytest.fixture
def warc(tmp_path: Path) -> Path:
    (tmp_path / "sources.yaml").write_text(SOURCES, encoding="utf-8")
    return saved(tmp_path / "crawl.warc.gz", *WEB)


@pytest.fixture
def articles(tmp_path: Path) -> Iterator[Store]:
    with closing(open_store(f"sqlite:///{tmp_path}/made.db")) as store:
        yield store


def process_files(store: Store, *files: Path, **options: Any) -> tuple[Summary, dict[str, StoredArticle]]:
    shared = share(sources.load(files[0].parent / "sources.yaml"), None)
    with processes(shared, 1) as mapped:
        summary = Summary()
        process_archives(shared, list(map(str, files)), store, mapped, summary, **options)
    return summary, {article.url.removeprefix(SITE): article for article in store.all_articles()}


def test_listed_and_unlisted_pages_are_read(warc: Path, articles: Store) -> None:
    summary, found = process_files(articles, warc)
    assert set(found) == {"/a.html", "/b.html", "/unnamed.html"}
    assert {path: (article.source, article.category, article.topics, article.fetched) for path, article in found.items()} == {
        "/a.html": ("feed:青河", "旅游", (), AT),
        "/b.html": ("feed:青河", "旅游", ("夜游",), AT),
        "/unnamed.html": ("import:files", "财经", (), AT),
    }
    assert "老码头" in found["/b.html"].text
    assert (summary.lists, summary.missing, summary.stored, summary.folded) == (1, 1, 3, 0)
    assert summary.failed == {"http-404": 1, "no-body": 1}


def test_listed_option_skips_other_pages(warc: Path, articles: Store) -> None:
    summary, found = process_files(articles, warc, listed_only=True)
    assert set(found) == {"/a.html", "/b.html"}
    assert (summary.pages, summary.failed) == (3, {"http-404": 1})


def test_repost_is_folded_and_stored_article_is_same(warc: Path, articles: Store) -> None:
    other = saved(warc.with_name("other.warc.gz"), ("/copy.html", 200, HTML, WEB[2][3]))
    assert process_files(articles, warc, other)[0].folded == 1
    again = process_files(articles, warc)[0]
    assert (again.stored, again.folded, again.same) == (0, 0, 3)


def test_single_gzip_stream_and_truncated_file(warc: Path, articles: Store) -> None:
    plain = gzip.decompress(warc.read_bytes())
    for name, content in (("one.warc.gz", gzip.compress(plain)), ("cut.warc", plain[:-30])):
        warc.with_name(name).write_bytes(content)
    summary, found = process_files(articles, warc.with_name("one.warc.gz"), warc.with_name("cut.warc"))
    assert set(found) == {"/a.html", "/b.html", "/unnamed.html"}
    assert "cut.warc" in summary.cut[0]


def test_page_that_raises_is_counted(warc: Path, articles: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    from newsportal.pipelines.classify import ClassifyPipeline

    original = ClassifyPipeline.classified

    def classified(stage: ClassifyPipeline, article: Any) -> Any:
        return original(stage, article) if article.url != f"{SITE}/a.html" else 1 / 0

    monkeypatch.setattr(ClassifyPipeline, "classified", classified)
    summary, found = process_files(articles, warc)
    assert set(found) == {"/b.html", "/unnamed.html"}
    assert summary.failed["error: ZeroDivisionError"] == 1


def run(folder: Path, *arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["process", "--workers", "1", "--sources", str(folder / "sources.yaml"), *arguments])
    return done.exit_code, done.stdout, done.stderr


def test_output_is_json_lines(warc: Path) -> None:
    status, output, errors = run(warc.parent, str(warc))
    assert status == 0
    assert {json.loads(line)["url"].removeprefix(SITE) for line in output.splitlines()} == {"/a.html", "/b.html", "/unnamed.html"}
    assert "/empty.html: " in errors
    assert "3 stored" in errors
    assert not (warc.parent / "data").exists(), "the store of sources.yaml is not made"


def test_unwritable_output_is_reported_before_processing(warc: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("newsportal.cli.process.process_archives", lambda *_, **__: pytest.fail("it was too late"))
    done = CliRunner().invoke(app, ["process", str(warc), "--sources", str(warc.parent / "sources.yaml"), "--out", str(warc.parent)])
    assert isinstance(done.exception, NewsportalError)


def test_into_store_with_outcome_of_each_page(warc: Path) -> None:
    bad = warc.with_name("bad.warc.gz")
    bad.write_bytes(b"no archive")
    status, output, errors = run(warc.parent, str(warc), str(bad), "--into", "--json")
    *pages, summary = map(json.loads, output.splitlines())
    assert {page["url"].removeprefix(SITE): page["outcome"] for page in pages} == {
        "/a.html": "stored", "/b.html": "stored", "/unnamed.html": "stored",
        "/gone.html": "failed", "/empty.html": "failed",
    }  # fmt: skip
    assert (status, summary["stored"], len(summary["broken"])) == (1, 3, 1)
    assert str(bad) in errors
    with closing(open_store(f"sqlite:///{warc.parent}/data/news.db", create=False)) as store:
        assert len(list(store.all_articles())) == 3


@pytest.mark.parametrize("options", [("--json",), ("--into", "--out", "x.jsonl"), ("--format", "warc")])
def test_conflicting_options_are_refused(options: tuple[str, ...], warc: Path) -> None:
    assert run(warc.parent, str(warc), *options)[0] == 2
