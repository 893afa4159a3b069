"""Column types, limits and text conversion shared by all tables.

Times are integer microseconds since 1970 (UTC): every database sorts and compares them alike and no time zone conversion occurs.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, TypeVar

from sqlalchemy import BigInteger, Column, Dialect, Integer, LargeBinary, MetaData, String, Text, TypeDecorator
from sqlalchemy.dialects import mysql

from newsportal.items import content_id

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)

FIRST, LAST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)
"""Limits of the calendar, one day inside so that no time zone exceeds them."""

ID_CHARS: Final = 20  # length of ``items.content_id``
NAME_CHARS: Final = 255  # Names used as keys (topics, sites, sources) are cut to this: MySQL cannot index longer ones
MAX_DECLARING: Final = 3
"""Maximum number of articles recorded as declaring one URL. More declare it only if the site's template is wrong."""


def shift(moment: datetime, by: timedelta) -> datetime:
    """Return ``moment + by``, limited to the calendar (some pages are dated in the year 1)."""
    try:
        return moment + by
    except OverflowError:
        return LAST if by > timedelta(0) else FIRST


UNSTORABLE = re.compile("[\x00\ud800-\udfff]")  # NUL and lone surrogates: PostgreSQL rejects the first, UTF-8 cannot encode the second.


def storable(text: str) -> str:
    """Return ``text`` in a form that every database accepts: NUL removed, lone surrogates replaced, all else unchanged."""
    return UNSTORABLE.sub(lambda found: "" if found[0] == "\x00" else "\ufffd", text)


def name(text: str) -> str:
    """Return a topic, site or source name as it is stored in key columns."""
    return storable(text)[:NAME_CHARS]


def name_id(text: str) -> str:
    """Return the id that stands for a name of any length (an identity, a URL) in key columns."""
    return content_id(storable(text))


def to_json(value: Any) -> Any:
    """Convert ``value`` for a JSON column: a dataclass to an object without the fields that equal their defaults, times to ISO 8601."""
    if isinstance(value, str):
        return storable(value)
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {storable(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [item if type(item) in (int, float) else to_json(item) for item in value]  # a region's state lists hundreds of pages
    if is_dataclass(value):
        pairs = ((field, getattr(value, field.name)) for field in fields(value))
        return {
            field.name: to_json(item)
            for field, item in pairs
            if item != (field.default if field.default_factory is MISSING else field.default_factory())
        }
    return value


def build(type_: type[T], values: Mapping[Any, Any], **convert: Callable[[Any], Any]) -> T:
    """Build a dataclass from a row, or from an object written by :func:`to_json`; unknown keys are ignored.

    ``convert``: field -> function that converts the stored value.
    """
    found = {field.name: values[field.name] for field in fields(type_) if field.name in values}
    found |= {name: make(found[name]) for name, make in convert.items() if found.get(name) is not None}
    return type_(**found)


class Moment(TypeDecorator[datetime]):
    """A timezone-aware datetime, stored as microseconds since 1970."""

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

LONG_TEXT = Text().with_variant(mysql.MEDIUMTEXT(), "mysql", "mariadb")  # MySQL's ``TEXT`` is limited to 64 kB
LONG_BINARY = LargeBinary().with_variant(mysql.LONGBLOB(), "mysql", "mariadb")

SEQUENCE = BigInteger().with_variant(Integer(), "sqlite")  # SQLite generates numbers only for a column of the type ``INTEGER``
NUMBER = BigInteger().with_variant(Integer(), "sqlite")  # A number from a page: SQLite stores any 64-bit integer, the others need a type.


def id_column(name: str, *arguments: Any, **options: Any) -> Column[str]:
    """Return a column for ids made by :func:`items.content_id`."""
    return Column(name, String(ID_CHARS), *arguments, **options)
