"""A row of somebody else's table: made of an article as ``sources.yaml`` says, its values as the columns' types take them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime, tzinfo
from decimal import Decimal
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import Boolean, Date, DateTime, Integer, Numeric, String, Uuid, type_coerce
from sqlalchemy import Column as TableColumn

from newsportal.publishing import fields
from newsportal.publishing.base import Refused
from newsportal.sources.publishing import Column, Scalar
from newsportal.store.results import StoredArticle

Cell = Scalar | datetime | None

UNIX: Final = "unix"
ELLIPSIS: Final = "…"

BYTES: Final[Mapping[str, int]] = {"TINYTEXT": 255, "TEXT": 65_535, "MEDIUMTEXT": 16_777_215}
"""How many bytes texts of MySQL take; their columns do not tell."""

ISO: Final = "%Y-%m-%d %H:%M:%S"

READERS: Final[tuple[tuple[type[Any], Callable[[str], Any]], ...]] = (
    (DateTime, datetime.fromisoformat),
    (Date, date.fromisoformat),
    (Uuid, UUID),
    (Numeric, Decimal),
)


def row_of(article: StoredArticle, columns: Mapping[str, Column], zone: tzinfo) -> dict[str, Cell]:
    """Column → what goes into it. ``zone``: the one of moments whose column names none."""
    return {name: cell(article, column, zone) for name, column in columns.items()}


def cell(article: StoredArticle, column: Column, zone: tzinfo) -> Cell:
    """What goes into one column; its default where the article has nothing. A moment without a form is a datetime in its zone."""
    if column.constant is not None:
        return column.constant
    found = _found(article, column, ZoneInfo(column.zone) if column.zone else zone)
    if found is None or found == "":
        return column.default if column.default is not None else found
    if not isinstance(found, str) or column.max is None or len(found) <= column.max:
        return found
    return found[: column.max - 1] + ELLIPSIS if column.max > 1 else found[: column.max]


def _found(article: StoredArticle, column: Column, zone: tzinfo) -> Cell:
    if column.lookup is not None:
        return _looked_up(article, column, zone)
    if column.template is not None:
        return fields.filled(column.template, article, zone)
    found = fields.value(article, column.field or "", zone)
    if isinstance(found, tuple):
        return column.join.join(found)
    if not isinstance(found, datetime):
        return found
    moment = found.astimezone(zone)
    if column.format is None:
        return moment
    return int(moment.timestamp()) if column.format == UNIX else moment.strftime(column.format)


def _looked_up(article: StoredArticle, column: Column, zone: tzinfo) -> Cell:
    lookup = column.lookup or {}
    words = article.topics if column.by == "topic" else (fields.text(article, column.by, zone),)
    return next((lookup[word] for word in words if word in lookup), None)


def bound(value: Cell, column: TableColumn[Any], *, sqlite: bool) -> Any:
    """``value`` as the column's type takes it. Raises ``Refused``."""
    kind = column.type
    if isinstance(value, datetime):
        if isinstance(kind, DateTime):
            whole = value.replace(microsecond=0)
            return whole if kind.timezone else whole.replace(tzinfo=None)
        if isinstance(kind, Date):
            return value.date()
        return int(value.timestamp()) if isinstance(kind, Integer | Numeric) else value.strftime(ISO)
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


def key_of(value: Any, column: TableColumn[Any]) -> Any:
    """A key's value as its column compares it, of what was kept of it as JSON, which knows neither dates nor UUIDs."""
    reader = next((reader for kind, reader in READERS if isinstance(column.type, kind)), None)
    try:
        return reader(value) if reader is not None and isinstance(value, str) else value
    except (ValueError, ArithmeticError):
        return value  # a moment that was written in a form of one's own


def _parsed(text: str, kind: Any) -> date | datetime:
    """A moment that was written in a form of one's own, as a column of dates takes it. Raises ``Refused``."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise Refused(f"{text!r} is no date that the column takes; leave the format out, or write %Y-%m-%d %H:%M:%S") from error
    return found if isinstance(kind, DateTime) else found.date()
