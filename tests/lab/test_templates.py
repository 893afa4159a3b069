"""``newsportal templates`` lists, shows and forgets learned templates; ``extract --library`` saves them."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from newsportal.cli import app
from newsportal.errors import LibraryError
from newsportal.sources.editing import READABLE
from newsportal_lab import templates


def sentence(name: str) -> str:
    return f"{name}的事情今天有了新的进展，记者从现场发回了报道，当地的居民都在街头谈论它，孩子们也很高兴，大家都在等待明天的结果公布。"


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """Return a library that ``extract`` learned from two pages."""
    save_pages(tmp_path / "pages", "a", "b")
    assert run_newsportal("extract", str(tmp_path / "pages"), "-a", "url_tree", "--library", str(tmp_path / "library.json")).exit_code == 0
    return tmp_path / "library.json"


def save_pages(folder: Path, *names: str) -> None:
    folder.mkdir()
    for name in names:
        (folder / f"{name}.html").write_text(f"<body><div><p>{sentence(name)}</p></div></body>", "utf-8")
        (folder / f"{name}.json").write_text(json.dumps({"url": f"https://gangwan.example/news/\x1b[31m/{name}.html"}))


def run_newsportal(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def test_saved_templates_are_used_by_next_run(library: Path, tmp_path: Path) -> None:
    save_pages(tmp_path / "more", "c")
    (row,) = map(
        json.loads, run_newsportal("extract", str(tmp_path / "more"), "-a", "url_tree", "--library", str(library)).stdout.splitlines()
    )
    assert row["text"] == sentence("c")
    (unaided,) = map(json.loads, run_newsportal("extract", str(tmp_path / "more"), "-a", "url_tree").stdout.splitlines())
    assert str(unaided["error"]).startswith("waits-for-sibling")


def test_list_and_show_commands(library: Path) -> None:
    (row,) = map(json.loads, run_newsportal("templates", "list", str(library), "--json").stdout.splitlines())
    assert row == {"site": "gangwan.example", "templates": 1, "pages": 2, "waiting": 0}
    (row,) = map(
        json.loads, run_newsportal("templates", "show", str(library), "gangwan.example", "-d", "/news", "--json").stdout.splitlines()
    )
    assert (row["content_tags"], row["structure"], row["content"], row["pages"]) == ("body div", "body(div)", [1], 2)
    assert "gangwan.example" in run_newsportal("templates", "list", str(library)).stdout
    output = run_newsportal("templates", "show", str(library), "gangwan.example").stdout
    assert "body(div)" in output
    assert "\x1b[31m" not in output


def test_forget_command(library: Path) -> None:
    before = library.stat().st_mode
    result = run_newsportal("templates", "forget", str(library), "gangwan.example", "--directory", "/news")
    assert "1 template of gangwan.example/news forgotten" in result.stdout
    assert run_newsportal("templates", "list", str(library), "--json").stdout == ""
    assert library.stat().st_mode == before
    assert stat.S_IMODE(before) == READABLE
    assert [file.name for file in library.parent.iterdir() if file.is_file()] == ["library.json"]


@pytest.mark.parametrize(
    "arguments", [("show", "nobody.example"), ("forget", "nobody.example"), ("show", "gangwan.example", "-d", "/sport")]
)
def test_unknown_site_and_directory_are_reported(library: Path, arguments: tuple[str, ...]) -> None:
    name, *rest = arguments
    assert run_newsportal("templates", name, str(library), *rest).exit_code == 2


def test_waiting_pages_are_reported(tmp_path: Path) -> None:
    save_pages(tmp_path / "pages", "a")
    library = str(tmp_path / "library.json")
    assert run_newsportal("extract", str(tmp_path / "pages"), "-a", "url_tree", "--library", library).exit_code == 0
    result = run_newsportal("templates", "show", library, "gangwan.example")
    assert result.exit_code == 2
    assert "1 page" in result.output
    assert "sibling" in result.output
    forgotten = run_newsportal("templates", "forget", library, "gangwan.example")
    assert forgotten.stdout == "0 templates of gangwan.example forgotten, and 1 page that waited\n"


def test_site_knowledge_of_best_is_not_a_template_library(tmp_path: Path) -> None:
    save_pages(tmp_path / "pages", "a")
    library = str(tmp_path / "sites.json")
    assert run_newsportal("extract", str(tmp_path / "pages"), "--library", library).exit_code == 0
    error = run_newsportal("templates", "list", library).exception
    assert "sites.json" in str(error)
    assert "--algorithm url_tree" in str(error)


def test_usage_errors_are_reported(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_bytes(b"\xff\xfe")
    for file in ("nowhere.json", "other.json"):
        assert isinstance(run_newsportal("templates", "list", str(tmp_path / file)).exception, LibraryError)
    save_pages(tmp_path / "pages", "a")
    refused = run_newsportal("extract", str(tmp_path / "pages"), "-a", "cevc", "--library", str(tmp_path / "x.json"))
    assert refused.exit_code == 2
    assert "saves nothing" in refused.output


def test_failed_write_leaves_library_unchanged(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = library.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(LibraryError, match="No space left"):
        templates.save("{}", library)
    assert library.read_bytes() == before
    assert [file.name for file in library.parent.iterdir() if file.is_file()] == ["library.json"]
