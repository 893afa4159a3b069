"""``newsportal source import`` and ``export`` as a user runs them."""

from __future__ import annotations

import json
from functools import partial
from io import StringIO
from pathlib import Path

import pytest
from factories import run_command

from newsportal.cli import source_adding
from newsportal.errors import EgressDenied, NewsportalError
from newsportal.services.discovery.opml import BadOpml
from newsportal.sources import load

FILE = """\
# 我的门户
feeds:
  - name: 青苔科技 # 已有
    url: https://qingtai.example/atom.xml
    category: 科技
# 末尾
"""
LIST = """\
<opml version="2.0"><head><title>订阅</title></head><body>
<outline text="财经"><outline text="北辰/股市" xmlUrl="https://beichen.example/rss"/><outline text="青苔" xmlUrl="https://qingtai.example/atom.xml"/></outline>
<outline text="青苔科技" xmlUrl="https://other.example/feed"/><outline text="内网" xmlUrl="http://user:pw@a.example/ x"/></body></opml>
"""

run = partial(run_command, "source")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "sources.yaml"
    path.write_text(FILE, "utf-8")
    return path


@pytest.fixture
def opml(tmp_path: Path) -> Path:
    path = tmp_path / "list.opml"
    path.write_text(LIST, "utf-8")
    return path


def test_import_keeps_comments_and_reports_known_feeds(file: Path, opml: Path) -> None:
    result = run("import", opml, "--sources", file)
    assert result.exit_code == 0, result.output
    assert "https://qingtai.example/atom.xml is already listed, as feed:青苔科技" in result.stdout
    feeds = load(file).feeds
    assert [(feed.name, feed.category) for feed in feeds][:3] == [("青苔科技", "科技"), ("北辰-股市", "财经"), ("青苔科技 2", None)]
    text = file.read_text("utf-8")
    assert text.startswith("# 我的门户\n")
    assert "# 已有" in text
    assert text.rstrip().endswith("# 末尾")
    repeated = run("import", opml, "--sources", file)
    assert "0 new" in repeated.stdout
    assert file.read_text("utf-8") == text


def test_other_spelling_of_a_url_is_the_same_feed(file: Path, tmp_path: Path) -> None:
    urls = ("http://www.qingtai.example/atom.xml", "http://new.example/feed", "https://new.example/feed", "https://new.example/feed?id=2")
    rows = "".join(f"<outline text='x' xmlUrl='{url}'/>" for url in urls)
    path = tmp_path / "spelt.opml"
    path.write_text(f"<opml><body>{rows}</body></opml>", "utf-8")
    result = run("import", path, "--sources", file)
    assert "http://www.qingtai.example/atom.xml is already listed, as feed:青苔科技" in result.stdout
    assert "https://new.example/feed is already listed, as feed:x" in result.stdout
    assert [feed.url for feed in load(file).feeds][1:] == ["http://new.example/feed", "https://new.example/feed?id=2"]


def test_dry_run_writes_nothing(file: Path, opml: Path) -> None:
    result = run("import", opml, "--dry-run", "--json", "--category", "要闻", "--disabled", "--sources", file)
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert rows[0] == {"name": "北辰-股市", "url": "https://beichen.example/rss", "category": "要闻", "enabled": False, "added": False}
    assert {"url": "https://qingtai.example/atom.xml", "added": False, "existing": "feed:青苔科技"} in rows
    error = "'http://user:***@a.example/ x' contains a space, a backslash or a control character"
    assert [row["error"] for row in rows if "error" in row] == [error]
    assert file.read_text("utf-8") == FILE


def test_feeds_can_be_imported_disabled(file: Path, opml: Path) -> None:
    run("import", opml, "--disabled", "--sources", file)
    assert [feed.enabled for feed in load(file).feeds][:3] == [True, False, False]


def test_standard_input_and_invalid_locations(file: Path, tmp_path: Path) -> None:
    assert run("import", "-", "--sources", file, stdin=LIST).exit_code == 0
    assert isinstance(run("import", "-", "--sources", file, stdin="hello").exception, BadOpml)
    assert isinstance(run("import", tmp_path / "gone.opml", "--sources", file).exception, NewsportalError)
    assert isinstance(run("import", "file:///etc/passwd", "--sources", file).exception, NewsportalError)
    assert isinstance(run("import", "http://169.254.169.254/list.opml", "--sources", file).exception, EgressDenied)


def test_export_can_be_imported(file: Path, opml: Path, tmp_path: Path) -> None:
    run("import", opml, "--sources", file)
    out = tmp_path / "out.opml"
    assert run("export", "--opml", "--out", out, "--sources", file).exit_code == 0
    other = tmp_path / "other.yaml"
    other.write_text("version: 1\n", "utf-8")
    assert run("import", out, "--sources", other).exit_code == 0
    feeds = [{(feed.name, feed.url, feed.category) for feed in load(path).feeds} for path in (file, other)]
    assert feeds[0] == feeds[1]
    assert run("export", "--sources", file).stdout == out.read_text("utf-8") or "xmlUrl" in run("export", "--sources", file).stdout


def test_import_asks_on_a_terminal(file: Path, opml: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(StringIO):
        def isatty(self) -> bool:
            return True

    before = file.read_text("utf-8")
    for answer, added in (("n\n", False), ("y\n", True)):
        monkeypatch.setattr("sys.stdin", Terminal(answer))
        source_adding.import_(str(opml), None, False, False, False, file, False)
        assert (file.read_text("utf-8") != before) is added


def test_unwritable_list_is_reported(file: Path, tmp_path: Path) -> None:
    result = run("export", "--sources", file, "--out", tmp_path)
    assert "cannot be written: it is a folder" in str(result.exception)
