"""People, sessions, tokens and the audit log, on SQLite, PostgreSQL and MariaDB."""

from __future__ import annotations

import stat
import threading
from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from factories import CHEAP
from sqlalchemy import select, text

from newsportal.errors import AccountError, StoreTooNew, StoreTooOld
from newsportal.services.accounts import LINE, Accounts, Person, Right, Role, open_accounts, sessions
from newsportal.services.accounts.alerts import Alert, Message
from newsportal.services.accounts.base import digest
from newsportal.services.accounts.sessions import IDLE, LONGEST
from newsportal.services.accounts.tables import METADATA, PEOPLE
from newsportal.store import schema
from newsportal.store.dialects import open_engine, reading

PASSWORD = "correct horse battery staple"


def test_new_database_has_all_tables(new_uri: str) -> None:
    open_accounts(new_uri).close()
    engine = open_engine(new_uri)
    with reading(engine) as connection:
        assert schema.version(connection, LINE) == LINE.head
        context = MigrationContext.configure(connection, opts={"version_table": LINE.table})
        assert compare_metadata(context, METADATA) == []
    engine.dispose()


def test_migrations_create_current_tables(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path / 'accounts.db'}")
    with engine.begin() as connection:
        for statement in (Path(__file__).parent / "schema-0003.sql").read_text("utf-8").splitlines()[1:]:
            connection.exec_driver_sql(statement)
        schema.migrate(connection, "0003", "here", LINE)
        assert schema.version(connection, LINE) == LINE.head
        context = MigrationContext.configure(connection, opts={"version_table": LINE.table, "compare_type": True})
        assert compare_metadata(context, METADATA) == []
    engine.dispose()


def test_newer_database_is_refused(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path / 'accounts.db'}"
    open_accounts(uri).close()
    engine = open_engine(uri)
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE {LINE.table} SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(StoreTooNew, match="later version wrote it"):
        open_accounts(uri)


def test_unsupported_old_database_is_refused(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path / 'accounts.db'}"
    open_accounts(uri).close()
    engine = open_engine(uri)
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE {LINE.table} SET version_num = '0002'"))
    engine.dispose()
    with pytest.raises(StoreTooOld, match=r"no longer reads.*name another file as accounts"):
        open_accounts(uri)


def test_database_file_is_private(tmp_path: Path) -> None:
    open_accounts(f"sqlite:///{tmp_path / 'new' / 'accounts.db'}").close()
    assert stat.S_IMODE((tmp_path / "new" / "accounts.db").stat().st_mode) == 0o600


def test_first_administrator_is_created_once(new_uri: str, now: datetime) -> None:
    """Several processes may start at the same time."""
    results, start = [], threading.Barrier(4)

    def add(opened: Accounts) -> None:
        start.wait()
        results.append(opened.people.add_first_admin(now=now))

    with closing(open_accounts(new_uri, hasher=CHEAP)) as first, closing(open_accounts(new_uri, hasher=CHEAP)) as second:
        threads = [threading.Thread(target=add, args=(opened,)) for opened in (first, second) * 2]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        [(person, password)] = [found for found in results if found]
        assert (person.name, person.role) == ("admin", Role.ADMIN)
        assert first.people.authenticate("admin", password) == person
        assert len(password) >= 20


def test_passwords_and_secrets_are_hashed(accounts: Accounts, admin: Person, uri: str, now: datetime) -> None:
    session = accounts.sessions.begin(admin.id, now=now)
    _, token = accounts.tokens.add(admin, "script", [Right.READ], now=now)
    engine = open_engine(uri)
    with reading(engine) as connection:
        dump = str([connection.execute(table.select()).all() for table in METADATA.sorted_tables])
    engine.dispose()
    assert "$argon2id$" in dump
    for secret in (PASSWORD, session, token):
        assert secret not in dump
    assert digest(token) in dump


def test_default_password_hash_cost(accounts: Accounts, admin: Person, uri: str, now: datetime) -> None:
    """Default: RFC 9106, section 4, second choice (64 MiB, three passes, four lanes)."""
    engine = open_engine(uri)

    def stored_hash(name: str) -> str:
        with reading(engine) as connection:
            found: str = connection.execute(select(PEOPLE.c.password).where(PEOPLE.c.name == name)).scalar_one()
        return found

    with closing(open_accounts(uri)) as default:
        default.people.add("乙", PASSWORD, Role.READER, now=now)
        assert stored_hash("乙").startswith("$argon2id$v=19$m=65536,t=3,p=4$")
        assert stored_hash(admin.name).startswith("$argon2id$v=19$m=8,t=1,p=1$")
        assert default.people.authenticate(admin.name, PASSWORD) == admin
        assert stored_hash(admin.name).startswith("$argon2id$v=19$m=65536,t=3,p=4$")  # rehashed with the default cost at sign-in
    engine.dispose()


@pytest.mark.parametrize("name", ["王老板", " 王老板 "])
def test_sign_in_by_name_and_password(accounts: Accounts, admin: Person, name: str) -> None:
    assert accounts.people.authenticate(name, PASSWORD) == admin
    assert accounts.people.authenticate(name, PASSWORD + " ") is None
    assert accounts.people.authenticate("nobody", PASSWORD) is None
    assert accounts.people.authenticate("\udc80\x00", "\udc80\x00") is None


@pytest.mark.parametrize("name", ["Ｂoss", "BOSS", "boss "])
def test_equivalent_names_are_taken(accounts: Accounts, now: datetime, name: str) -> None:
    accounts.people.add("Boss", PASSWORD, Role.EDITOR, now=now)
    with pytest.raises(AccountError, match="taken"):
        accounts.people.add(name, PASSWORD, Role.ADMIN, now=now)


@pytest.mark.parametrize(
    ("name", "password"), [("", PASSWORD), ("a\nb", PASSWORD), ("x" * 65, PASSWORD), ("ok", "short"), ("ok", "x" * 1001)]
)
def test_invalid_names_and_passwords_are_refused(accounts: Accounts, now: datetime, name: str, password: str) -> None:
    with pytest.raises(AccountError):
        accounts.people.add(name, password, Role.READER, now=now)


def test_session_expires_when_idle_and_when_old(accounts: Accounts, admin: Person, now: datetime) -> None:
    secret, at = accounts.sessions.begin(admin.id, now=now, address="192.0.2.1", agent="Firefox"), now
    found = accounts.sessions.authenticate(secret, now=now)
    assert found is not None
    assert (found.person, found.method) == (admin, "session")
    assert accounts.sessions.authenticate(secret, now=now + IDLE + timedelta(seconds=1)) is None
    while at + IDLE < now + LONGEST:
        at += IDLE - timedelta(hours=1)
        assert accounts.sessions.authenticate(secret, now=at) is not None
    assert accounts.sessions.authenticate(secret, now=now + LONGEST + timedelta(seconds=1)) is None
    assert accounts.sessions.of(admin.id, now=now + LONGEST + timedelta(seconds=1)) == []


def test_sessions_are_listed_and_ended(accounts: Accounts, admin: Person, now: datetime) -> None:
    other = accounts.people.add("other", PASSWORD, Role.READER, now=now)
    secrets = [accounts.sessions.begin(admin.id, now=now, agent=str(number)) for number in range(3)]
    foreign = accounts.sessions.begin(other.id, now=now)
    accounts.sessions.end_one(admin.id, digest(foreign))  # another person's session
    assert accounts.sessions.authenticate(foreign, now=now) is not None
    accounts.sessions.end_one(admin.id, digest(secrets[0]))
    assert {session.user_agent for session in accounts.sessions.of(admin.id, now=now)} == {"1", "2"}
    accounts.sessions.end_all(admin.id, except_session=digest(secrets[1]))
    assert [accounts.sessions.authenticate(secret, now=now) is not None for secret in secrets] == [False, True, False]
    accounts.sessions.end(secrets[1])
    assert accounts.sessions.of(admin.id, now=now) == []


def credentials(accounts: Accounts, person: Person, now: datetime) -> list[Callable[[], object]]:
    """Return every way in which a person can authenticate."""
    session = accounts.sessions.begin(person.id, now=now)
    _, token = accounts.tokens.add(person, "script", person.rights, now=now)
    return [
        lambda: accounts.people.authenticate(person.name, PASSWORD),
        lambda: accounts.sessions.authenticate(session, now=now),
        lambda: accounts.tokens.authenticate(token, now=now),
    ]


def test_find_person_by_id_and_name(accounts: Accounts, admin: Person, now: datetime) -> None:
    other = accounts.people.add("other", PASSWORD, Role.READER, now=now)
    assert (accounts.people.get(other.id), accounts.people.get(admin.id)) == (other, admin)
    assert (accounts.people.by_name(" ＯＴＨＥＲ "), accounts.people.by_name(admin.name)) == (other, admin)
    assert (accounts.people.get("nobody"), accounts.people.by_name("nobody")) == (None, None)


def test_disabled_person_cannot_authenticate(accounts: Accounts, admin: Person, now: datetime) -> None:
    other = accounts.people.add("other", PASSWORD, Role.EDITOR, now=now)
    checks = credentials(accounts, other, now)
    assert all(check() for check in checks)
    accounts.people.disable(other.id)
    assert not any(check() for check in checks)
    accounts.people.disable(other.id, False)
    assert [bool(check()) for check in checks] == [True, False, True]  # sessions were ended
    alert = Alert("one", other.id, "旅游", "topic", "旅游", "ntfy", {}, now)
    accounts.alerts.add(alert)
    accounts.alerts.insert([Message(alert.id, "story", "article", "标题", found=now, due=now, changed=now)])
    accounts.people.remove(other.id)
    assert (accounts.alerts.all(), accounts.alerts.messages(alert.id), accounts.alerts.due(now)) == ([], [], set())
    assert not any(check() for check in checks)
    assert accounts.tokens.of() == []


def test_new_password_ends_other_sessions_and_tokens(accounts: Accounts, admin: Person, now: datetime) -> None:
    first, second = (accounts.sessions.begin(admin.id, now=now) for _ in range(2))
    _, secret = accounts.tokens.add(admin, "script", admin.rights, now=now)
    accounts.people.set_password(admin.id, "another one 123", except_session=digest(first))
    assert accounts.sessions.authenticate(first, now=now) is not None
    assert accounts.sessions.authenticate(second, now=now) is None
    assert accounts.tokens.authenticate(secret, now=now) is None
    assert accounts.people.authenticate(admin.name, PASSWORD) is None


def test_tokens_per_person_are_limited(accounts: Accounts, admin: Person, now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MAX_TOKENS", 2)
    tokens = [accounts.tokens.add(admin, f"script {number}", admin.rights, now=now)[0] for number in range(2)]
    with pytest.raises(AccountError, match="at most 2 tokens"):
        accounts.tokens.add(admin, "one more", admin.rights, now=now)
    accounts.tokens.revoke(tokens[0].id)
    accounts.tokens.add(admin, "one more", admin.rights, now=now)


def test_last_administrator_cannot_be_removed(accounts: Accounts, admin: Person, now: datetime) -> None:
    other = accounts.people.add("other", PASSWORD, Role.ADMIN, now=now)
    accounts.people.disable(other.id)
    for change in (accounts.people.remove, accounts.people.disable, lambda person: accounts.people.set_role(person, Role.EDITOR)):
        with pytest.raises(AccountError, match="the last administrator"):
            change(admin.id)
    accounts.people.disable(other.id, False)
    accounts.people.set_role(admin.id, Role.READER)
    assert {person.name: person.role for person in accounts.people.all()} == {"other": Role.ADMIN, "王老板": Role.READER}


def test_token_rights_are_limited_to_its_own_and_the_persons(accounts: Accounts, admin: Person, now: datetime) -> None:
    token, secret = accounts.tokens.add(admin, " a  script ", [Right.READ, Right.EDIT], now=now, expires=now + timedelta(days=1))
    assert (token.name, secret.startswith("np_")) == ("a script", True)
    found = accounts.tokens.authenticate(secret, now=now)
    assert found is not None
    assert (found.rights, found.method, found.credential) == ({Right.READ, Right.EDIT}, "token", token.id)
    accounts.people.add("other", PASSWORD, Role.ADMIN, now=now)
    accounts.people.set_role(admin.id, Role.READER)
    found = accounts.tokens.authenticate(secret, now=now)
    assert found is not None
    assert found.rights == {Right.READ}
    assert accounts.tokens.of(admin.id)[0].last_used == now
    assert accounts.tokens.authenticate(secret, now=now + timedelta(days=1)) is None
    assert accounts.tokens.authenticate(secret[:-1], now=now) is None
    assert accounts.tokens.revoke(token.id, person_id="somebody else") is False
    assert accounts.tokens.revoke(token.id) is True
    assert accounts.tokens.authenticate(secret, now=now) is None


def test_audit_log_is_paged_newest_first(accounts: Accounts, admin: Person, now: datetime) -> None:
    user = accounts.sessions.authenticate(accounts.sessions.begin(admin.id, now=now), now=now)
    for number in range(5):
        accounts.audit_log.add(
            user, "source.change", f"feed:{number}", {"名": number}, now=now + timedelta(hours=number), address="192.0.2.1"
        )
    accounts.audit_log.add(None, "sourced", "x", now=now)
    assert [entry.subject for entry in accounts.audit_log.entries(limit=2)] == ["x", "feed:4"]
    third = accounts.audit_log.entries(limit=3)[-1]
    assert [entry.subject for entry in accounts.audit_log.entries(before=third.seq)] == ["feed:2", "feed:1", "feed:0"]
    assert (third.person, third.method, third.details, third.address) == ("王老板", "session", {"名": 3}, "192.0.2.1")
    assert {entry.action for entry in accounts.audit_log.entries(action="source")} == {"source.change"}
    assert len(accounts.audit_log.entries(person="王老板", since=now + timedelta(hours=3))) == 2
    assert (accounts.audit_log.names(), accounts.audit_log.actions()) == (["王老板"], ["source.change", "sourced"])
    accounts.people.add("other", PASSWORD, Role.ADMIN, now=now)
    accounts.people.remove(admin.id)
    assert accounts.audit_log.entries(person="王老板")
