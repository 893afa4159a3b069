"""``newsportal results`` writes one JSON line per page, an error line for a bad page, and continues."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from newsportal.cli import app

FIXTURES = Path(__file__).parents[1] / "extractors" / "lists" / "engines" / "fixtures"


def run(*arguments: str | Path) -> list[dict[str, Any]]:
    result = CliRunner().invoke(app, ["results", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_result_page_of_engine() -> None:
    (row,) = run("--engine", "baidu_news", FIXTURES / "baidu_news-2020.html")
    assert row["id"] == "baidu_news-2020"
    assert row["results"][1] == {
        "title": "山城轨道交通新线开通 串起五处景点",
        "link": "http://www.shancheng.example.com/a/20240430/2.shtml",
        "site": "山城晚报",
        "summary": "新线全长二十三公里，设站十五座，沿线串起五处知名景点，市民出行时间平均缩短二十分钟...",
        "date": "昨天18:37",
    }


def test_folder_with_bad_pages_is_read_to_end(tmp_path: Path) -> None:
    shutil.copy(FIXTURES / "bing_web-2024.html", tmp_path / "good.html")
    (tmp_path / "broken.html.gz").write_bytes(b"\x1f\x8bno gzip")
    (tmp_path / "captcha.html").write_text("<title>百度安全验证</title><p>请输入验证码</p>", encoding="utf-8")
    (tmp_path / "zero.html.gz").write_bytes(gzip.compress(b""))
    rows = {row["id"]: row for row in run(tmp_path, "--engine", "bing_web")}
    assert len(rows["good"]["results"]) == 4
    assert "broken gzip" in rows["broken"]["error"]
    assert "captcha" in rows["captcha"]["error"]
    assert rows["zero"]["results"] == []


def test_saved_url_makes_links_absolute(tmp_path: Path) -> None:
    shutil.copy(FIXTURES / "sogou_web-2015.html", tmp_path / "s.html")
    (tmp_path / "s.json").write_text(json.dumps({"url": "https://www.sogou.com/web?query=x"}), encoding="utf-8")
    (row,) = run(tmp_path)
    assert row["engine"] == "sogou_web"
    assert row["results"][0]["link"].startswith("https://www.sogou.com/link?url=")


def test_engine_detection_and_output_file(tmp_path: Path) -> None:
    assert run(FIXTURES, "--out", tmp_path / "out.jsonl") == []
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(rows) == len(list(FIXTURES.glob("*.html")))
    assert all(len(row["results"]) >= 4 for row in rows), [row["id"] for row in rows if len(row["results"]) < 4]


@pytest.mark.parametrize("arguments", [["--engine", "altavista", "x.html"], ["/nowhere/at/all"]])
def test_invalid_arguments_are_reported(arguments: list[str]) -> None:
    result = CliRunner().invoke(app, ["results", *arguments])
    assert result.exit_code != 0
    assert "altavista" in result.output or "no such file" in result.output
