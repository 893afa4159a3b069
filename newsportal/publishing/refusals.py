"""Whether an error of somebody's database is about one row, which it does not take, or about the whole place."""

from __future__ import annotations

from typing import Final

from sqlalchemy import exc

from newsportal.errors import StoreError

STATES: Final = ("P0001", "44000")
"""PostgreSQL: ``RAISE`` in a trigger of theirs; a row outside the view it is written through."""

NUMBERS: Final = (1644, 1369, 3819)
"""MariaDB and MySQL: ``SIGNAL`` in a trigger of theirs; a row outside its view; a CHECK. Their driver calls all of them operational."""


def is_refusal(error: StoreError) -> bool:
    """Whether the database answered that it does not take this row: it takes others, and this one as little tomorrow."""
    cause = error.__cause__
    if isinstance(cause, exc.DataError | exc.IntegrityError):
        return True
    said = cause.orig if isinstance(cause, exc.DBAPIError) else None
    return getattr(said, "sqlstate", None) in STATES or next(iter(getattr(said, "args", ())), None) in NUMBERS
