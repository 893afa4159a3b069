"""``newsportal search`` and ``newsportal export`` as a user runs them, on a store of made-up articles."""

from __future__ import annotations

import csv
import io
import json
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from factories import empty_store, run_command

from newsportal.errors import NewsportalError, StoreUnavailable
from newsportal.items import Article, FoldKey, Image, Link
from newsportal.services.exchange.tables import COLUMNS
from newsportal.store import open_store

NOW = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
EVIL = "桥\x1b[31m<b>通车"
SOURCES = """\
store: sqlite:///data/news.db
topics:
  - name: 交通
    keywords: {any: [桥]}
    engines: [bing_news]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sources.yaml").write_text(SOURCES, encoding="utf-8")
    return tmp_path


@pytest.fixture
def stored(folder: Path) -> Path:
    store = empty_store(folder / "data/news.db")
    for n, (title, topic) in enumerate([(EVIL, "交通"), ("=SUM(A1)", "交通"), ("天气", None)]):
        link = Link(f"https://h{n}.example/{n}", "feed:快讯", topic=topic, summary="-2+3")
        changes = {"site": "河湾网", "images": (Image("https://h.example/i.jpg", width=3),), "published": NOW - timedelta(days=n)}
        store.add(
            Article(link.url, link, NOW, identity=f"{n}", title=title, text="新桥\n通车了", **changes), [FoldKey(f"{n}", "x")], now=NOW
        )  # type: ignore[arg-type]
    store.close()
    return folder


run = partial(run_command, catch=False)


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Shanghai"])
def test_dates_at_the_ends_of_the_calendar(stored: Path, zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(open_store(f"sqlite:///{stored}/data/news.db")) as store:
        for n, moment in enumerate((datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, tzinfo=UTC))):
            link = Link(f"https://edge.example/{n}", "feed:快讯")
            edge = Article(link.url, link, NOW, identity=f"edge{n}", title="边缘", text="正文", published=moment)
            store.add(edge, now=NOW)
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert "2 found" in run("search", "边缘").output
        assert run("search", "新桥", "--until", "9999-12-31").exit_code == 0
    finally:
        monkeypatch.undo()
        time.tzset()


def test_search_output_has_no_control_characters(stored: Path) -> None:
    found = run("search", "桥")
    assert found.exit_code == 0
    assert "桥 [31m<b>通车" in found.stdout
    assert "\x1b[31m" not in found.stdout
    assert "3 found" in found.stdout
    assert (stored / "data" / "news.db.index").exists()


def test_search_as_json(stored: Path) -> None:
    lines = [json.loads(line) for line in run("search", "桥", "--json", "--limit", "2").stdout.splitlines()]
    assert len(lines) == 2
    assert lines[0]["title"] == EVIL
    assert lines[0]["url"] == "https://h0.example/0"
    assert lines[0]["published"] == "2026-03-01T08:00:00+00:00"
    assert "<mark>" not in lines[0]["snippet"]


def test_search_filters_by_time_and_topic(stored: Path) -> None:
    assert "1 found" in run("search", "桥", "--since", "2026-03-01T00:00+08:00", "--topic", "交通").stdout
    assert "nothing found" in run("search", "桥", "--topic", "没有").stdout
    assert run("search", "桥", "--since", "gestern").exit_code == 2


def test_search_filters_by_site_category_and_end(stored: Path) -> None:
    assert "3 found" in run("search", "桥", "--site", "河湾网").stdout
    assert "nothing found" in run("search", "桥", "--site", "河湾").stdout
    assert "nothing found" in run("search", "桥", "--category", "社会").stdout
    assert "1 found" in run("search", "桥", "--until", "2026-02-27").stdout
    assert "1 found" in run("search", "桥", "--until", "2026-02-28T08:00Z").stdout
    assert "2 found" in run("search", "桥 until:2026-02-28").stdout
    assert run("search", "桥", "--until", "morgen").exit_code == 2


def test_search_sorting_facets_and_suggestions(stored: Path) -> None:
    lines = [json.loads(line) for line in run("search", "桥", "--sort", "time", "--no-collapse", "--json").stdout.splitlines()]
    assert [line["url"][-1] for line in lines] == ["0", "1", "2"]
    facets = json.loads(run("search", "桥", "--facets", "--json").stdout)
    assert (facets["total"], facets["site"], facets["topic"]) == (3, {"河湾网": 3}, {"交通": 2})
    assert list(facets["day"]) == ["2026-03-01", "2026-02-28", "2026-02-27"]
    assert "河湾网" in run("search", "桥", "--facets").stdout
    assert run("search", "通", "--suggest").stdout.splitlines() == ["通车"]
    assert json.loads(run("search", "交", "--suggest", "--json").stdout) == "交通"


def test_index_status_and_rebuild(stored: Path) -> None:
    before = json.loads(run("index", "status", "--json").stdout)
    assert (before["position"], before["articles"]) == (0, 0)
    assert before["behind"] > 0
    assert "behind the store" in run("index").stdout
    assert "3 articles" in run("index", "rebuild").stdout
    after = json.loads(run("index", "--json").stdout)
    assert (after["articles"], after["behind"]) == (3, 0)
    assert "news.db.index" in after["says"]


def test_missing_store_is_reported(folder: Path) -> None:
    with pytest.raises(StoreUnavailable, match="newsportal crawl"):
        run("search", "桥")


def test_export_jsonl(stored: Path) -> None:
    rows = [json.loads(line) for line in run("export").stdout.splitlines()]
    assert {row["title"] for row in rows} == {EVIL, "=SUM(A1)", "天气"}
    row = next(row for row in rows if row["title"] == EVIL)
    assert (row["text"], row["topics"], row["site"], row["summary"]) == ("新桥\n通车了", ["交通"], "河湾网", "-2+3")
    assert row["images"] == [{"url": "https://h.example/i.jpg", "width": 3}]
    assert row["story"] == row["id"]
    assert "author" not in row


def test_csv_export_has_no_formulas(stored: Path) -> None:
    assert run("export", "--format", "csv", "--out", "out/数据.csv").exit_code == 0
    text = (stored / "out" / "数据.csv").read_bytes().decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert tuple(rows[0]) == COLUMNS
    assert {row["title"] for row in rows} == {EVIL, "'=SUM(A1)", "天气"}
    assert {row["summary"] for row in rows} == {"'-2+3"}
    assert list((stored / "out").iterdir()) == [stored / "out" / "数据.csv"]


def test_export_filters(stored: Path) -> None:
    assert len(run("export", "--topic", "交通").stdout.splitlines()) == 2
    assert len(run("export", "--since", "2026-02-28").stdout.splitlines()) == 2
    assert len(run("export", "--until", "2026-02-28").stdout.splitlines()) == 1
    assert len(run("export", "--since", "2026-02-28", "--until", "2026-03-01").stdout.splitlines()) == 1
    assert len(run("export", "--source", "快讯").stdout.splitlines()) == 3
    assert len(run("export", "--source", "feed:快讯", "--out", "-").stdout.splitlines()) == 3
    assert run("export", "--source", "讯").stdout == ""
    assert run("export", "--category", "体育").stdout == ""
    assert run("export", "--until", "gestern").exit_code == 2


def test_unknown_format_is_refused(stored: Path) -> None:
    assert run("export", "--format", "xml").exit_code == 2


def test_csv_without_byte_order_mark(stored: Path) -> None:
    assert run("export", "--format", "csv", "--no-bom").stdout_bytes.startswith(b"id,")
    assert run("export", "--format", "csv").stdout_bytes.startswith("\ufeffid,".encode())


def test_unwritable_path_is_reported(stored: Path) -> None:
    (stored / "file").write_text("")
    with pytest.raises(NewsportalError, match="cannot be written"):
        run("export", "--out", "file/x.csv")
