"""``newsportal publish`` and ``unpublish``: text and JSON output, and exit statuses."""

from __future__ import annotations

import json
import socket
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from factories import empty_store
from typer.testing import CliRunner, Result

from newsportal import cli
from newsportal.errors import NewsportalError
from newsportal.store.outbox import Result as Outcome
from newsportal.store.store import Store

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "store"))  # import filled_store, killed_writers
from factories import NOW, article

TABLE = "CREATE TABLE posts (id INTEGER PRIMARY KEY, title VARCHAR(40) NOT NULL, body TEXT, slug VARCHAR(60) UNIQUE, off INTEGER)"
SOURCES = """
publish:
- name: cms
  to: sqlite:///cms.db
  table: posts
  columns: {title: {field: title, max: 40}, body: text, slug: {template: "{id}"}, "off": 0}
  key: slug
  unpublish: {"off": 1}
- {name: files, to: "folder:out", enabled: false}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NEWSPORTAL_SOURCES", raising=False)
    (tmp_path / "sources.yaml").write_text(SOURCES, "utf-8")
    with closing(sqlite3.connect(tmp_path / "cms.db")) as database:
        database.execute(TABLE)
    return tmp_path


@pytest.fixture
def store(folder: Path) -> Iterator[Store]:
    opened = empty_store(folder / "data/newsportal.db")
    opened.add(article("a", identity="news.example/a.html"), now=NOW)
    opened.add(article("b", title="'; DROP TABLE posts; --"), now=NOW)
    yield opened
    opened.close()


@pytest.fixture
def receiver() -> Iterator[socket.socket]:
    """A listening socket; ``accept`` does not block."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        yield listening


def run(*words: str) -> Result:
    return CliRunner().invoke(cli.app, list(words))


def rows(folder: Path) -> list[tuple[str, int]]:
    with closing(sqlite3.connect(folder / "cms.db")) as database:
        return list(database.execute("SELECT title, off FROM posts ORDER BY title"))


def test_dry_run_and_run(folder: Path, store: Store) -> None:
    dry = run("publish", "--dry-run")
    assert dry.exit_code == 0, dry.output
    assert dry.output.count("INSERT INTO posts") == 2
    assert "2 articles would be written (dry run)" in dry.output
    assert rows(folder) == []
    lines = [json.loads(line) for line in run("publish", "--dry-run", "--json", "-n", "1").output.splitlines()]
    assert [line["target"] for line in lines] == ["cms"]
    assert set(lines[0]["values"]) == {"title", "body", "slug", "off"}
    result = run("publish", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["published"] == 2
    assert len(rows(folder)) == 2
    assert json.loads(run("publish", "--json").output)["published"] == 0


def test_unpublish_and_publish_again(folder: Path, store: Store) -> None:
    run("publish")
    result = run("unpublish", "https://news.example/a.html")
    assert result.exit_code == 0, result.output
    assert sorted(rows(folder)) == [("'; DROP TABLE posts; --", 0), ("标题 a", 1)]
    id = store.declared_by("news.example/a.html")[0].id
    republished = run("publish", "again", id)
    assert republished.exit_code == 0, republished.output
    assert sorted(rows(folder)) == [("'; DROP TABLE posts; --", 0), ("标题 a", 0)]
    unknown = run("unpublish", "nothing.example/x")
    assert isinstance(unknown.exception, NewsportalError)


def test_status_shows_failures_and_again_retries(folder: Path, store: Store) -> None:
    with closing(sqlite3.connect(folder / "cms.db")) as database:
        database.execute("CREATE TRIGGER no BEFORE INSERT ON posts WHEN NEW.title LIKE '标题%' BEGIN SELECT RAISE(ABORT, '不要'); END")
    assert run("publish").exit_code == 0
    status = run("publish", "status")
    assert "不要" in status.output
    assert "标题 a" in status.output
    lines = [json.loads(line) for line in run("publish", "status", "--json").output.splitlines()]
    assert lines[0] == {"target": "cms", "waiting": 0, "under-way": 0, "done": 1, "failed": 1, "withdrawn": 0, "behind": 0}
    assert (lines[1]["target"], lines[1]["behind"]) == ("files", store.last_seq()), "it never ran"
    assert [line["state"] for line in lines if "state" in line] == ["failed"]
    with closing(sqlite3.connect(folder / "cms.db")) as database:
        database.execute("DROP TRIGGER no")
    assert "1 delivery tried again" in run("publish", "again").output
    assert len(rows(folder)) == 2


def test_status_of_one_target(folder: Path, store: Store) -> None:
    ids = [article.id for article in store.all_articles()]
    for target, day in (("files", 1), ("cms", 2)):
        now = NOW + timedelta(days=day)
        store.outbox.request(target, ids, "publish", now=now)
        for entry in store.outbox.lease_due(target, "somebody", now=now, seconds=1, limit=9):
            store.outbox.settle(entry, Outcome("failed", "so"), now=now)
    lines = run("publish", "status", "-t", "files", "-n", "2", "--json").output.splitlines()
    assert [json.loads(line)["target"] for line in lines] == ["files"] * 3
    assert len(run("publish", "status", "-n", "1", "--json").output.splitlines()) == 3


def test_dry_run_reports_refused_articles_and_continues(folder: Path, store: Store) -> None:
    (folder / "elsewhere").mkdir()
    (folder / "out").mkdir()
    first = min(article.id for article in store.all_articles())
    (folder / "out" / first).symlink_to(folder / "elsewhere")
    (folder / "sources.yaml").write_text('publish: [{name: files, to: "folder:out", file: "{id}/{id}"}]', "utf-8")
    dry = run("publish", "--dry-run")
    assert dry.exit_code == 0, dry.output
    assert dry.output.count("  write ") == dry.output.count("rejected: ") == 1


def test_undecodable_name_is_not_an_article(folder: Path, store: Store) -> None:
    assert isinstance(run("unpublish", "\udcff.x").exception, NewsportalError)


def test_check_reports_what_to_fix(folder: Path, store: Store) -> None:
    assert "all is well" in run("publish", "check").output
    with closing(sqlite3.connect(folder / "cms.db")) as database:
        database.execute("ALTER TABLE posts RENAME COLUMN title TO headline")
    failed = run("publish", "check", "--json")
    assert isinstance(failed.exception, NewsportalError)
    line = json.loads(failed.output.splitlines()[0])
    assert any("no such column" in problem for problem in line["problems"])
    broken = run("publish")
    assert isinstance(broken.exception, NewsportalError)
    assert "new articles wait" in str(broken.exception)


def test_check_needs_no_store_and_writes_nothing(folder: Path, receiver: socket.socket) -> None:
    """Shows the steps for an article at a table, a folder and a webhook."""
    address = f"http://127.0.0.1:{receiver.getsockname()[1]}/in"
    hook = f"- {{name: hook, to: '{address}', secret: geheim}}\n"
    (folder / "sources.yaml").write_text(f"politeness: {{allow_private: [127.0.0.1/32]}}\n{SOURCES}{hook}", "utf-8")
    before = sorted(folder.rglob("*"))
    lines = [json.loads(line) for line in run("publish", "check", "--json").output.splitlines()]
    assert [(line["target"], line["problems"]) for line in lines] == [("cms", []), ("files", []), ("hook", [])]
    cms, files, message = ([(step["operation"], step["values"]) for step in line["steps"]] for line in lines)
    assert cms[0][0].startswith("INSERT INTO posts")
    assert cms[0][1]["title"] == "一篇样稿 (a sample)"
    assert files[0][0].startswith(f"write {folder}/out/")
    assert message[0][0] == f"POST {address}"
    assert message[0][1]["article"]["title"] == "一篇样稿 (a sample)"
    assert lines[0]["notes"] == []
    text = run("publish", "check").output
    assert "cms: all is well\n  an article would be: INSERT INTO posts" in text
    assert rows(folder) == []
    assert sorted(folder.rglob("*")) == before
    with pytest.raises(BlockingIOError):
        receiver.accept()  # nobody has connected


def test_check_reports_unknown_host_of_a_webhook(folder: Path) -> None:
    (folder / "sources.yaml").write_text("publish:\n- {name: hook, to: 'https://cms.invalid/in', secret: geheim}\n", "utf-8")
    failed = run("publish", "check")
    assert isinstance(failed.exception, NewsportalError)
    assert "  cms.invalid is not found" in failed.output, "its name is in the line above"
    assert "correct publish.to" in failed.output


def test_unavailable_target_exits_with_status_1_and_is_retried(folder: Path, store: Store) -> None:
    (folder / "cms.db").rename(folder / "away.db")
    failed = run("publish")
    assert isinstance(failed.exception, NewsportalError)
    assert "no such database" in str(failed.exception)
    waiting = json.loads(run("publish", "status", "--json").output.splitlines()[0])
    assert (waiting["target"], waiting["waiting"]) == ("cms", 2)
    dry = run("publish", "--dry-run", "--target", "cms", "--target", "files")
    assert "files: 2 articles would be written (dry run)" in dry.output
    assert "no such database" in str(dry.exception)
    (folder / "away.db").rename(folder / "cms.db")
    assert run("publish").exit_code == 0
    assert len(rows(folder)) == 2


def test_targets_are_chosen_by_name(folder: Path, store: Store) -> None:
    assert run("publish", "-t", "files").exit_code == 0, "a disabled target can be named"
    assert len(list((folder / "out").glob("*.md"))) == 2
    assert rows(folder) == []
    unknown = run("publish", "-t", "fils")
    assert unknown.exit_code == 2
    (folder / "sources.yaml").write_text("feeds: []\n", "utf-8")
    assert "has no publishing target" in str(run("publish").exception)
