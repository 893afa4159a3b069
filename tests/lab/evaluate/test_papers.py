"""``newsportal evaluate papers``: the figures of each paper beside those of its method and of the default, on the same data."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from newsportal.cli import app
from newsportal.dedup import FINDERS
from newsportal.extractors import EXTRACTORS
from newsportal.extractors.forum import POST_EXTRACTORS
from newsportal_lab.evaluate.papers import MEASURES, METHODS, USUAL, kinds_of, read_pages
from newsportal_lab.evaluate.running import VARIANTS, scores_of

SENTENCES = "今天早上六点，滨海新线的首班列车从东站出发，车厢里坐满了赶早的市民，站台上挂着红色的横幅，他们说这是等了十年的一天。"


def run(folder: Path, *more: str) -> Any:
    return CliRunner().invoke(app, ["evaluate", "papers", str(folder), *more])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pages = tmp_path / "网页" / "甲"
    pages.mkdir(parents=True)
    for number in range(3):
        lines = [f"{SENTENCES}这是第{number}条消息。"] + [
            f"第{place}位乘客说，列车在第{number}站停了，大家都很高兴。" for place in range(9)
        ]
        body = f"<div class=text>{''.join(f'<p>{line}</p>' for line in lines)}</div>"
        html = f"<html><head><title>新线通车{number}</title></head><body><h1>新线通车{number}</h1>{body}</body></html>"
        (pages / f"{number}.html").write_text(html, "utf-8")
        gold = {"url": f"https://a.example/2024/{number}.html", "title": f"新线通车{number}", "text": "\n".join(lines)}
        (pages / f"{number}.json").write_text(json.dumps(gold), "utf-8")
    (tmp_path / "转载").mkdir()
    documents = [
        ("1", "新线通车", SENTENCES * 4, "a"),
        ("2", "新线通车", SENTENCES * 4, "a"),
        ("3", "港口开放", "港口，夜里也开放了。" * 9, "b"),
    ]
    rows = [{"id": id, "title": title, "text": text, "cluster": cluster} for id, title, text, cluster in documents]
    (tmp_path / "转载" / "docs.jsonl.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    return tmp_path


def test_methods_exist_and_cover_every_paper() -> None:
    names = {"summaries": EXTRACTORS, "extraction": {*EXTRACTORS, *VARIANTS}, "reposts": FINDERS, "forum": POST_EXTRACTORS}
    assert {method.paper for method in METHODS} == set("ABCDE")
    assert set(MEASURES) == set(USUAL)
    for method in METHODS:
        assert {method.method, method.default} <= set(names.get(method.kind, {method.method: "", method.default: ""}))


def test_published_figures_are_compared_on_same_data(folder: Path) -> None:
    result = run(folder, "--json")
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    found = {(row["paper"], row["section"], row["measure"]): row for row in rows}
    cevc = found["E", "2.3", "f1"]
    expected = {name: round(100 * (scores_of(folder / "网页" / "甲", name).f1 or 0), 2) for name in ("cevc", "best")}
    assert (cevc["published"], cevc["ours"], cevc["default"]) == (95.8, expected["cevc"], expected["best"])
    assert (cevc["data"], cevc["items"], cevc["default_method"], cevc["counted"]) == ("甲", 3, "best", "1,270 pages")
    assert found["A", "3.2", "found"]["ours"] == 100.0, "the beginning of a gold text replaces its summary"
    assert (found["A", "3.3", "recall"]["published"], found["A", "3.3", "recall"]["ours"]) == (None, 100.0)
    assert (found["B", "1.4", "precision"]["ours"], found["B", "1.4", "precision"]["default"]) == (100.0, 100.0)
    assert {row["paper"] for row in rows} == set("ABCDE")


def test_precision_among_found_pages_is_separate(folder: Path) -> None:
    figures, pages = read_pages(folder / "网页" / "甲", "cevc", summaries=True)
    assert pages == 3
    assert figures["right_of_found"] == figures["right"]
    (folder / "网页" / "甲" / "9.html").write_text("<html><body></body></html>", "utf-8")
    (folder / "网页" / "甲" / "9.json").write_text(json.dumps({"text": SENTENCES}), "utf-8")
    fewer, _ = read_pages(folder / "网页" / "甲", "cevc")
    assert (fewer["right"], fewer["right_of_found"], fewer["found"]) == (0.75, 1.0, 0.75)


def test_table_names_data_and_method(folder: Path) -> None:
    text = " ".join(run(folder).stdout.split())
    assert "published: 1,270 pages" in text
    assert "best 100.0" in text


def test_data_kinds_are_detected_and_unreadable_data_skipped(folder: Path) -> None:
    (folder / "帖子").mkdir()
    (folder / "帖子" / "1.json").write_text(json.dumps({"posts": [{"text": "坐了。"}]}), "utf-8")
    (folder / "分类").mkdir()
    for name in ("train.jsonl", "test.jsonl"):
        (folder / "分类" / name).write_text('{"text": 1}\n', "utf-8")
    (folder / "log.csv").write_text("user,item\n1,2\n", "utf-8")
    kinds = kinds_of(folder)
    assert {kind: {path.name for path in paths} for kind, paths in kinds.items()} == {
        "summaries": {"甲"},
        "extraction": {"甲"},
        "reposts": {"转载"},
        "classify": {"分类"},
        "forum": {"帖子"},
        "clicks": {"log.csv"},
    }
    result = run(folder, "--json")
    assert result.exit_code == 0
    assert "log.csv is left out" in result.stderr
    assert "分类 is left out" in result.stderr
    assert '"method": "chi_cosine"' not in result.stdout


def test_click_logs_are_scored_by_next_story(tmp_path: Path) -> None:
    views = [(f"r{reader}", f"s{(reader + step) % 7}", step * 24 + reader) for reader in range(8) for step in range(5)]
    lines = [f"{reader},{story},2026-03-{1 + hour // 24:02}T{hour % 24:02}:00:00Z" for reader, story, hour in views]
    (tmp_path / "log.csv").write_text("reader,story,at\n" + "\n".join(lines) + "\n", "utf-8")
    result = run(tmp_path, "--json")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(row["paper"], row["section"], row["measure"]) for row in rows] == [("C", "2.3.2", "hit"), ("C", "2.3.2", "ndcg")]
    assert all(0 <= row["ours"] <= 100 and row["published"] is None for row in rows)


def test_folder_without_data_is_reported(tmp_path: Path) -> None:
    assert "no gold data" in str(run(tmp_path).exception)
