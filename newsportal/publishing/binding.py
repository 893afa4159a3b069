"""Values of a row as the columns of a table take them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Boolean, Column, Date, DateTime, Integer, Numeric, String, Uuid, type_coerce

from newsportal.publishing.base import Refused
from newsportal.publishing.columns import Cell

BYTES: Final[Mapping[str, int]] = {"TINYTEXT": 255, "TEXT": 65_535, "MEDIUMTEXT": 16_777_215}
"""How many bytes texts of MySQL take; their columns do not tell."""

ISO: Final = "%Y-%m-%d %H:%M:%S"


def bound(value: Cell, column: Column[Any], *, sqlite: bool) -> Any:
    """``value`` as the column's type takes it. Raises ``Refused``."""
    kind = column.type
    if isinstance(value, datetime):
        return _moment(value, kind)
    if isinstance(kind, DateTime | Date) and isinstance(value, str):
        return type_coerce(value, String) if sqlite else _parsed(value, kind)
    if isinstance(kind, Boolean) and isinstance(value, int):
        return bool(value)
    if isinstance(kind, Integer) and isinstance(value, bool):
        return int(value)
    most = BYTES.get(type(kind).__name__)
    if most is not None and isinstance(value, str) and len(value.encode()) > most:
        raise Refused(f"{column.name}: {len(value.encode())} bytes, and the column takes {most}; add max, or make it a larger text there")
    return value


READERS: Final[tuple[tuple[type[Any], Callable[[str], Any]], ...]] = (
    (DateTime, datetime.fromisoformat),
    (Date, date.fromisoformat),
    (Uuid, UUID),
    (Numeric, Decimal),
)


def key_of(value: Any, column: Column[Any]) -> Any:
    """A key's value as its column compares it, of what was kept of it as JSON, which knows neither dates nor UUIDs."""
    reader = next((reader for kind, reader in READERS if isinstance(column.type, kind)), None)
    try:
        return reader(value) if reader is not None and isinstance(value, str) else value
    except (ValueError, ArithmeticError):
        return value  # a moment that was written in a form of one's own


def _moment(moment: datetime, kind: Any) -> Any:
    if isinstance(kind, DateTime):
        whole = moment.replace(microsecond=0)
        return whole if kind.timezone else whole.replace(tzinfo=None)
    if isinstance(kind, Date):
        return moment.date()
    return int(moment.timestamp()) if isinstance(kind, Integer | Numeric) else moment.strftime(ISO)


def _parsed(text: str, kind: Any) -> date | datetime:
    """A moment that was written in a form of one's own, as a column of dates takes it. Raises ``Refused``."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise Refused(f"{text!r} is no date that the column takes; leave the format out, or write %Y-%m-%d %H:%M:%S") from error
    return found if isinstance(kind, DateTime) else found.date()
