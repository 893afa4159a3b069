"""``newsportal recommend``: from a log of views to recommendations for a reader."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from factories import empty_store
from typer.testing import CliRunner

from newsportal import cli
from newsportal.errors import ClicksError
from newsportal.items import Article, Link

NOW = datetime.now(UTC)
Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Function that runs a command on a store of forty stories of two kinds."""
    (tmp_path / "sources.yaml").write_text("store: sqlite:///news.db\n", "utf-8")
    store = empty_store(tmp_path / "news.db")
    for number in range(40):
        kind, at = ("足球 比赛", "菜谱 厨房")[number % 2], NOW - timedelta(hours=number + 1)
        link = Link(f"https://news.example/{number}", f"feed:{number % 2}")
        text = "".join(chr(0x4E00 + (number * 977 + place * (331 + number)) % 20_000) for place in range(240))
        article = Article(link.url, link, at, identity=f"news.example/{number}", title=f"{kind} {text[:4]}", text=text, published=at)
        store.add(article, now=at)
    store.close()

    def command(*words: str, code: int = 0, **options: Any) -> str:
        ending = ["--sources", str(tmp_path / "sources.yaml")]
        result = CliRunner().invoke(cli.app, ["recommend", *words, *ending], catch_exceptions=False, **options)
        assert result.exit_code == code, result.output
        return result.stdout

    return command


def log(readers: int = 30) -> str:
    """Return a log in which each reader views stories of one kind."""
    rows = []
    for reader in range(readers):
        for step in range(6):
            number = reader % 2 + 2 * ((reader * 3 + step * 4) % 15)
            at = NOW - timedelta(minutes=reader * 7 + (5 - step) * 2)
            rows.append({"reader": f"r{reader}", "story": f"https://news.example/{number}?utm_source=x", "seen": 3, "pictures": 4})
            rows[-1]["at"] = at.isoformat()
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_recommendations_without_readers(run: Run) -> None:
    assert "nothing was fitted yet" in run("show")
    rows = [json.loads(line) for line in run("for", "--new", "--n", "5", "--json").splitlines()]
    assert len(rows) == 5
    assert {row["reason_story"] for row in rows} == {None}
    assert run("export") == ""
    row = json.loads(run("fit", "--json"))
    assert (row["views"], row["readers"], row["by"]) == (0, 0, "embedded")
    assert len(run("for", "--new", "-n", "5").splitlines()) == 10


def test_recommendations_from_an_imported_log(run: Run, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(log(), "utf-8")
    counts = json.loads(run("import", str(tmp_path / "log.jsonl"), "--json"))
    assert counts == {"views": 180, "taken": 180, "unknown": 0, "old": 0, "off": 0}
    assert "learnt from 180 views of 30 readers" in run("fit")
    history = {json.loads(line)["story"] for line in run("export").splitlines() if json.loads(line)["reader"] == "r1"}
    rows = [json.loads(line) for line in run("for", "r1", "--n", "5", "--json").splitlines()]
    assert len(rows) == 5
    assert not history & {row["story"] for row in rows}
    assert sum(row["title"].startswith("菜谱") for row in rows) >= 4, "the kind that the reader views; one recommendation may explore"
    assert any(row["reason_story"] in history for row in rows)
    assert "because of 《菜谱" in run("for", "r1")
    text = run("show")
    assert "180 views of 30 readers" in text
    assert "alpha: " in text
    assert "views by hours since publication; | is W(t), λ = " in text
    data = json.loads(run("show", "--json"))
    assert (data["views"], data["facts"]["views"], sum(data["ages"]) > 0, len(data["ages"])) == (180, 180, True, 48)
    assert sum(month["views"] for month in data["months"]) == 180


def test_export_can_be_imported_and_made_anonymous(run: Run, tmp_path: Path) -> None:
    run("import", "-", input=log(4))
    run("export", "--format", "csv", "--out", str(tmp_path / "log.csv"))
    first = run("export")
    assert run("import", str(tmp_path / "log.csv")) == "24 of 24 views imported\n"
    assert run("export") == first
    names = {json.loads(line)["reader"] for line in run("export", "--anonymous").splitlines()}
    others = {json.loads(line)["reader"] for line in run("export", "--anonymous").splitlines()}
    assert (len(names), len(others), names & others, names & {"r0", "r1"}) == (4, 4, set(), set())
    rows = list(csv.DictReader(run("export", "--format", "csv").splitlines()))
    assert len(rows) == 24
    assert run("export", "--since", (NOW + timedelta(days=1)).isoformat()) == ""


def test_log_with_invalid_line_changes_nothing(run: Run) -> None:
    with pytest.raises(ClicksError, match="line 25: no at"):
        run("import", "-", input=log(4) + '{"reader": "a", "story": "b"}\n')
    assert run("export") == ""
    with pytest.raises(ClicksError, match="no views"):
        run("import", "-", input="\n")
    lines = run(
        "import", "-", "--json", input='{"reader": "a", "story": "b", "at": 1}\n{"reader": "a", "story": "b", "at": "2999-01-01"}\n'
    )
    assert json.loads(lines) == {"views": 2, "taken": 0, "unknown": 1, "old": 1, "off": 0}


def test_invalid_usage_is_refused(run: Run) -> None:
    run("for", code=2)
    run("for", "r1", "--new", code=2)
    run("export", "--format", "xml", code=2)
    run("import", "-", "--format", "xml", code=2)
    run("fit", "--since", "yesterday", code=2)
