"""Searches that a person keeps under a name."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Engine, Row, and_, delete, func, insert, select, update

from newsportal.accounts.tables import SEARCHES
from newsportal.errors import StoreError
from newsportal.store.dialects import reading, writing
from newsportal.text import clean

MAX_SEARCHES = 100
"""Of one person: a list that is still looked at."""

MAX_NAME = 80
MAX_ASKED = 4_000  # characters of the query of an address, percent signs and all


class NotKept(StoreError):
    """Raised by :meth:`Searches.keep` and :meth:`Searches.rename`; the caller shows the sentence beside the form."""


@dataclass(frozen=True, slots=True)
class Search:
    """``asked``: the query of the search page's address (``q=…&topic=…``)."""

    id: str
    person_id: str
    name: str
    asked: str
    created: datetime


class Searches:
    """May be shared between threads. Blocking calls. Errors are those of stores."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def keep(self, person_id: str, name: str, asked: str, *, now: datetime) -> Search:
        """Keep a search; one that is kept already gets the new name. Raises ``NotKept``."""
        named = _named(name)
        if not asked or len(asked) > MAX_ASKED:
            raise NotKept("There is nothing to keep, or it is too long.")
        with writing(self._engine) as connection:
            mine = SEARCHES.c.person_id == person_id
            known = [row for row in connection.execute(select(SEARCHES).where(mine)) if row.asked == asked]
            if known:
                connection.execute(update(SEARCHES).where(SEARCHES.c.id == known[0].id).values(name=named))
                return Search(known[0].id, person_id, named, asked, known[0].created)
            if connection.execute(select(func.count()).select_from(SEARCHES).where(mine)).scalar_one() >= MAX_SEARCHES:
                raise NotKept(f"{MAX_SEARCHES} searches are kept already: remove one first.")
            made = Search(secrets.token_hex(10), person_id, named, asked, now)
            row = {"id": made.id, "person_id": person_id, "name": named, "asked": asked, "created": now}
            connection.execute(insert(SEARCHES).values(row))
            return made

    def of(self, person_id: str) -> list[Search]:
        """By name."""
        with reading(self._engine) as connection:
            return [
                _search(row)
                for row in connection.execute(select(SEARCHES).where(SEARCHES.c.person_id == person_id).order_by(SEARCHES.c.name))
            ]

    def search(self, person_id: str, search_id: str) -> Search | None:
        with reading(self._engine) as connection:
            row = connection.execute(select(SEARCHES).where(_mine(person_id, search_id))).one_or_none()
        return _search(row) if row is not None else None

    def rename(self, person_id: str, search_id: str, name: str) -> bool:
        """Whether there is such a search of this person. Raises ``NotKept``."""
        with writing(self._engine) as connection:
            return connection.execute(update(SEARCHES).where(_mine(person_id, search_id)).values(name=_named(name))).rowcount > 0

    def remove(self, person_id: str, search_id: str) -> Search | None:
        """What was removed, so that it can be kept again."""
        with writing(self._engine) as connection:
            row = connection.execute(select(SEARCHES).where(_mine(person_id, search_id))).one_or_none()
            connection.execute(delete(SEARCHES).where(_mine(person_id, search_id)))
        return _search(row) if row is not None else None


def _mine(person_id: str, search_id: str) -> Any:
    return and_(SEARCHES.c.person_id == person_id, SEARCHES.c.id == search_id)


def _named(name: str) -> str:
    named = clean(name)[:MAX_NAME].strip()
    if not named:
        raise NotKept("Give it a name.")
    return named


def _search(row: Row[Any]) -> Search:
    return Search(row.id, row.person_id, row.name, row.asked, row.created)
