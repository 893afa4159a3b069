"""``newsportal pager`` writes one JSON line per page, whatever the page contains."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from newsportal.cli import app

HTML = '<h1>古镇修路</h1><p>路修好了。</p><b>1</b> <a href="830115_2.html">2</a> <a href="830115_2.html">下一页</a>'
URL = "http://news.hedong.example/2026/830115.html"


def run(*arguments: str) -> tuple[int, list[dict[str, object]]]:
    result = CliRunner().invoke(app, ["pager", *arguments])
    return result.exit_code, [json.loads(line) for line in result.stdout.splitlines()]


def test_every_page_has_line_and_unreadable_file_has_error(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(HTML, "utf-8")
    (tmp_path / "a.json").write_text(json.dumps({"url": URL, "next": "gold is not read"}))
    (tmp_path / "b.html.gz").write_bytes(b"\x1f\x8bnot gzip")
    (tmp_path / "c.html").write_text("<p>一页</p>", "utf-8")
    code, (first, second, third) = run(str(tmp_path))
    assert code == 0
    assert first == {"id": "a", "pages": [URL, "http://news.hedong.example/2026/830115_2.html"]}
    assert (second["pages"], "gzip" in str(second["error"])) == ([], True)
    assert third == {"id": "c", "pages": []}


def test_links_are_relative_if_page_url_is_unknown(tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    page.write_text(HTML, "utf-8")
    assert run(str(page))[1][0]["pages"] == ["830115.html", "830115_2.html"]


def test_url_and_output_file_options(tmp_path: Path) -> None:
    page, out = tmp_path / "a.html", tmp_path / "out.jsonl"
    page.write_text(HTML, "utf-8")
    assert run(str(page), "--url", URL, "--out", str(out)) == (0, [])
    assert "830115_2.html" in out.read_text("utf-8")


def test_url_option_is_refused_for_folder(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(HTML, "utf-8")
    assert run(str(tmp_path), "--url", URL) == (2, [])


@pytest.mark.parametrize("body", [b"%PDF-1.7\n<a href=a_2.html>2</a>", b"\xff\xd8\xff\xe0" + bytes(range(20)) * 9])
def test_non_html_file_yields_error(tmp_path: Path, body: bytes) -> None:
    page = tmp_path / "a.html"
    page.write_bytes(body)
    assert run(str(page), "--url", URL) == (0, [{"id": "a", "pages": [], "error": "not-html"}])
