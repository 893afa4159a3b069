"""Accounts in a SQL database, a room each."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from argon2 import PasswordHasher

from newsportal.services.accounts.alerts import Alerts
from newsportal.services.accounts.marks import Marks, Searches
from newsportal.services.accounts.people import People
from newsportal.services.accounts.sessions import Attempts, Sessions, Tokens
from newsportal.services.accounts.tables import METADATA
from newsportal.services.accounts.trail import Trail
from newsportal.store import schema
from newsportal.store.dialects import open_engine

MIGRATIONS: Final = files("newsportal.services.accounts") / "migrations"

LINE = schema.Line(
    schema.newest(MIGRATIONS),
    MIGRATIONS,
    "accounts_version",
    METADATA,
    "name another place for accounts in sources.yaml (portal: accounts), or move this one away; a new administrator is made",
)


class Accounts:
    """May be shared between threads. Blocking calls. Errors are those of stores, and ``AccountError``."""

    def __init__(self, uri: str, *, create: bool = True, hasher: PasswordHasher | None = None) -> None:
        self._engine = open_engine(uri, create=create)
        schema.prepare(self._engine, LINE)
        self.people = People(self._engine, hasher)
        self.sessions = Sessions(self._engine)
        self.tokens = Tokens(self._engine)
        self.attempts = Attempts(self._engine)
        self.trail = Trail(self._engine)
        self.alerts = Alerts(self._engine)
        self.marks = Marks(self._engine)
        self.searches = Searches(self._engine)

    def close(self) -> None:
        self._engine.dispose()
