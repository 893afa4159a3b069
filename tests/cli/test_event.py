"""``newsportal event``: lists, a rebuild, and edits with undo."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from factories import NOW, article, empty_store
from typer.testing import CliRunner

from newsportal import cli
from newsportal.errors import StoreError
from newsportal.store.store import Store

FIRE = "青河市老城的一家灯笼作坊3月1日夜里起火，消防员用了三个小时扑灭灯笼作坊的大火，作坊主赵远山受了轻伤。"
TRIAL = "灯笼作坊失火案今天在青河市法院开庭，作坊主赵远山承认没有检查电线，检察官说灯笼作坊的火灾本可避免。"
CATCH = "沿海三县今年的海带丰收，渔民天不亮就出海，把一串串海带从绳子上割下来，运到码头边的晒场。"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    (tmp_path / "sources.yaml").write_text("store: sqlite:///news.db\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    opened = empty_store(tmp_path / "news.db")
    for number, (title, text) in enumerate((("灯笼作坊起火", FIRE), ("作坊主当庭认错", TRIAL), ("海带丰收", CATCH))):
        moment = NOW + timedelta(days=number)
        opened.add(article(f"a{number}", title=title, text=text, published=moment), now=moment)
    yield opened
    opened.close()


def run(*arguments: str) -> Any:
    result = CliRunner().invoke(cli.app, ["event", *arguments, "--json"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def plain(*arguments: str) -> str:
    result = CliRunner().invoke(cli.app, ["event", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_revise(store: Store) -> None:
    run("rebuild")
    assert run("revise") == [{"events": 2, "split": 0, "joined": 0, "conflicts": 0, "more": False}]
    assert plain("revise").startswith("0 events checked, 0 split")


def test_rebuild_list_and_show(store: Store) -> None:
    assert "newsportal event rebuild" in CliRunner().invoke(cli.app, ["event", "list"]).stderr
    assert run("rebuild") == [{"changes": 3}]
    (event,) = run("list")
    assert (event["title"], event["stories"]) == ("灯笼作坊起火", 2)
    assert len(run("list", "--least", "1", "--newest")) == 2
    assert run("list", "--topic", "别的") == run("list", "--since", "2027-01-01") == []
    (details,) = run("show", event["id"])
    assert [story["title"] for story in details["stories"]] == ["灯笼作坊起火", "作坊主当庭认错"]
    assert details["stories"][1]["words"]
    assert [point["day"] for point in details["points"]] == ["2026-03-01", "2026-03-02"]
    text = plain("show", event["id"])
    assert "2 stories on 1 site" in text
    assert "2026-03-01  青河市老城的一家灯笼作坊3月1日夜里起火" in text
    assert "3 changes processed" in plain("rebuild")


def test_edits_and_undo(store: Store) -> None:
    run("rebuild")
    (event,) = run("list")
    id = event["id"]
    run("rename", id, "灯笼作坊火灾")
    run("pin", id)
    assert run("list")[0]["title"] == "灯笼作坊火灾"
    assert run("list")[0]["pinned"]
    run("pin", id, "--off")
    (split,) = run("split", id, run("show", id)[0]["stories"][1]["id"])
    assert run("list") == []
    run("undo", str(split["edit"]))
    assert run("list")[0]["stories"] == 2
    other = run("list", "--least", "1", "--newest")[0]["id"]
    run("join", id, other)
    assert run("show", other)[0]["stories"][2]["title"] == "海带丰收"
    assert "to undo it: newsportal event undo" in plain("rename", id, "")
    with pytest.raises(StoreError, match="see: newsportal event list"):
        run("show", "nobody")
