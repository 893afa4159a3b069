"""What all tables agree on: types, limits, and texts as every database can keep them.

Moments are whole microseconds since 1970 (UTC): every database sorts and compares them alike, and no time zone is lost on the way.
"""

from __future__ import annotations

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
"""The ends of the calendar, a day off so that no time zone leads beyond."""

ID_CHARS: Final = 20  # length of ``items.content_id``
NAME_CHARS: Final = 255  # Names that are looked up (topics, sites, sources) are cut to this: more does not fit into an index of MySQL
MOST_DECLARING: Final = 3
"""Articles that are named to declare one address. An address that more declare is a template's mistake, and no article's."""


def shifted(moment: datetime, by: timedelta) -> datetime:
    """``moment + by``, stopping at the ends of the calendar (pages are dated in the year 1)."""
    try:
        return moment + by
    except OverflowError:
        return LAST if by > timedelta(0) else FIRST


UNSTORABLE = re.compile("[\x00\ud800-\udfff]")  # NUL and lone surrogates: PostgreSQL refuses the first, UTF-8 cannot write the second.


def storable(text: str) -> str:
    """``text`` as every database can keep it: without NUL, lone surrogates replaced. Any other text is itself."""
    return UNSTORABLE.sub(lambda found: "" if found[0] == "\x00" else "\ufffd", text)


def name(text: str) -> str:
    """A topic, site or source as it is looked up."""
    return storable(text)[:NAME_CHARS]


def name_id(text: str) -> str:
    """The id by which a name of any length (an identity, an address) is looked up."""
    return content_id(storable(text))


def to_json(value: Any) -> Any:
    """``value`` as a JSON column keeps it: a dataclass as an object without the fields that have their defaults, moments in ISO 8601."""
    if isinstance(value, str):
        return storable(value)
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {storable(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [item if type(item) in (int, float) else to_json(item) for item in value]  # a region's state names hundreds of pages so
    if is_dataclass(value):
        pairs = ((field, getattr(value, field.name)) for field in fields(value))
        return {
            field.name: to_json(item)
            for field, item in pairs
            if item != (field.default if field.default_factory is MISSING else field.default_factory())
        }
    return value


def build(type_: type[T], values: Mapping[Any, Any], **convert: Callable[[Any], Any]) -> T:
    """A dataclass from a row, or from the object that :func:`to_json` made; keys that are no fields are left out.

    ``convert``: field → what makes its value of the one that is there.
    """
    found = {field.name: values[field.name] for field in fields(type_) if field.name in values}
    found |= {name: make(found[name]) for name, make in convert.items() if found.get(name) is not None}
    return type_(**found)


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

LONG_TEXT = Text().with_variant(mysql.MEDIUMTEXT(), "mysql", "mariadb")  # MySQL's ``TEXT`` ends at 64 kB
LONG_BINARY = LargeBinary().with_variant(mysql.LONGBLOB(), "mysql", "mariadb")

SEQUENCE = BigInteger().with_variant(Integer(), "sqlite")  # SQLite counts up by itself only in a column that is called ``INTEGER``
NUMBER = BigInteger().with_variant(Integer(), "sqlite")  # A number that a page tells: SQLite keeps any of 64 bits, the others say which.


def id_column(name: str, *arguments: Any, **options: Any) -> Column[str]:
    """A column of ids as :func:`items.content_id` makes them."""
    return Column(name, String(ID_CHARS), *arguments, **options)
