"""``newsportal evaluate recommend``: methods compared on a view log."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from newsportal import cli
from newsportal.store import open_store
from newsportal_lab.evaluate import rankers, ranking, recommend

DAWN = datetime(2026, 3, 1, tzinfo=UTC)
Run = Callable[..., Result]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return a log of ten days and thirty readers of two tastes, in the format of ``recommend export``."""
    chance = random.Random(1)
    rows = []
    for number in range(60):
        for reader in range(30):
            if chance.random() < (0.5 if number % 2 == reader % 2 else 0.03):
                at = DAWN + timedelta(hours=4 * number + 40 * chance.random())
                rows.append({"reader": f"r{reader}", "story": f"s{number}", "seen": 1, "pictures": 1, "at": at.isoformat()})
    file = tmp_path / "log.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return file


@pytest.fixture
def run() -> Run:
    return lambda *words: CliRunner().invoke(cli.app, ["evaluate", "recommend", *map(str, words)], catch_exceptions=False)


def test_every_method_is_scored_at_every_cut(run: Run, log: Path) -> None:
    result = run(log, "--json", "--questions", "20")
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(row["cut"], row["method"]) for row in rows] == [(cut, name) for cut in ranking.CUTS for name in recommend.METHOD_NAMES]
    for row in rows:
        assert all(0 <= row[figure] <= 1 for figure in ("recall", "ndcg", "hit"))
        assert 0 < row["questions"] <= 20
        assert {"ms_median", "ms_p95", "fit_seconds"} <= row.keys()
    assert max(row["recall"] for row in rows if row["method"] == "items") > 0.3, "the two tastes are distinguished"


def test_offered_methods_match_registry() -> None:
    assert set(recommend.METHOD_NAMES) == set(rankers.METHODS)


def test_table_and_self_contained_report(run: Run, log: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    result = run(log, "-m", "popular", "-m", "items", "--kind", "next", "--html", report)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert len(lines) == 3 * 4
    assert lines[0].startswith("50% of the views known, ")
    assert [line.split()[0] for line in lines[2:4]] == ["popular", "items"]
    page = report.read_text("utf-8")
    assert page.count("<h2>") == 3
    assert page.count("<rect") == 6
    assert "http" not in page.replace("http-equiv", "")


def test_log_of_store_is_default(run: Run, tmp_path: Path) -> None:
    (tmp_path / "sources.yaml").write_text("store: sqlite:///news.db\n", "utf-8")
    open_store(f"sqlite:///{tmp_path}/news.db").close()
    result = run("--sources", tmp_path / "sources.yaml")
    assert result.exit_code == 1
    assert "0 views are too few" in result.stderr
    assert "at least 100" in result.stderr


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--method", "magic"], 2, "no method is called 'magic'"),
        (["--kind", "soon"], 2, "neither window nor next"),
        (["nowhere.jsonl"], 1, "nowhere.jsonl"),
    ],
)
def test_invalid_arguments_are_reported(run: Run, words: list[str], code: int, message: str) -> None:
    result = run(*words)
    assert result.exit_code == code
    assert message in " ".join(result.stderr.replace("│", " ").split())
    assert "Traceback" not in result.stderr


def test_invalid_log_line_is_reported(run: Run, log: Path) -> None:
    log.write_text(log.read_text("utf-8") + '{"reader": "r1"}\n', "utf-8")
    result = run(log)
    assert result.exit_code == 1
    assert "log.jsonl" in result.stderr


def test_too_few_views_are_refused(run: Run, log: Path) -> None:
    log.write_text("".join(log.read_text("utf-8").splitlines(keepends=True)[:50]), "utf-8")
    result = run(log, "--json")
    assert result.exit_code == 1
    assert "50 views are too few" in result.stderr
    assert result.stdout == ""
