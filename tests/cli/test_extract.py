"""``newsportal extract``: one line per page, including unreadable pages."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from newsportal.cli import app

TEXT = "今天早上六点，滨海新线的首班列车从东站出发，车厢里坐满了赶早的市民。"
HTML = (
    "<title>滨海新线今晨通车_滨海网</title><h1>滨海新线今晨通车</h1><p>2024-03-05 08:30 来源：滨海日报</p>"
    f"<div><p>{TEXT}</p><p>{TEXT[::-1]}</p></div>"
)
KEYS = "id url title text kind kind_probability published author source language images algorithm pages confidence".split()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pages = tmp_path / "页面 1"
    pages.mkdir()
    (pages / "a.html").write_bytes(HTML.encode("gb18030"))
    gold = {"url": "https://a.example/1", "title": "滨海新线今晨通车", "date": "2024-03-05", "text": f"{TEXT}\n{TEXT[::-1]}"}
    (pages / "a.json").write_text(json.dumps(gold))
    (pages / "b.html.gz").write_bytes(gzip.compress(b"<title>404 not found</title>"))
    (pages / "c.html.gz").write_bytes(b"\x1f\x8bbroken")
    return pages


def run(*arguments: str, stdin: bytes | None = None) -> list[dict[str, object]]:
    result = CliRunner().invoke(app, list(arguments), input=stdin)
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_folder_gives_one_line_per_page(folder: Path) -> None:
    article, missing, broken = run("extract", str(folder))
    assert list(article) == KEYS
    assert (article["id"], article["url"], article["title"], article["algorithm"]) == (
        "a",
        "https://a.example/1",
        "滨海新线今晨通车",
        "best",
    )
    assert article["text"] == f"{TEXT}\n{TEXT[::-1]}"
    assert 0 < float(str(article["confidence"])) <= 1
    assert broken["confidence"] is None
    assert (article["kind"], missing["kind"], broken["kind"]) == ("article", "none", None)
    assert 0.5 < float(str(article["kind_probability"])) <= 1
    assert article["published"] == "2024-03-05T08:30:00+08:00"
    assert (article["source"], article["language"]) == ("滨海日报", "zh")
    assert str(missing["error"]).startswith("soft-404")
    assert "gzip" in str(broken["error"])
    assert [*KEYS, "error"] == list(broken)


def test_file_stream_and_out_give_the_same(folder: Path, tmp_path: Path) -> None:
    (from_file,) = run("extract", str(folder / "a.html"), "--url", "https://b.example/2", "--algorithm", "cevc")
    (from_stream,) = run("extract", "-", "--url", "https://b.example/2", "-a", "cevc", stdin=HTML.encode())
    assert run("extract", str(folder / "a.html"), "-u", "https://b.example/2", "-a", "cevc", "-o", str(tmp_path / "out.jsonl")) == []
    assert json.loads((tmp_path / "out.jsonl").read_text("utf-8")) == from_file == from_stream | {"id": "a"}
    assert (from_file["url"], from_file["algorithm"]) == ("https://b.example/2", "cevc")


def test_invalid_usage_is_reported(tmp_path: Path) -> None:
    refused = CliRunner().invoke(app, ["extract", str(tmp_path), "--algorithm", "nonsense"])
    assert refused.exit_code == 2
    assert "best, " in refused.output
    nowhere = CliRunner().invoke(app, ["extract", str(tmp_path / "nowhere")])
    assert nowhere.exit_code == 1
    assert "no such file" in nowhere.output
    host = CliRunner().invoke(app, ["extract", "news.example.org/1.html"])
    assert host.exit_code == 1
    assert "begins with http://" in host.output
    url = CliRunner().invoke(app, ["extract", "-", "--url", "news.example.org"], input=HTML.encode())
    assert url.exit_code == 2
    assert "http://" in url.output


def test_url_option_is_refused_for_a_folder(folder: Path) -> None:
    result = CliRunner().invoke(app, ["extract", str(folder), "--url", "https://b.example/2"], env={"COLUMNS": "200"})
    assert (result.exit_code, result.stdout) == (2, "")
    assert "<id>.json" in result.output


def test_folder_without_pages_is_reported(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("none")
    empty = CliRunner().invoke(app, ["extract", str(tmp_path)])
    assert empty.exit_code == 1
    assert "<id>.html" in empty.output


def test_unwritable_output_is_reported_before_reading(folder: Path, tmp_path: Path) -> None:
    for option, remedy in (("--library", "create it first"), ("--out", "no/such/folder")):
        result = CliRunner().invoke(app, ["extract", str(folder), option, str(tmp_path / "no/such/folder/file")])
        assert result.exit_code
        assert result.stdout == ""
        assert remedy in " ".join(re.sub("[│\n]", "", result.output).split())
        assert "Errno" not in result.output
