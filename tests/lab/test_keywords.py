"""``newsportal keywords`` writes a line per input line; the TextRank and TF-IDF baselines."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from newsportal.classify.keywords import Keyword
from newsportal.cli import app
from newsportal.errors import NewsportalError
from newsportal_lab.keywords import _ranks, textrank, tfidf

BRIDGE = {"id": "b", "title": "青溪大桥通车", "text": "青溪大桥昨天通车。大桥长三公里。"}


def run(*arguments: str, stdin: bytes = b"") -> tuple[int, list[dict[str, Any]], str]:
    result = CliRunner().invoke(app, ["keywords", *arguments], input=stdin)
    return result.exit_code, [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")], result.output


def test_every_document_has_line_even_if_invalid() -> None:
    lines = [
        json.dumps(BRIDGE, ensure_ascii=False).encode(),
        b"",
        b"{",
        b"[1]",
        b'{"text": 5}',
        b'{"text": null}',
        b"\xff",
        b"[" * 100_000,
        b"{}",
    ]
    code, answers, _ = run("-", "--limit", "2", stdin=b"\n".join(lines))
    assert code == 0
    assert [answer["id"] for answer in answers] == ["b", 3, 4, 5, 6, 7, 8, 9]
    assert ["error" in answer for answer in answers] == [False, True, True, True, False, True, True, True]
    assert answers[6]["error"] == "line 8: JSON is nested too deeply"
    assert {word["word"] for word in answers[0]["keywords"]} == {"大桥", "青溪"}
    assert answers[0]["keywords"][0]["weight"] >= answers[0]["keywords"][1]["weight"] > 0


def test_plain_text_input_and_output_file(tmp_path: Path) -> None:
    page, out = tmp_path / "a.txt", tmp_path / "out.jsonl"
    page.write_text(f"{BRIDGE['title']}\n{BRIDGE['text']}", "utf-8")
    code, answers, _ = run(str(page), "--text", "--out", str(out))
    assert (code, answers) == (0, [])
    assert json.loads(out.read_text("utf-8"))["keywords"][0]["word"] in {"大桥", "青溪"}


def test_algorithm_option() -> None:
    line = json.dumps(BRIDGE, ensure_ascii=False).encode()
    for name in ("tfidf", "textrank"):
        code, answers, _ = run("-", "--algorithm", name, stdin=line)
        assert code == 0
        assert "大桥" in {word["word"] for word in answers[0]["keywords"]}
    code, _, output = run("-", "--algorithm", "magic", stdin=line)
    assert code == 2
    assert "tfidf" in output


def test_missing_file_is_reported(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["keywords", str(tmp_path / "none.jsonl")])
    assert result.exit_code == 1
    assert isinstance(result.exception, NewsportalError)
    assert "none.jsonl: No such file" in str(result.exception)
    assert result.stdout == ""


def test_text_rank_of_star_graph() -> None:
    """In a star of three nodes and d = 0.85 the centre has 0.15 + 0.85 · 2 · WS(leaf), a leaf 0.15 + 0.85 · WS(centre) / 2."""
    ranks = _ranks({"m": {"a", "b"}, "a": {"m"}, "b": {"m"}})
    middle = (0.15 + 0.85 * 2 * 0.15) / (1 - 0.85**2)
    assert ranks["m"] == pytest.approx(middle, abs=0.001)
    assert ranks["a"] == ranks["b"] == pytest.approx(0.15 + 0.85 * middle / 2, abs=0.001)


@pytest.mark.parametrize("method", [textrank, tfidf])
def test_baselines_find_main_subject(method: Callable[[str, str, int], tuple[Keyword, ...]]) -> None:
    text = "大桥工程今天开工。大桥工程由市政公司承建，大桥全长三公里，工程投资十亿元。"
    assert "大桥" in {keyword.word for keyword in method("大桥工程开工", text, 3)}
    assert method("", "，。", 3) == ()
    assert method("", "", 3) == ()
