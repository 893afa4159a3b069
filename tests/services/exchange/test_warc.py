from __future__ import annotations

import gzip
import json
import os
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import brotli
import pytest
from backports import zstd
from typer.testing import CliRunner

from newsportal.cli import app
from newsportal.errors import NewsportalError, ReplayError
from newsportal.extractors import extractor
from newsportal.items import Article, Link, Page
from newsportal.net import archive
from newsportal.services.exchange.tables import HEADERS, html_page, read_warc
from newsportal.store import open_store
from newsportal.text import dom

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


def test_exported_page_is_extracted_to_the_same_article(tmp_path: Path) -> None:
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


def test_warc_export_needs_a_file_name(tmp_path: Path) -> None:
    status, output = run("--sources", str(filled(tmp_path)))
    assert status == 2
    assert "--out" in output


PACKINGS = {
    "gzip": gzip.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
    "gzip, br": lambda body: brotli.compress(gzip.compress(body)),
}


@pytest.mark.parametrize("encodings", [*PACKINGS, "unpacked already"])
def test_content_encodings_are_decoded(encodings: str, tmp_path: Path) -> None:
    with closing(open_store(f"sqlite:///{filled(tmp_path).parent}/data/news.db")) as store:
        body = html_page(next(store.all_articles())).encode()
    packed = PACKINGS[encodings](body) if encodings in PACKINGS else body
    header = encodings if encodings in PACKINGS else "gzip"
    with archive.Writer(tmp_path / "crawl.warc.gz") as writer:
        writer.write(archive.Exchange(URL, 200, (*HEADERS, ("Content-Encoding", header)), packed, when=NOW))
    ((_, found),) = read_warc(tmp_path / "crawl.warc.gz")
    assert (found["title"], found["text"]) == (TITLE, TEXT)


def test_decompression_bomb_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("newsportal.services.exchange.tables.LONGEST_PAGE", 100_000)
    with archive.Writer(tmp_path / "bomb.warc.gz") as writer:
        writer.write(archive.Exchange(URL, 200, (*HEADERS, ("Content-Encoding", "br")), brotli.compress(bytes(10**6)), when=NOW))
    ((_, found),) = read_warc(tmp_path / "bomb.warc.gz")
    assert isinstance(found, ValueError)
    assert "more than 100000 bytes" in str(found)


@pytest.mark.parametrize("name", ["crawl.warc.gz", "one.warc.gz", "crawl.warc"])
def test_cut_file_is_read_to_the_cut_and_reported(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    with archive.Writer(path) as writer:
        for number in range(2):
            writer.write(archive.Exchange(f"{URL}{number}", 200, HEADERS, os.urandom(1000), when=NOW))
    if name != "crawl.warc.gz":
        content = gzip.decompress(path.read_bytes())
        path.write_bytes(gzip.compress(content) if name == "one.warc.gz" else content)
    assert len(list(read_warc(path))) == 2
    path.write_bytes(path.read_bytes()[:-500])
    found = read_warc(path)
    assert next(found)[0] == 1
    with pytest.raises(ReplayError, match="cut off"):
        next(found)


@pytest.mark.parametrize("place", ["folder", "file/x.warc.gz"])
def test_unwritable_path_is_reported(place: str, tmp_path: Path) -> None:
    sources = filled(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    done = CliRunner().invoke(app, ["export", "--format", "warc", "--out", str(tmp_path / place), "--sources", str(sources)])
    assert isinstance(done.exception, NewsportalError)
    assert "cannot be written" in str(done.exception)


def test_foreign_archive_is_extracted(tmp_path: Path) -> None:
    sources = filled(tmp_path)
    path = tmp_path / "crawl.warc.gz"
    with archive.Writer(path) as writer:
        with closing(open_store(f"sqlite:///{tmp_path}/data/news.db")) as store:
            body = html_page(next(store.all_articles())).encode()
        for url, status, content in (
            (URL, 200, body),
            ("https://qinghe.example/", 200, b"<p>x</p>"),
            ("https://qinghe.example/2", 404, body),
        ):
            writer.write(archive.Exchange(url, status, HEADERS, content, when=NOW))
    result = CliRunner().invoke(app, ["import", str(path), "--store", f"sqlite:///{tmp_path}/new.db", "--sources", str(sources), "--json"])
    *fates, counts = map(json.loads, result.stdout.splitlines())
    assert counts == {"stored": 1, "failed": 1}
    assert "no article found" in fates[1]["error"]
    with closing(open_store(f"sqlite:///{tmp_path}/new.db")) as store:
        (found,) = store.all_articles()
    assert (found.title, found.text, found.author, found.published, found.fetched) == (TITLE, TEXT, "陈青", NOW, NOW)
