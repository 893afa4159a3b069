"""``newsportal posts`` writes one JSON line per page, whatever the page contains."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from newsportal.cli import app

POST = """<div class="post" id="p{0}"><a class="username" href="/member.php?u={0}">{1}</a><span class="date">2024-3-5 08:3{0}</span>
<em>{2}楼</em><div class="content"><blockquote>{3}</blockquote>{4}</div></div>"""
HTML = "<html><body>{}</body></html>".format(
    POST.format(1, "河边的芦苇", 1, "", "滨海新线今天通车了，有人坐过首班车吗？")
    + POST.format(2, "早班司机", 2, "有人坐过？", "坐了，人不多。")
)


def run(*arguments: str, stdin: str | None = None) -> tuple[int, list[dict[str, Any]]]:
    result = CliRunner().invoke(app, ["posts", *arguments], input=stdin)
    return result.exit_code, [json.loads(line) for line in result.stdout.splitlines()]


def test_every_page_has_line_and_page_without_posts_has_error(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(HTML, "utf-8")
    (tmp_path / "a.json").write_text(json.dumps({"url": "http://bbs.hedong.example/thread-1-1-1.html"}))
    (tmp_path / "b.html").write_text("<p>x</p>")
    (tmp_path / "c.html.gz").write_bytes(b"\x1f\x8bnot gzip")
    code, (first, second, third) = run(str(tmp_path))
    assert code == 0
    assert first["id"] == "a"
    assert first["posts"][1] == {
        "author": "早班司机",
        "date": "2024-03-05T08:32:00+08:00",
        "date_text": "2024-3-5 08:32",
        "text": "有人坐过？\n坐了，人不多。",
        "block_text": "早班司机2024-3-5 08:32 2楼\n有人坐过？\n坐了，人不多。",
        "floor": 2,
        "xpath": "/html/body/div[2]",
        "own_text": "坐了，人不多。",
        "quoted": "有人坐过？",
        "images": [],
        "opening": False,
        "post_id": None,
    }
    assert (second["posts"], third["posts"]) == ([], [])
    assert "no-posts" in second["error"]
    assert "gzip" in third["error"]


def test_standard_input_and_output_file(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert run("-", "--algorithm", "pean", "--out", str(out), stdin=HTML) == (0, [])
    (line,) = map(json.loads, out.read_text("utf-8").splitlines())
    assert [post["date_text"] for post in line["posts"]] == ["2024-3-5 08:31", "2024-3-5 08:32"]


def test_unknown_algorithm_and_missing_page_are_reported(tmp_path: Path) -> None:
    assert run(str(tmp_path), "--algorithm", "none")[0] == 2
    assert run(str(tmp_path / "none"))[0] == 1
