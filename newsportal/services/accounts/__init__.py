"""User accounts of a portal: roles and rights, sessions and tokens, marks and saved searches, alerts, and the audit log.

Stored in a separate database (``portal.accounts`` in ``sources.yaml``; by default ``accounts.db`` next to an SQLite store), because
articles are copied, exported and archived, and passwords and sessions must not be.
"""

from importlib.resources import files
from typing import Final

from argon2 import PasswordHasher

from newsportal.services.accounts.alerts import Alerts
from newsportal.services.accounts.base import RIGHTS, AuditEntry, Identity, Person, Right, Role, Session, Token
from newsportal.services.accounts.marks import ItemNumbers, Marks, Searches
from newsportal.services.accounts.people import AuditLog, People, SavedPreferences
from newsportal.services.accounts.sessions import Attempts, Sessions, Tokens
from newsportal.services.accounts.tables import METADATA
from newsportal.store import schema
from newsportal.store.dialect_sqlite import sqlite_file
from newsportal.store.dialects import dialect, open_engine

__all__ = ["RIGHTS", "Accounts", "AuditEntry", "Identity", "Person", "Right", "Role", "Session", "Token", "open_accounts"]

MIGRATIONS: Final = files("newsportal.services.accounts") / "migrations"

LINE = schema.MigrationChain(
    schema.newest(MIGRATIONS), MIGRATIONS, "accounts_version", METADATA,
    "name another file as accounts under portal: in sources.yaml, or move this one away; a new administrator is created then",
)  # fmt: skip


class Accounts:
    """The accounts database. Thread-safe, blocking. Raises the errors of stores, and ``AccountError``."""

    def __init__(self, uri: str, hasher: PasswordHasher | None = None) -> None:
        self._engine = open_engine(uri)
        schema.prepare(self._engine, LINE)
        self.people = People(self._engine, hasher)
        self.sessions = Sessions(self._engine)
        self.tokens = Tokens(self._engine)
        self.attempts = Attempts(self._engine)
        self.audit_log = AuditLog(self._engine)
        self.alerts = Alerts(self._engine)
        self.marks = Marks(self._engine)
        self.searches = Searches(self._engine)
        self.preferences = SavedPreferences(self._engine)
        self.items = ItemNumbers(self._engine)

    def release_space(self, *, rebuild: bool = False) -> int:
        """See ``Pruning.release_space`` of the store."""
        return dialect(self._engine.dialect.name).release_space(self._engine, rebuild)

    def close(self) -> None:
        self._engine.dispose()


def open_accounts(uri: str, *, hasher: PasswordHasher | None = None) -> Accounts:
    """Open the accounts at ``uri`` (``sqlite:///FILE``, ``postgresql://…``, ``mariadb://…``), creating or migrating the database if needed.
    ``hasher`` sets the cost of password hashing (None: argon2id as RFC 9106 recommends); tests with many sign-ins use a cheap one. Raises
    the errors of :func:`newsportal.store.open_store`."""
    file = sqlite_file(uri)
    if file is not None and not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(0o600)  # password hashes must not be readable by other users of the machine
    return Accounts(uri, hasher)
