"""Export and import in every format: articles are restored unchanged, invalid rows are reported and skipped."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from factories import empty_store, run_command
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from newsportal.cli import app
from newsportal.errors import DependencyMissing, NewsportalError
from newsportal.items import Article, Gallery, Image, Link, Post, Thread, TopicMark
from newsportal.services.exchange.form import SCHEMA, article_values, full_values, incoming
from newsportal.services.exchange.tables import read_parquet
from newsportal.store import open_store
from newsportal.store.store import Store

ROOT = Path(__file__).resolve().parents[3]
NOW = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
NASTY = "=桥\u2028a\tb\r\n\u200e𠀀 ' \" \\n \\ ,;| \ufffe é e\u0301 <b>&amp; "
ENDINGS = {"jsonl": "jsonl", "csv": "csv", "parquet": "parquet", "warc": "warc.gz"}
WORKED_OUT = ("story", "fold_of", "fold_reason", "fold_score", "revision")
"""Columns that an import computes again."""

run = partial(run_command, catch=False)


def article(name: str, **changes: Any) -> Article:
    link = Link(f"https://h.example/{name}", "feed:快讯", summary="-2+3")
    return replace(Article(link.url, link, NOW, identity=f"h.example/{name}", title=f"标题{name}", text=f"正文{name}"), **changes)


def fill(store: Store) -> None:
    marks = (TopicMark("旅游 线路", "model 3", 0.5),)
    pictures = (Image("https://h.example/i.jpg", NASTY, 3, 4, "png"),)
    unusual = article("odd", title=NASTY, text=NASTY * 3, html=f"<p>{NASTY}</p>", author="=SUM(A1)", published=NOW - HOUR, images=pictures)
    unusual = replace(
        unusual, keywords=("桥,", "a b"), topics=("旅游 线路",), topic_marks=marks, category="文化", category_by="lexicon", site="@站"
    )
    store.add(unusual, now=NOW)
    store.add(
        article("plain", published=datetime(1, 1, 1, tzinfo=UTC), category_score=0.25, category="x", language="zh-Hant"), now=NOW + HOUR
    )
    store.add(article("guid", url="https://h.example/all", identity="guid:7"), now=NOW)
    posts = tuple(Post(f"作者{n}", NOW, f"第 {n} 条", floor=n, id=str(n), quoted="旧话", images=pictures) for n in (1, 2))
    forum = Link("https://bbs.example/1", "forum:论坛", site="论坛")
    store.threads.save(Thread(forum.url, "换窗户", forum, NOW, posts, "修补", "bbs.example/1", forum.url, topics=("家居",)), now=NOW)
    shot = Link("https://pic.example/1", "gallery:图站", site="图站")
    shots = tuple(Image(f"https://pic.example/{n}.jpg", f"第 {n} 张", 900, 600) for n in (1, 2))
    story = Gallery(
        shot.url, "春天的河", shot, NOW, shots, NOW, identity="pic.example/1", text="一条河。\n很长。", missing=(3,), category="风光"
    )
    store.galleries.save(story, now=NOW)


def stored_rows(uri: str) -> dict[str, dict[str, Any]]:
    """Return the rows that an import should restore, by id."""
    with closing(open_store(uri, create=False)) as store:
        rows = [full_values(article, store) for article in store.all_articles()]
    for row in rows:
        for post in row.get("posts", ()):
            del post["first_seen"]
    return {row["id"]: {name: value for name, value in row.items() if name not in WORKED_OUT} for row in rows}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources file of a filled store, for reading only."""
    folder = tmp_path_factory.mktemp("filled")
    (folder / "sources.yaml").write_text("store: sqlite:///news.db\n", encoding="utf-8")
    with closing(empty_store(folder / "news.db")) as store:
        fill(store)
    return folder / "sources.yaml"


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URI of the store that an import creates in the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sources.yaml").write_text("store: sqlite:///news.db\n", encoding="utf-8")
    return f"sqlite:///{tmp_path}/news.db"


@pytest.mark.parametrize("form", ENDINGS)
def test_import_restores_exported_articles_once(filled: Path, empty: str, form: str) -> None:
    file = f"数据 一.{ENDINGS[form]}"
    assert run("export", "--format", form, "--out", file, "--sources", str(filled)).exit_code == 0
    counts = json.loads(run("import", file, "--json").stdout.splitlines()[-1])
    assert counts == {"stored": 5}
    assert stored_rows(empty) == stored_rows(f"sqlite:///{filled.parent}/news.db")
    with closing(open_store(empty)) as store:
        before = store.last_seq()
    assert json.loads(run("import", file, file, "--json").stdout.splitlines()[-1]) == {"same": 10}
    with closing(open_store(empty)) as store:
        assert store.last_seq() == before


def test_schema_is_documented(filled: Path) -> None:
    assert json.loads(run("export", "--schema").stdout) == SCHEMA
    assert json.loads((ROOT / "docs" / "article.schema.json").read_text("utf-8")) == SCHEMA
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_exports_match_the_schema(filled: Path) -> None:
    strict = {**SCHEMA, "additionalProperties": False}
    *lines, _ = run("export", "--sources", str(filled)).stdout.split("\n")
    for line in lines:
        jsonschema.validate(json.loads(line), strict, format_checker=jsonschema.FormatChecker())
    assert len(lines) == 5


TEXTS = st.text(max_size=50)


@given(title=TEXTS, text=TEXTS, author=TEXTS.filter(bool), topics=st.lists(TEXTS.filter(bool), max_size=3, unique=True))
@settings(max_examples=5)
@pytest.mark.slow
def test_any_text_round_trips_in_every_format(title: str, text: str, author: str, topics: list[str], tmp_path: Path) -> None:
    """NUL, surrogates, formulas, line ends: what the store keeps of them is exported and imported unchanged."""
    uri = f"sqlite:///{tmp_path}/news.db"
    (tmp_path / "sources.yaml").write_text("store: sqlite:///news.db\n", encoding="utf-8")
    (tmp_path / "news.db").unlink(missing_ok=True)
    with closing(open_store(uri)) as store:
        store.add(article("x", title=title, text=text, author=author, topics=tuple(topics)), now=NOW)
    sources = str(tmp_path / "sources.yaml")
    for form, ending in ENDINGS.items():
        file, copy = tmp_path / f"x.{ending}", tmp_path / f"{form}.db"
        copy.unlink(missing_ok=True)
        run("export", "--format", form, "--out", str(file), "--sources", sources)
        run("import", str(file), "--store", f"sqlite:///{copy}", "--sources", sources)
        assert stored_rows(f"sqlite:///{copy}") == stored_rows(uri)


@pytest.mark.slow
@pytest.mark.parametrize("form", ENDINGS)
def test_article_of_ten_megabytes(form: str, empty: str, tmp_path: Path) -> None:
    with closing(empty_store(tmp_path / "big.db")) as store:
        store.add(article("big", text="很长的一段话。\n" * 500_000), now=NOW)
    (tmp_path / "big.yaml").write_text("store: sqlite:///big.db\n", encoding="utf-8")
    run("export", "--format", form, "--out", f"big.{ENDINGS[form]}", "--sources", "big.yaml")
    assert "1 stored" in run("import", f"big.{ENDINGS[form]}").stdout
    assert stored_rows(empty) == stored_rows(f"sqlite:///{tmp_path}/big.db")


def test_reposts_are_folded_on_import(empty: str) -> None:
    text = "青河市图书馆新馆昨天上午向读者开放。新馆建在老城北门外的旧粮仓里，一共三层，藏书四十万册，晚上开到九点。" * 4
    rows = [{"url": f"https://{host}.example/1", "title": "图书馆新馆开放", "text": text} for host in ("a", "b")]
    Path("x.jsonl").write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    assert run("import", "x.jsonl").stdout == "1 stored, 1 folded\n"


def test_invalid_lines_are_reported_and_skipped(empty: str) -> None:
    valid = json.dumps({"url": "https://a.example/1", "title": "标题", "text": "正文"})
    invalid = [
        "{",
        "[]",
        '{"url": "u"}',
        "[" * 100_000,
        '{"url":"https://u.example/","title":1,"text":""}',
        '{"url":"https://u.example/","title":"t","text":"t","published":"x"}',
    ]
    Path("x.jsonl").write_bytes(b"\xef\xbb\xbf" + "\n".join([valid, *invalid, "", valid.replace("/1", "/2")]).encode() + b"\n\xff\n")
    result = run("import", "x.jsonl", "--json")
    assert result.exit_code == 0
    *fates, counts = map(json.loads, result.stdout.splitlines())
    assert counts == {"stored": 2, "failed": 7}
    assert [fate["line"] for fate in fates if fate["outcome"] == "failed"] == [2, 3, 4, 5, 6, 7, 10]
    assert all(fate["error"] for fate in fates if fate["outcome"] == "failed")
    assert "x.jsonl:2: " in run("import", "x.jsonl").stderr
    Path("x.jsonl").write_text("\n".join(invalid), "utf-8")
    with pytest.raises(NewsportalError, match="every row failed"):
        run("import", "x.jsonl")


def test_unreadable_files_are_reported_and_skipped(empty: str) -> None:
    Path("good.jsonl").write_text(json.dumps({"url": "https://a.example/1", "title": "标题", "text": "正文"}), "utf-8")
    for name in ("x.csv", "x.parquet", "x.warc"):
        Path(name).write_bytes(b"nothing of the kind, but some bytes of it\n" * 3)
    result = run("import", "none.jsonl", "x.csv", "x.parquet", "x.warc", "good.jsonl")
    assert result.exit_code == 1
    assert "1 stored" in result.stdout
    assert [line.partition(":")[0] for line in result.stderr.splitlines()] == ["none.jsonl", "x.csv", "x.parquet", "x.warc"]


def test_format_of_standard_input_and_unknown_endings(empty: str) -> None:
    row = json.dumps({"url": "https://a.example/1", "title": "标题", "text": "正文"})
    result = CliRunner().invoke(app, ["import", "-", "--format", "jsonl"], input=row, catch_exceptions=False)
    assert result.stdout == "1 stored\n"
    assert run("import", "articles.txt").exit_code == 2


def test_newer_stored_article_is_kept(filled: Path, empty: str) -> None:
    run("export", "--out", "x.jsonl", "--sources", str(filled))
    run("import", "x.jsonl")
    with closing(open_store(empty)) as store:
        store.add(article("plain", text="改过的正文", fetched=NOW + HOUR), now=NOW + HOUR)
    assert json.loads(run("import", "x.jsonl", "--json").stdout.splitlines()[-1]) == {"same": 4, "older": 1}


def test_first_seen_is_never_in_the_future() -> None:
    row = {"url": "https://a.example/1", "title": "t", "text": "t", "first_seen": "2099-01-01T00:00:00"}
    assert incoming(row, NOW).first_seen == NOW


def test_missing_values_may_be_null_and_text_may_have_lone_surrogates() -> None:
    row = {"url": "https://a.example/1", "title": "\ud800", "text": "t", "images": None, "category": None}
    posts = [{"text": "t", "images": None, "name": None}]
    assert incoming(row, NOW).item.title == "\ud800"
    assert incoming(row | {"source": "forum:f", "posts": posts}, NOW).item.posts[0].images == ()  # type: ignore[union-attr]
    with pytest.raises(ValueError, match=r"^Input should be a valid dictionary"):
        incoming([row], NOW)


def test_mail_keeps_its_identity() -> None:
    row = {"url": "mid:1@b.example", "identity": "mid:#25df6fd41b4859939665", "title": "t", "text": "t"}
    assert (incoming(row, NOW).item.url, incoming(row, NOW).item.identity) == ("mid:1@b.example", "mid:#25df6fd41b4859939665")


@pytest.mark.parametrize("url", ["javascript:alert(1)", "", "u", "http://[", "https://", "file:///etc/passwd"])
def test_invalid_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"^url: (not an http\(s\) URL|Invalid IPv6)"):
        incoming({"url": url, "title": "t", "text": "t"}, NOW)


@pytest.mark.parametrize("number", [10**400, float("inf"), float("nan"), 10**30])
@pytest.mark.parametrize(
    "where",
    [
        lambda number: {"source": "forum:f", "posts": [{"text": "t", "floor": number}]},
        lambda number: {"source": "gallery:g", "complete": False, "missing": [number]},
        lambda number: {"images": [{"url": "https://a.example/1.jpg", "width": number}]},
        lambda number: {"category_score": number if number != 10**30 else 10**400},
        lambda number: {"topic_marks": [{"topic": "t", "by": "b", "score": number if number != 10**30 else 10**400}]},
    ],
)
def test_numbers_out_of_range_are_refused(where: Callable[[float], dict[str, Any]], number: float) -> None:
    with pytest.raises(ValueError, match=r"less than or equal|finite|valid number|beyond"):
        incoming({"url": "https://a.example/1", "title": "t", "text": "t", **where(number)}, NOW)


def test_older_row_in_the_same_file_does_not_win(empty: str) -> None:
    states = [
        {"url": "https://a.example/1", "title": "t", "text": f"{day} 号", "fetched": f"2026-03-{day:02}T00:00:00"} for day in (2, 1, 3)
    ]
    Path("x.jsonl").write_text("\n".join(map(json.dumps, states)), "utf-8")
    assert json.loads(run("import", "x.jsonl", "--json").stdout.splitlines()[-1]) == {"stored": 1, "older": 1, "revised": 1}
    assert [row["text"] for row in stored_rows(empty).values()] == ["3 号"]


def test_foreign_parquet_is_read_or_refused(tmp_path: Path) -> None:
    import pyarrow.parquet

    article_ = {"url": ["https://a.example/1"], "title": ["t"], "text": ["t"]}
    for name, values, error in (
        ("images", pyarrow.array([["https://a.example/1.jpg"]]), "images.0: Input should be a dictionary"),
        ("images", pyarrow.array(["https://a.example/1.jpg"]), "images: Input should be a valid tuple"),
        ("published", pyarrow.array([10**17], pyarrow.timestamp("ms")), "not a readable Parquet file"),
    ):
        pyarrow.parquet.write_table(pyarrow.table({**article_, name: values}), tmp_path / "x.parquet")
        with (tmp_path / "x.parquet").open("rb") as stream, pytest.raises((ValueError, NewsportalError), match=error):
            incoming(next(iter(read_parquet(stream)))[1], NOW)


def test_parquet_is_read_from_a_pipe(filled: Path, tmp_path: Path) -> None:
    run("export", "--format", "parquet", "--out", str(tmp_path / "x.parquet"), "--sources", str(filled))
    with subprocess.Popen(["cat", tmp_path / "x.parquet"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert len(list(read_parquet(process.stdout))) == 5


def test_fetch_time_is_never_in_the_future() -> None:
    """Otherwise no later version would be newer."""
    row = {"url": "https://a.example/1", "title": "t", "text": "t", "fetched": "2099-01-01T00:00:00"}
    assert incoming(row, NOW).item.fetched == NOW


def test_missing_pyarrow_is_reported(filled: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    with pytest.raises(DependencyMissing, match="parquet"):
        run("export", "--format", "parquet", "--out", str(tmp_path / "x.parquet"), "--sources", str(filled))
    assert list(tmp_path.iterdir()) == []


def test_parquet_columns_have_types(filled: Path, tmp_path: Path) -> None:
    import pyarrow.parquet

    run("export", "--format", "parquet", "--out", str(tmp_path / "x.parquet"), "--sources", str(filled))
    table = pyarrow.parquet.read_table(tmp_path / "x.parquet")
    assert str(table.schema.field("published").type) == "timestamp[us, tz=UTC]"
    assert str(table.schema.field("topics").type).startswith("list<")
    assert table.num_rows == 5


def test_plain_omits_missing_values(filled: Path) -> None:
    with closing(open_store(f"sqlite:///{filled.parent}/news.db")) as store:
        assert all("author" not in article_values(article) for article in store.all_articles() if article.author is None)
