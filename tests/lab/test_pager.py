"""``newsportal pager`` writes one JSON line a page, whatever the pages are."""

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


def test_a_folder_gives_a_line_a_page_and_a_bad_file_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(HTML, "utf-8")
    (tmp_path / "a.json").write_text(json.dumps({"url": URL, "next": "gold is not read"}))
    (tmp_path / "b.html.gz").write_bytes(b"\x1f\x8bnot gzip")
    (tmp_path / "c.html").write_text("<p>一页</p>", "utf-8")
    code, (first, second, third) = run(str(tmp_path))
    assert code == 0
    assert first == {"id": "a", "pages": [URL, "http://news.hedong.example/2026/830115_2.html"]}
    assert (second["pages"], "gzip" in str(second["error"])) == ([], True)
    assert third == {"id": "c", "pages": []}


def test_addresses_are_relative_where_the_own_is_not_known(tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    page.write_text(HTML, "utf-8")
    assert run(str(page))[1][0]["pages"] == ["830115.html", "830115_2.html"]


def test_an_address_can_be_given_and_the_lines_written_to_a_file(tmp_path: Path) -> None:
    page, out = tmp_path / "a.html", tmp_path / "out.jsonl"
    page.write_text(HTML, "utf-8")
    assert run(str(page), "--url", URL, "--out", str(out)) == (0, [])
    assert "830115_2.html" in out.read_text("utf-8")


def test_one_address_is_not_that_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(HTML, "utf-8")
    assert run(str(tmp_path), "--url", URL) == (2, [])


@pytest.mark.parametrize("body", [b"%PDF-1.7\n<a href=a_2.html>2</a>", b"\xff\xd8\xff\xe0" + bytes(range(20)) * 9])
def test_what_is_no_page_gives_an_error(tmp_path: Path, body: bytes) -> None:
    page = tmp_path / "a.html"
    page.write_bytes(body)
    assert run(str(page), "--url", URL) == (0, [{"id": "a", "pages": [], "error": "not-html"}])
