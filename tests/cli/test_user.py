"""``newsportal user`` and ``newsportal token``: people and tokens without the portal."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from factories import CHEAP
from typer.testing import CliRunner

from newsportal import cli
from newsportal.errors import AccountError
from newsportal.services.accounts import Right, Role, open_accounts
from newsportal.sources import load

runner = CliRunner()


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    file = tmp_path / "sources.yaml"
    file.write_text("version: 1\n", "utf-8")
    return file


def run(sources: Path, *words: str, stdin: str | None = None) -> Any:
    result = runner.invoke(cli.app, [*words, "--sources", str(sources)], input=stdin, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    if "--json" not in words:
        return result.output
    rows = [json.loads(line) for line in result.output.splitlines()]
    return rows if "list" in words else rows[0]


def add_person(sources: Path, name: str, role: Role) -> None:
    with closing(open_accounts(load(sources).accounts_uri, hasher=CHEAP)) as accounts:
        accounts.people.add(name, "correct horse battery", role, now=datetime.now(UTC))


def test_people_are_added_changed_and_removed(sources: Path) -> None:
    added = run(sources, "user", "add", "王编辑", "--role", "editor", "--json")
    run(sources, "user", "add", "boss", "--role", "admin", "--ask", stdin="correct horse battery\n")
    with closing(open_accounts(load(sources).accounts_uri)) as accounts:
        assert accounts.people.authenticate("王编辑", added["password"])
        assert accounts.people.authenticate("boss", "correct horse battery")
    assert [(row["name"], row["role"]) for row in run(sources, "user", "list", "--json")] == [("boss", "admin"), ("王编辑", "editor")]
    reset = run(sources, "user", "password", "王编辑", "--json")
    assert reset["password"] != added["password"]
    run(sources, "user", "role", "王编辑", "reader")
    run(sources, "user", "disable", "王编辑")
    assert "(locked out)" in run(sources, "user", "list")
    run(sources, "user", "enable", "王编辑")
    run(sources, "user", "remove", "王编辑")
    with closing(open_accounts(load(sources).accounts_uri)) as accounts:
        assert [person.role for person in accounts.people.all()] == [Role.ADMIN]
        actions = [entry.action for entry in accounts.audit_log.entries()]
        log = str(accounts.audit_log.entries())
    assert actions == ["person.remove", "person.enable", "person.disable", "person.role", "person.password", "person.add", "person.add"]
    assert reset["password"] not in log


def test_tokens_are_added_and_revoked(sources: Path) -> None:
    add_person(sources, "boss", Role.ADMIN)
    added = run(sources, "token", "add", "boss", "prometheus", "--right", "watch", "--right", "read", "--days", "0", "--json")
    with closing(open_accounts(load(sources).accounts_uri)) as accounts:
        found = accounts.tokens.authenticate(added["token"], now=datetime.now(UTC))
        assert found is not None
        assert found.rights == {Right.READ, Right.WATCH}
    [row] = run(sources, "token", "list", "--json")
    assert (row["for"], row["expires"], row["person"]) == ("prometheus", None, "boss")
    listed = run(sources, "token", "list")
    assert "it is revoked" in listed
    assert added["token"] not in listed
    run(sources, "token", "revoke", added["id"])
    assert "no tokens" in run(sources, "token", "list")


@pytest.mark.parametrize(
    "words",
    [("user", "remove", "nobody"), ("token", "revoke", "x"), ("token", "add", "reader", "x", "--right", "edit"), ("user", "add", "reader")],
)
def test_invalid_usage_is_reported(sources: Path, words: tuple[str, ...]) -> None:
    add_person(sources, "reader", Role.READER)
    with pytest.raises(AccountError):
        runner.invoke(cli.app, [*words, "--sources", str(sources)], catch_exceptions=False)
