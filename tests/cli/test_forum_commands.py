"""Forums on the command line: try, add, and export stored threads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from factories import empty_store, run_command

from newsportal.items import Link, Post, Thread
from newsportal.sources import load

if TYPE_CHECKING:
    from madeup.forums import MadeUpForums

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def forums() -> Iterator[MadeUpForums]:
    from madeup.forums import MadeUpForums

    with MadeUpForums() as forums:
        yield forums


@pytest.fixture
def sources(forums: MadeUpForums, tmp_path: Path) -> Path:
    forums.reset()
    return forums.sources(tmp_path / "sources.yaml")


@pytest.mark.parametrize("name", ["discuz", "phpwind", "phpbb", "discourse", "homemade"])
def test_try_a_forum(sources: Path, name: str) -> None:
    result = run_command("source", "test", name, "--json", "--sources", sources)
    assert result.exit_code == 0, result.output
    trial: dict[str, Any] = json.loads(result.stdout)
    assert len(trial["links"]) >= 12
    assert all(link["title"] and link["published"] for link in trial["links"])
    assert "boards: " in trial["notes"][0]["text"]
    assert trial["article"]["note"]["code"] == "trial.posts"
    assert trial["article"]["text"].startswith("[")


def test_trial_of_a_forum_as_text(sources: Path) -> None:
    result = run_command("source", "test", "forum:discuz", "--sources", sources)
    assert result.exit_code == 0, result.output
    for text in ("4 boards: 茶余饭后; 出行路上", "茶余饭后: 12 threads", "by forum best"):
        assert text in result.stdout


def test_unreadable_forum_gives_the_reason(forums: MadeUpForums, sources: Path) -> None:
    for path, reason in (
        ("/u.php?uid=1", "No boards or threads"),
        ("/thread.php?fid=6", "Only members"),
        ("/nothing", "answers 404"),
    ):
        sources.write_text(
            f"politeness: {{allow_private: [127.0.0.0/8]}}\nforums:\n- {{name: it, url: '{forums.url('phpwind', path)}'}}\n", "utf-8"
        )
        result = run_command("source", "test", "it", "--sources", sources)
        assert result.exit_code == 1
        assert reason in result.stdout


def test_add_forum_by_url_once(forums: MadeUpForums, tmp_path: Path) -> None:
    path = tmp_path / "sources.yaml"
    path.write_text("politeness: {allow_private: [127.0.0.0/8]}\n", "utf-8")
    added = run_command("source", "add", forums.url("phpbb"), "--forum", "--category", "闲谈", "--sources", path)
    assert added.exit_code == 0, added.output
    forum = load(path).forums[0]
    assert (forum.url, forum.category) == (forums.url("phpbb"), "闲谈")
    repeated = run_command("source", "add", forums.url("phpbb"), "--forum", "--sources", path)
    assert "is already listed" in str(repeated.exception)
    refused = run_command("source", "add", forums.url("phpbb", "/memberlist.php?mode=viewprofile&u=2"), "--forum", "--sources", path)
    assert "No boards or threads" in str(refused.exception)


def test_threads_are_exported_with_their_posts(tmp_path: Path) -> None:
    path = tmp_path / "sources.yaml"
    path.write_text("store: sqlite:///news.db\n", "utf-8")
    store = empty_store(tmp_path / "news.db")
    link = Link("https://bbs.example/thread-1-1-1.html", "forum:社区", identity="bbs.example/#thread=1")
    posts = (Post("甲", NOW, "开头的话", 1, id="7"), Post(None, None, "回答的话", date_text="昨天"))
    store.threads.save(Thread(link.url, "一个帖子", link, NOW, posts, "闲谈", link.identity), now=NOW)
    store.close()
    line = json.loads(run_command("export", "--sources", path).stdout)
    assert (line["title"], line["board"], line["source"]) == ("一个帖子", "闲谈", "forum:社区")
    found = [(post.get("author"), post["text"], post.get("floor")) for post in line["posts"]]
    assert found == [("甲", "开头的话", 1), (None, "回答的话", None)]
    assert line["posts"][0]["published"] == "2026-03-05T12:00:00+00:00"
    table = run_command("export", "--format", "csv", "--sources", path)
    assert "开头的话" in table.stdout
