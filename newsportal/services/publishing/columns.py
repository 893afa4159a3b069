"""Rows for tables of other databases: built from an article according to ``sources.yaml``, with values converted to the columns' types.

The table is checked against ``sources.yaml`` first, and all mistakes are reported together before anything is written.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime, tzinfo
from decimal import Decimal
from typing import Any, Final, Literal
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import Boolean, Date, DateTime, Enum, Integer, Numeric, String, Table, UniqueConstraint, Uuid, type_coerce
from sqlalchemy import Column as TableColumn

from newsportal.messages import did_you_mean
from newsportal.services.publishing import fields
from newsportal.services.publishing.base import Refused
from newsportal.sources.publishing import MOMENTS, NUMBERS, Column, Scalar, Target, template_parts
from newsportal.store.results import StoredArticle

Cell = Scalar | datetime | None

UNIX: Final = "unix"
ELLIPSIS: Final = "…"

BYTES: Final[Mapping[str, int]] = {"TINYTEXT": 255, "TEXT": 65_535, "MEDIUMTEXT": 16_777_215}
"""Maximum bytes of MySQL's text types; the reflected columns do not have them."""

ISO: Final = "%Y-%m-%d %H:%M:%S"

READERS: Final[tuple[tuple[type[Any], Callable[[str], Any]], ...]] = (
    (DateTime, datetime.fromisoformat),
    (Date, date.fromisoformat),
    (Uuid, UUID),
    (Numeric, Decimal),
)


def row_of(article: StoredArticle, columns: Mapping[str, Column], zone: tzinfo) -> dict[str, Cell]:
    """Return column → value. ``zone``: for times of columns without their own."""
    return {name: cell(article, column, zone) for name, column in columns.items()}


def cell(article: StoredArticle, column: Column, zone: tzinfo) -> Cell:
    """Return the value of one column, its default if the article has none. A time without a format is a datetime in its zone."""
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
        words = article.topics if column.by == "topic" else (fields.text(article, column.by, zone),)
        return next((column.lookup[word] for word in words if word in column.lookup), None)
    if column.template is not None:
        return fields.fill_template(column.template, article, zone)
    found = fields.value(article, column.field or "", zone)
    if isinstance(found, tuple):
        return column.join.join(found)
    if not isinstance(found, datetime):
        return found
    moment = found.astimezone(zone)
    if column.format is None:
        return moment
    return int(moment.timestamp()) if column.format == UNIX else moment.strftime(column.format)


def convert(value: Cell, column: TableColumn[Any], *, sqlite: bool) -> Any:
    """Convert ``value`` to the column's type. Raises ``Refused``."""
    kind = column.type
    if isinstance(value, datetime):
        if isinstance(kind, DateTime):
            seconds = value.replace(microsecond=0)
            return seconds if kind.timezone else seconds.replace(tzinfo=None)
        if isinstance(kind, Date):
            return value.date()
        return int(value.timestamp()) if isinstance(kind, Integer | Numeric) else value.strftime(ISO)
    if isinstance(kind, DateTime | Date) and isinstance(value, str):
        return type_coerce(value, String) if sqlite else _parsed(value, kind)
    if isinstance(kind, Boolean) and isinstance(value, int):
        return bool(value)
    if isinstance(kind, Integer) and isinstance(value, bool):
        return int(value)
    limit = BYTES.get(type(kind).__name__)
    if limit is not None and isinstance(value, str) and len(value.encode()) > limit:
        raise Refused(f"{column.name}: {len(value.encode())} bytes, but the column takes {limit}; add max, or enlarge the column")
    return value


def key_of(value: Any, column: TableColumn[Any]) -> Any:
    """Convert a key stored as JSON, which has neither dates nor UUIDs, to the column's type."""
    reader = next((reader for kind, reader in READERS if isinstance(column.type, kind)), None)
    try:
        return reader(value) if reader is not None and isinstance(value, str) else value
    except (ValueError, ArithmeticError):
        return value  # a date in a custom format


def _parsed(text: str, kind: Any) -> date | datetime:
    """Parse a formatted date for a date column. Raises ``Refused``."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise Refused(f"{text!r} is not a date that the column accepts; omit the format, or write %Y-%m-%d %H:%M:%S") from error
    return found if isinstance(kind, DateTime) else found.date()


Kind = Literal["text", "number", "truth", "moment", "other"]

SHORT: Final[Mapping[str, int]] = {
    "id": 20,
    "story": 20,
    "kind": 7,
    "day": 10,
    "language": 35,
    "source": 255,
    "category": 255,
    "topic": 255,
}
"""Fields of bounded length, in characters."""

ALWAYS: Final = frozenset(
    ("id", "story", "identity", "url", "title", "text", "html", "summary", "first_seen", "moment", "day", "site", "source", "kind")
) | set(NUMBERS)
"""Fields that every article has."""

TYPES: Final[tuple[tuple[type[Any], Kind], ...]] = (
    (Boolean, "truth"),
    (Integer, "number"),
    (Numeric, "number"),
    (DateTime, "moment"),
    (Date, "moment"),
    (String, "text"),
)

KIND_NAMES: Final = {"truth": "true or false", "moment": "dates", "number": "numbers", "text": "text", "other": "something else"}
UNSAFE_ENGINES: Final = ("myisam", "aria", "memory", "csv", "archive")  # storage engines of MySQL without transactions


def kind_of(column: TableColumn[Any]) -> Kind:
    return next((kind for type_, kind in TYPES if isinstance(column.type, type_)), "other")


def find_mistakes(table: Table, target: Target) -> Iterator[str]:
    """Yield mistakes in sources.yaml or the table, each with its remedy."""
    columns = table.columns
    for name, column in target.columns.items():
        if name not in columns:
            hint = did_you_mean(name, columns.keys())
            yield f"columns.{name}: the table has no such column; it has: {', '.join(columns.keys())}" + (f" ({hint})" if hint else "")
        else:
            yield from (f"columns.{name}: {mistake}" for mistake in _column_mistakes(columns[name], column, is_key=name == target.key))
    for name in (target.unpublish if isinstance(target.unpublish, dict) else {}).keys() - set(columns.keys()):
        yield f"unpublish.{name}: the table has no such column; it has: {', '.join(columns.keys())}"
    for existing in columns:
        if existing.name not in target.columns and not _fills_itself(existing, table):
            yield f"the table's column {existing.name} must have a value and has no default: add it under columns"
    if not table.primary_key.columns and target.key is None:
        yield "the table has no primary key: set key to the column that identifies an article"
    if _without_transactions(table) and target.key is None:
        yield "the table's engine has no transactions, so a crash may write an article twice: give key, or ALTER TABLE … ENGINE=InnoDB"


def find_remarks(table: Table, target: Target) -> Iterator[str]:
    """Yield remarks that do not prevent publishing."""
    unique = [table.primary_key.columns, *(item.columns for item in table.constraints if isinstance(item, UniqueConstraint))]
    keys = [*(columns.keys() for columns in unique), *(index.columns.keys() for index in table.indexes if index.unique)]
    if target.key is not None and target.key in table.columns and [target.key] not in keys:
        yield f"the table allows several rows with the same {target.key}; add a UNIQUE index"
    if _without_transactions(table):
        yield "the table's engine has no transactions: a row may be left partly written"


def _column_mistakes(actual: TableColumn[Any], column: Column, *, is_key: bool) -> Iterator[str]:
    kind = kind_of(actual)
    if wrong := _kind_mistake(kind, column):
        yield f"the column holds {KIND_NAMES[kind]}, and {wrong}"
    if not actual.nullable and column.field not in ALWAYS and {column.default, column.constant, column.template} == {None}:
        yield "the column must have a value, but some articles have none: add a default"
    length = getattr(actual.type, "length", None) if kind == "text" and not isinstance(actual.type, Enum) else None
    longest = _longest(column)
    if length is not None and (longest is None or longest > length):
        cause = "its values have no maximum length" if longest is None else f"{longest}-character values are possible"
        shorter = "it identifies the article and must not be truncated: use id (20 characters)" if is_key else f"add max: {length}"
        yield f"the column takes {length} characters, and {cause}: {shorter}"
    if isinstance(actual.type, Enum):
        allowed = tuple(map(str, actual.type.enums))
        for value in _fixed_values(column):
            if str(value) not in allowed:
                yield f"the column takes {', '.join(allowed)}, and not {value!r}"


def _kind_mistake(kind: Kind, column: Column) -> str | None:
    for value in _fixed_values(column):
        if kind == "number" and isinstance(value, str):
            return f"{value!r} is text: write a number without quotes"
        if kind == "truth" and (not isinstance(value, bool) and value not in (0, 1)):
            return f"{value!r} is neither"
        if kind == "text" and not isinstance(value, str):
            return f"{value!r} is not a text: put it in quotes"
        if kind == "moment" and not isinstance(value, str):
            return f"{value!r} is not a time: write it as text, '2026-03-01 08:30:00'"
    source_kind = _field_kind(column)
    if kind == "moment" and column.format == UNIX:
        return "seconds since 1970 are a number: omit the format"
    if source_kind is None or kind in ("other", "text") or source_kind == kind:
        return None
    if source_kind == "moment" and kind == "number" and column.format in (None, UNIX):
        return None
    return f"{column.field or 'a template'} is {KIND_NAMES[source_kind]}"


def _field_kind(column: Column) -> Kind | None:
    if column.template is not None:
        return "text"
    if column.field is None:
        return None  # constants and lookups are checked individually
    return "moment" if column.field in MOMENTS else "number" if column.field in NUMBERS else "text"


def _fixed_values(column: Column) -> list[Scalar]:
    return [value for value in (column.constant, column.default, *(column.lookup or {}).values()) if value is not None]


def _longest(column: Column) -> int | None:
    """Return the maximum number of characters of the value; ``None`` if unbounded."""
    if column.max is not None or column.field in (*MOMENTS, *NUMBERS):
        return column.max or 0
    longest = max((len(str(value)) for value in _fixed_values(column)), default=0)
    if column.field is not None:
        return max(longest, SHORT[column.field]) if column.field in SHORT else None
    if column.template is None:
        return longest
    parts = template_parts(column.template)
    sizes = [SHORT.get(name) if name else 0 for _, name in parts]
    return None if None in sizes else max(longest, sum(len(literal) for literal, _ in parts) + sum(size or 0 for size in sizes))


def _fills_itself(column: TableColumn[Any], table: Table) -> bool:
    defaults = (column.server_default, column.computed, column.identity)
    return bool(column.nullable) or any(default is not None for default in defaults) or column is table.autoincrement_column


def _without_transactions(table: Table) -> bool:
    engine = table.dialect_kwargs.get("mysql_engine") or table.dialect_kwargs.get("mariadb_engine") or ""
    return str(engine).lower() in UNSAFE_ENGINES
