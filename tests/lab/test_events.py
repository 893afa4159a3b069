"""``newsportal events`` writes a line per input line; ``evaluate events`` scores its answers with B-cubed."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from newsportal.cli import app
from newsportal_lab.evaluate.events import b_cubed

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "text" / "events.jsonl.gz"
FLOOR = 0.985  # B-cubed F1 on the development data, with the threshold tuned on the other events

FIRE = "青河市老城的一家灯笼作坊昨夜起火，消防员用了三个小时扑灭灯笼作坊的大火，作坊主赵远山受了轻伤。"
TRIAL = "灯笼作坊失火案今天在青河市法院开庭，作坊主赵远山承认没有检查电线，检察官说灯笼作坊的火灾本可避免。"
CATCH = "沿海三县今年的海带丰收，渔民天不亮就出海，把一串串海带从绳子上割下来，运到码头边的晒场。"
ROWS = [
    {"id": "1", "title": "老城灯笼作坊起火", "text": FIRE, "published": "2026-03-01T08:00:00+08:00", "event": "fire"},
    {"id": "2", "title": "海带丰收", "text": CATCH, "published": "2026-03-20T08:00:00+08:00", "event": "catch"},
    {"id": "3", "title": "作坊主当庭认错", "text": TRIAL, "published": "2026-09-01T08:00:00+08:00", "event": "fire"},
]


def lines_of(rows: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


def run(*arguments: str, stdin: bytes = b"") -> tuple[int, list[dict[str, Any]], str]:
    result = CliRunner().invoke(app, list(arguments), input=stdin)
    return result.exit_code, [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")], result.output


def test_documents_have_event_and_deciding_words() -> None:
    code, answers, _ = run("events", "-", stdin=lines_of(ROWS))
    assert code == 0
    assert [(answer["id"], answer["event"]) for answer in answers] == [("1", "1"), ("2", "2"), ("3", "1")]
    assert {"灯笼", "作坊"} & set(answers[2]["words"])


def test_invalid_line_yields_error_and_run_continues(tmp_path: Path) -> None:
    file = tmp_path / "docs.jsonl"
    file.write_bytes(b"{\n[1]\n\n" + lines_of(ROWS[:1]))
    code, answers, _ = run("events", str(file))
    assert code == 0
    assert ["error" in answer for answer in answers] == [True, True, False]
    assert answers[0]["error"].startswith("line 1")
    assert run("events", str(tmp_path / "none"))[0] == 1


def test_b_cubed_averages_over_documents_with_events() -> None:
    gold = {"1": "a", "2": "a", "3": "b", "4": None}
    score = b_cubed(gold, {"1": "x", "2": "x", "3": "x", "4": "x"})
    assert (score.precision, score.recall) == pytest.approx(((2 / 4 + 2 / 4 + 1 / 4) / 3, 1.0))
    score = b_cubed(gold, {"1": "x", "2": "y", "3": "z", "4": "w"})
    assert (score.precision, score.recall) == pytest.approx((1.0, (0.5 + 0.5 + 1.0) / 3))
    assert b_cubed(gold, {"1": "x", "2": "x", "3": "z", "4": "w"}, only="a").f1 == 1.0


def test_events_are_compared_with_baselines(tmp_path: Path) -> None:
    file = tmp_path / "docs.jsonl.gz"
    file.write_bytes(gzip.compress(lines_of(ROWS)))
    code, rows, output = run("evaluate", "events", str(file), "--json")
    assert code == 0, output
    assert [row["algorithm"] for row in rows] == ["events", "nearest", "centroid", "cosine"]
    assert rows[0]["f1"] == 1.0
    assert run("evaluate", "events", str(file), "--leave-out", "--json")[1][0]["f1"] == 1.0


@pytest.mark.parametrize(
    ("text", "message"),
    [(b"", "no document has an event"), (b"{\n", "line 1"), (lines_of([{"id": "1", "title": "a"}]), "no document has an event")],
)
def test_invalid_gold_is_reported(tmp_path: Path, text: bytes, message: str) -> None:
    file = tmp_path / "docs.jsonl"
    file.write_bytes(text)
    result = CliRunner().invoke(app, ["evaluate", "events", str(file)])
    assert result.exit_code == 1
    assert message in str(result.exception)


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.skipif(not DATA.exists(), reason="needs the documents of events in ../shared/data")
def test_quality_on_real_news() -> None:
    code, rows, _ = run("evaluate", "events", str(DATA), "--leave-out", "--json")
    assert code == 0
    assert rows[0]["f1"] >= FLOOR
