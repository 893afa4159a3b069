"""``newsportal story``: shows a story to an editor and changes it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from factories import empty_store
from typer.testing import CliRunner

from newsportal import cli
from newsportal.errors import NewsportalError, StoreError
from newsportal.items import Article, Link
from newsportal.services.accounts import open_accounts
from newsportal.sources import load
from newsportal.store.store import Store

NOW = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
TEXT = "河湾镇的新桥昨天下午通车，两岸的居民过河不用再等渡船。老船工马长顺说，他撑了四十年船，今天第一次走着回家，桥上的风比船上的还大。"


def article(host: str, text: str = TEXT, hours: int = 0) -> Article:
    url = f"https://{host}.example/1.html"
    at = NOW + timedelta(hours=hours)
    link = Link(url=url, source="feed:甲")
    return Article(url=url, link=link, fetched=at, identity=url, title="[b]河湾镇新桥通车", text=text, published=at)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    (tmp_path / "sources.yaml").write_text("store: sqlite:///news.db\nfeeds: [{name: 甲, url: 'https://a.example/feed'}]\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    opened = empty_store(tmp_path / "news.db")
    yield opened
    opened.close()


def story(*arguments: str) -> dict[str, Any]:
    result = CliRunner().invoke(cli.app, ["story", *arguments, "--json"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_show_lists_versions_and_spread(store: Store) -> None:
    first = store.add(article("a"), now=NOW)
    second = store.add(article("b", TEXT + "（来源：甲报）", hours=2), now=NOW + timedelta(hours=2))
    for id in (first.story_id, second.id):
        found = story("show", id)
        assert found["original"] == first.id
        assert [(version["site"], version["fold_reason"]) for version in found["versions"]] == [
            ("a.example", None),
            ("b.example", second.reason),
        ]
        assert found["spread"]["sites"] == found["spread"]["at_first"] == len(found["spread"]["steps"])
    result = CliRunner().invoke(cli.app, ["story", "show", first.id])
    assert result.exit_code == 0
    assert "[b]河湾镇新桥通车" in result.stdout
    assert f"{second.reason} " in result.stdout
    for version in story("show", first.id)["versions"]:
        assert version["id"] in result.stdout, "complete, to be copied"
        assert version["url"] in result.stdout


def test_version_found_first_is_marked_if_not_the_original(store: Store) -> None:
    later, earlier = (store.add(article(host, hours=hours), now=NOW + timedelta(hours=3)) for host, hours in (("a", 2), ("b", 0)))
    result = CliRunner().invoke(cli.app, ["story", "show", later.story_id])
    lines = {line.split()[0]: line for line in result.stdout.splitlines()[3:]}
    assert "original" in lines[earlier.id]
    assert "found first" in lines[later.id]


def test_unfold_and_fold(store: Store) -> None:
    first, second = (store.add(article(host), now=NOW) for host in "ab")
    assert first.story_id == second.story_id
    unfolded = story("unfold", second.id)
    assert [version["id"] for version in unfolded["versions"]] == [second.id]
    folded = story("fold", second.id, first.id)
    assert {version["id"] for version in folded["versions"]} == {first.id, second.id}
    assert {version["fold_reason"] for version in folded["versions"]} == {None, "by-hand"}


@pytest.mark.parametrize("arguments", [("show", "nothing"), ("fold", "nothing", "nothing"), ("unfold", "nothing")])
def test_unknown_id_is_reported(store: Store, arguments: tuple[str, ...]) -> None:
    with pytest.raises(StoreError, match="nothing"):
        story(*arguments)


def test_correct_from_a_file_and_withdraw(store: Store, tmp_path: Path) -> None:
    added = store.add(article("a.example"), now=NOW)
    printed = CliRunner().invoke(cli.app, ["story", "correct", added.id], catch_exceptions=False).output
    assert printed.strip() == TEXT
    (tmp_path / "text.txt").write_text(f"{printed}\n添一段。\n", "utf-8")
    corrected = story("correct", added.id, "--title", "新标题", "--published", "", "--text", str(tmp_path / "text.txt"))
    assert (corrected["title"], corrected["published"], corrected["revision"]) == ("新标题", None, 2)
    assert corrected["text"].endswith("添一段。")
    assert story("show", added.id)["versions"][0]["corrected"] == ["title", "text", "published"]
    assert story("withdraw", added.id)["text"] == TEXT
    (tmp_path / "text.txt").write_text("⟦9⟧", "utf-8")
    with pytest.raises(NewsportalError, match="⟦9⟧"):
        story("correct", added.id, "--text", str(tmp_path / "text.txt"))


def test_hide_and_reveal(store: Store) -> None:
    first, second = store.add(article("a.example"), now=NOW), store.add(article("b.example", hours=1), now=NOW)
    assert sorted(story("hide", first.id, "--whole", "--reason", "误登")["hidden"]) == sorted([first.id, second.id])
    assert store.story(first.story_id) is None
    assert all(version["hidden"] for version in story("show", first.story_id)["versions"])
    assert story("reveal", second.id)["shown"] == [second.id]
    with pytest.raises(StoreError, match="none"):
        story("hide", "none")


def test_change_is_logged_if_there_are_accounts(store: Store, tmp_path: Path) -> None:
    added = store.add(article("a.example"), now=NOW)
    place = load(tmp_path / "sources.yaml").accounts_uri
    story("hide", added.id)
    assert not Path(place.removeprefix("sqlite:///")).exists(), "no accounts are created for a store without a portal"
    with closing(open_accounts(place)) as accounts:
        story("reveal", added.id)
        assert [(entry.action, entry.subject, entry.method) for entry in accounts.audit_log.entries()] == [
            ("article.show", added.id, "command")
        ]
