"""Attacks by people with an account or without: simultaneous requests, hostile names, forged log entries."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Literal

import pytest
from argon2 import Parameters, PasswordHasher, extract_parameters
from factories import CHEAP

from newsportal.errors import AccountError, StoreError
from newsportal.services.accounts import Accounts, Person, Right, Role, open_accounts

PASSWORD = "correct horse battery staple"

CHANGES: tuple[Callable[[Accounts, str], None], ...] = (
    lambda accounts, id: accounts.people.remove(id),
    lambda accounts, id: accounts.people.disable(id),
    lambda accounts, id: accounts.people.set_role(id, Role.READER),
)


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_concurrent_removals_leave_one_administrator(uri: str, now: datetime, change: Callable[[Accounts, str], None]) -> None:
    with closing(open_accounts(uri, hasher=CHEAP)) as accounts, closing(open_accounts(uri, hasher=CHEAP)) as other:
        people = [accounts.people.add(f"boss {number}", PASSWORD, Role.ADMIN, now=now) for number in range(6)]

        def take_out(place: int) -> None:
            try:
                change((accounts, other)[place % 2], people[place].id)
            except (AccountError, StoreError):  # the last administrator, or a transaction conflict
                pass

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(take_out, range(6)))
        assert any(person.role is Role.ADMIN and not person.disabled for person in accounts.people.all())


@pytest.mark.slow
def test_concurrent_first_starts_create_one_administrator(new_uri: str, now: datetime) -> None:
    with closing(open_accounts(new_uri, hasher=CHEAP)) as accounts, closing(open_accounts(new_uri, hasher=CHEAP)) as other:
        with ThreadPoolExecutor(4) as pool:
            created = [
                person
                for person in pool.map(lambda place: (accounts, other)[place % 2].people.add_first_admin(now=now), range(8))
                if person
            ]
        assert len(created) == len(accounts.people.all()) == 1


@pytest.mark.parametrize("name", ["\x1b[2Jscript", "scr\x00ipt\x07", "script\u202e", "script\r\nfake 2026-05-20 admin"])
def test_token_names_have_no_control_characters(accounts: Accounts, admin: Person, now: datetime, name: str) -> None:
    """Every reader names tokens, and operators list them in a terminal."""
    token, _ = accounts.tokens.add(admin, name, [Right.READ], now=now)
    assert token.name.isprintable()
    assert "script" in token.name.replace("scr ipt", "script")
    assert accounts.tokens.of()[0].name == token.name


def test_token_needs_visible_name(accounts: Accounts, admin: Person, now: datetime) -> None:
    with pytest.raises(AccountError, match="the purpose of the token"):
        accounts.tokens.add(admin, "\x1b\u200b \n", [Right.READ], now=now)


def test_hostile_text_stays_one_log_entry(accounts: Accounts, admin: Person, now: datetime) -> None:
    forged = "x\n2026-05-20 boss person.role other admin\x1b[31m'); DELETE FROM audit_log; --"
    accounts.audit_log.add(None, "topic.delete", forged, {forged: forged}, now=now, address="192.0.2.1\nboss")
    [entry] = accounts.audit_log.entries()
    assert (entry.action, entry.person, entry.method) == ("topic.delete", "", "command")
    assert entry.subject == forged
    assert accounts.audit_log.entries(person="boss") == []
    assert accounts.audit_log.entries(action="person") == []


class RecordingHasher(PasswordHasher):
    """Records the parameters of each comparison."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.parameters: list[Parameters] = []

    def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:
        self.parameters.append(extract_parameters(str(hash)))
        return super().verify(hash, password)


def test_unknown_name_costs_the_same_work(tmp_path: Path, now: datetime) -> None:
    """The response time must not reveal which names exist."""
    hasher = RecordingHasher()
    with closing(open_accounts(f"sqlite:///{tmp_path / 'own.db'}", hasher=hasher)) as accounts:
        admin = accounts.people.add("boss", PASSWORD, Role.ADMIN, now=now)
        accounts.people.add("other", PASSWORD, Role.ADMIN, now=now)
        for name in ("boss", "nobody"):
            assert accounts.people.authenticate(name, "a wrong password") is None
        accounts.people.disable(admin.id)
        assert accounts.people.authenticate("boss", PASSWORD) is None
    assert len(hasher.parameters) == 3
    assert all(cost == hasher.parameters[0] for cost in hasher.parameters)
