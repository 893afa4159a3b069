"""``newsportal category``: categories in sources.yaml, changed from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from newsportal.cli import app
from newsportal.errors import NewsportalError
from newsportal.sources import load

TEXT = """\
feeds:
  - {name: 甲, url: "https://a.example/f", category: 航运}
categories:
  - name: 航运   # ships
    words: [港口]
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "sources.yaml"
    file.write_text(TEXT, "utf-8")
    return file


def run(path: Path, *words: str) -> str:
    result = CliRunner().invoke(app, ["category", *words, "--sources", str(path)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def test_list_has_packaged_and_own_categories(path: Path) -> None:
    rows = [json.loads(line) for line in run(path, "list", "--json").splitlines()]
    assert len(rows) == 23
    assert rows[-1] == {"category": "航运", "packaged": None, "words": ["港口"], "hints": [], "enabled": True}
    assert "航运" in run(path, "list")


def test_set_changes_named_values_only(path: Path) -> None:
    run(path, "set", "航运", "--hint", "码头", "--rename", "海运")
    sources = load(path)
    (category,) = sources.categories
    assert (category.name, category.words, category.hints, sources.feeds[0].category) == ("海运", ("港口",), ("码头",), "海运")
    assert "# ships" in path.read_text("utf-8")
    run(path, "set", "海运", "--word", "", "--hint", "", "--off")
    (category,) = load(path).categories
    assert (category.words, category.hints, category.enabled) == ((), (), False)
    run(path, "set", "彩票", "--off")
    assert [category.name for category in load(path).categories] == ["海运", "彩票"]
    run(path, "remove", "彩票")
    assert [category.name for category in load(path).categories] == ["海运"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("remove", "航运业"), "did you mean '航运'"),
        (("remove", "旅游"), "has no category '旅游'"),
        (("set", "旅游", "--rename", "游"), "comes with newsportal"),
        (("set", "没有", "--rename", "有"), "no category yet"),
    ],
)
def test_invalid_usage_is_reported(path: Path, words: tuple[str, ...], why: str) -> None:
    with pytest.raises(NewsportalError, match=why):
        run(path, *words)
    assert path.read_text("utf-8") == TEXT
