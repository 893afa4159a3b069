"""``evaluate summaries`` scores daily summaries by the later round-up of the same event, beside first and random sentences."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from newsportal.cli import app

ROWS = [
    ("1", "渡轮下水", "远山船厂的新渡轮今天下水，渡轮载客三百人。天气很好，岸边有人放风筝。", "2026-04-01"),
    ("2", "渡轮首航", "渡轮今天首航，船长李林说风浪不大。渡轮票价十元，老人半价。", "2026-05-01"),
    ("3", "渡轮事件始末回顾", "新渡轮四月下水，载客三百人，五月首航，票价十元。" * 15, "2026-05-03"),
]


def run(file: Path, *words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["evaluate", "summaries", str(file), *words])
    return result.exit_code, result.output


def write_documents(folder: Path, rows: list[tuple[str, str, str, str]]) -> Path:
    file = folder / "docs.jsonl"
    lines = (
        {"id": id, "title": title, "text": text, "published": f"{day}T08:00:00+08:00", "event": "渡轮"} for id, title, text, day in rows
    )
    file.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines), "utf-8")
    return file


def test_summaries_are_scored_by_round_up(tmp_path: Path) -> None:
    code, output = run(write_documents(tmp_path, ROWS), "--json")
    rows = {row["algorithm"]: row for row in map(json.loads, output.splitlines())}
    assert (code, rows["summaries"]["round_ups"]) == (0, 1)
    assert rows["summaries"]["coverage"] >= rows["lead-3"]["coverage"] > 0
    assert "票价十元" in run(write_documents(tmp_path, ROWS), "--sample", "9")[1]


def test_missing_round_up_is_an_error(tmp_path: Path) -> None:
    code, _ = run(write_documents(tmp_path, ROWS[:2]))
    assert code == 1
