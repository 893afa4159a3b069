"""``newsportal links`` writes one JSON line per page, whatever the page contains."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from newsportal.cli import app

HTML = '<ul><li><a href="/guonei/2026-03/12/830115.html">三部门联合部署春季防汛工作</a><li><a href="/guonei/">国内</a></ul>'


def run(*arguments: str) -> tuple[int, list[dict[str, object]]]:
    result = CliRunner().invoke(app, ["links", *arguments])
    return result.exit_code, [json.loads(line) for line in result.stdout.splitlines()]


def test_every_page_has_line_and_unreadable_file_has_error(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(HTML, "utf-8")
    (tmp_path / "a.json").write_text(json.dumps({"url": "http://news.hedong.example/"}))
    (tmp_path / "b.html.gz").write_bytes(b"\x1f\x8bnot gzip")
    code, (first, second) = run(str(tmp_path))
    assert code == 0
    assert first == {
        "id": "a",
        "links": [
            {"url": "http://news.hedong.example/guonei/2026-03/12/830115.html", "text": "三部门联合部署春季防汛工作", "kind": "article"},
            {"url": "http://news.hedong.example/guonei/", "text": "国内", "kind": "hub"},
        ],
    }
    assert second["id"] == "b"
    assert "gzip" in str(second["error"])


def test_saved_base_url_overrides_base_element(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(f'<base href="http://mirror.example/">{HTML}', "utf-8")
    (tmp_path / "a.json").write_text(json.dumps({"base": "http://news.hedong.example/"}))
    _, (line,) = run(str(tmp_path))
    assert "http://news.hedong.example/guonei/" in json.dumps(line)
    assert "mirror" not in json.dumps(line)


def test_url_and_output_file_options(tmp_path: Path) -> None:
    page, out = tmp_path / "a.html", tmp_path / "out.jsonl"
    page.write_text(HTML, "utf-8")
    assert run(str(page), "--url", "http://news.hedong.example/", "--out", str(out)) == (0, [])
    assert '"url": "http://news.hedong.example/guonei/"' in out.read_text("utf-8")


def test_missing_folder_is_reported(tmp_path: Path) -> None:
    assert run(str(tmp_path / "nowhere"))[0] == 1
