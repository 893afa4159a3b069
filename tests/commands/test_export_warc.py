from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from typer.testing import CliRunner

from newsportal import archive, dom
from newsportal.cli import app
from newsportal.extractors import extractor
from newsportal.items import Article, Link, Page
from newsportal.storage import open_store

NOW = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
TITLE = "青河古城<夜游>线路 & 灯会"
TEXT = "青河市文旅局昨天说，古城夜游线路从本周五起开放。\n游人可以乘船看灯，也可以步行听讲解，末班船晚上十点靠岸，雨天照常。"
URL = "https://qinghe.example/2026/0301/1.html"


def filled(folder: Path) -> Path:
    sources = folder / "sources.yaml"
    sources.write_text("store: sqlite:///data/news.db\n", encoding="utf-8")
    store = open_store(f"sqlite:///{folder}/data/news.db")
    link = Link(URL, "feed:快讯")
    store.add(Article(URL, link, NOW, identity="qinghe", title=TITLE, text=TEXT, author="陈青", published=NOW, language="zh"), now=NOW)
    store.close()
    return sources


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["export", "--format", "warc", *arguments])
    return result.exit_code, result.output


def test_an_exported_page_gives_the_same_article_again(tmp_path: Path) -> None:
    out = tmp_path / "新 卷" / "articles.warc.gz"
    assert run("--sources", str(filled(tmp_path)), "--out", str(out))[0] == 0
    index = archive.open_index(out)
    recorded = index.get(URL, 1_000_000)
    index.close()
    assert recorded is not None
    page = Page(URL, recorded.body, NOW, recorded.status, "text/html; charset=utf-8")
    found = extractor("best")(dom.document(page), None, NOW)
    assert (found.title, found.text, found.author, found.published) == (TITLE, TEXT, "陈青", NOW)
    assert [file.name for file in out.parent.iterdir()] == ["articles.warc.gz"]


def test_a_warc_file_needs_a_name(tmp_path: Path) -> None:
    status, output = run("--sources", str(filled(tmp_path)))
    assert status == 2
    assert "--out" in output
