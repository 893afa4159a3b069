"""What all tables agree on: types, limits, and texts as every database can keep them.

Moments are whole microseconds since 1970 (UTC): every database sorts and compares them alike, and no time zone is lost on the way.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sqlalchemy import BigInteger, Column, Dialect, Integer, LargeBinary, MetaData, String, Text, TypeDecorator
from sqlalchemy.dialects import mysql

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)

FIRST, LAST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)
"""The ends of the calendar, a day off so that no time zone leads beyond."""

ID_CHARS: Final = 20
"""Length of ``items.content_id``."""

NAME_CHARS: Final = 255
"""Names that are looked up (topics, sites, sources) are cut to this: more does not fit into an index of MySQL."""

MOST_DECLARING: Final = 3
"""Articles that are named to declare one address. An address that more declare is a template's mistake, and no article's."""


def shifted(moment: datetime, by: timedelta) -> datetime:
    """``moment + by``, stopping at the ends of the calendar (pages are dated in the year 1)."""
    try:
        return moment + by
    except OverflowError:
        return LAST if by > timedelta(0) else FIRST


UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""NUL and lone surrogates: PostgreSQL refuses the first, UTF-8 cannot write the second."""


def storable(text: str) -> str:
    """``text`` as every database can keep it: without NUL, lone surrogates replaced. Any other text is itself."""
    return UNSTORABLE.sub(lambda found: "" if found[0] == "\x00" else "\ufffd", text)


def name(text: str) -> str:
    """A topic, site or source as it is looked up."""
    return storable(text)[:NAME_CHARS]


class Moment(TypeDecorator[datetime]):
    """An aware datetime as microseconds since 1970."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        return None if value is None else (value - EPOCH) // MICROSECOND

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        return None if value is None else EPOCH + MICROSECOND * int(value)


METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


LONG_TEXT = Text().with_variant(mysql.MEDIUMTEXT(), "mysql", "mariadb")
"""MySQL's ``TEXT`` ends at 64 kB."""

LONG_BINARY = LargeBinary().with_variant(mysql.LONGBLOB(), "mysql", "mariadb")

SEQUENCE = BigInteger().with_variant(Integer(), "sqlite")
"""SQLite counts up by itself only in a column that is called ``INTEGER``."""

NUMBER = BigInteger().with_variant(Integer(), "sqlite")
"""A number that a page tells: SQLite keeps any of 64 bits, the others say which."""


def id_column(name: str, *arguments: Any, **options: Any) -> Column[str]:
    """A column of ids as :func:`items.content_id` makes them."""
    return Column(name, String(ID_CHARS), *arguments, **options)
