"""Articles as tables, a row an article. CSV: cells that no spreadsheet takes for formulas, and that come back as they were; lists have an
item a line. Parquet: typed columns. What has no column of its own stands as JSON in the last one, so nothing is lost.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Iterable, Iterator
from datetime import datetime
from importlib import import_module
from tempfile import TemporaryFile
from typing import IO, Any, Final, TextIO

from newsportal.errors import DependencyMissing, NewsportalError
from newsportal.services.exchange.form import LISTS, MOMENTS, NUMBERS, TEXTS
from newsportal.store.dialects import chunks

COLUMNS: Final = (
    "id", "story", "url", "title", "site", "author", "published", "first_seen", "language", "category", "topics", "keywords", "source",
    "fold_of", "fold_reason", "summary", "text", "more",
)  # fmt: skip


FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""A cell that starts so is a formula to a spreadsheet (OWASP, CSV injection); an apostrophe before it makes it text."""

LONGEST: Final = 64 * 1024 * 1024
"""Characters of a line and of a cell: an article has at most 16 MB of text, and a quote that nobody closed must not fill the memory."""

BOM: Final = "\ufeff"
ESCAPED: Final = re.compile("[\udc80-\udcff]")  # bytes that are not UTF-8, in a stream that was opened with surrogateescape


def is_formula(text: str) -> bool:
    """Whether a spreadsheet may take the cell for a formula, as it is or behind apostrophes of ours."""
    plain = text.lstrip("'")
    return plain.lstrip(" \u3000").startswith(FORMULA) or plain.startswith(FORMULA)


def cell(text: str) -> str:
    """``text`` as a cell that no spreadsheet takes for a formula."""
    return f"'{text}" if is_formula(text) else text


def text_of(cell: str) -> str:
    """The inverse of :func:`cell`."""
    return cell[1:] if cell.startswith("'") and is_formula(cell[1:]) else cell


def write_csv(rows: Iterable[dict[str, Any]], stream: TextIO, *, bom: bool = True) -> None:
    """With a byte order mark, by which spreadsheets know UTF-8, unless ``bom`` is false."""
    stream.write(BOM if bom else "")
    out = csv.writer(stream, lineterminator="\r\n")
    out.writerow(COLUMNS)
    for row in rows:
        out.writerow([cell(_written(row, column)) for column in COLUMNS])


def _written(row: dict[str, Any], column: str) -> str:
    if column == "more":
        more = {name: value for name, value in row.items() if name not in COLUMNS}
        return json.dumps(more, ensure_ascii=False)
    if column in LISTS:
        return "\n".join(item.replace("\\", "\\\\").replace("\n", "\\n") for item in row.get(column, ()))
    return str(row.get(column, ""))


def read_csv(stream: TextIO) -> Iterator[tuple[int, Any]]:
    """(line, row) of each; a row that is none is a ``ValueError``. Other people's files have some of the columns, in any order."""
    csv.field_size_limit(LONGEST)
    lines = csv.reader(_lines(stream), strict=True)
    header = next(_sound(lines), None)
    names = [text_of(name.removeprefix(BOM)).strip() for name in header] if isinstance(header, list) else []
    if "url" not in names:
        raise ValueError("no CSV of articles: its first line names no column url")
    for row in _sound(lines):
        if isinstance(row, ValueError):
            yield lines.line_num, row
        elif row:
            yield lines.line_num, _values_of(names, row)


def _lines(stream: TextIO) -> Iterator[str]:
    """Raises ``ValueError`` for one that is too long for an article."""
    while line := stream.readline(LONGEST):
        if len(line) == LONGEST and not line.endswith("\n"):
            raise ValueError(f"a line of more than {LONGEST} characters; is it a CSV?")
        yield line


def _sound(lines: Any) -> Iterator[list[str] | ValueError]:
    while True:
        try:
            yield next(lines)
        except StopIteration:
            return
        except csv.Error as error:
            yield ValueError(str(error))


def _values_of(names: list[str], cells: list[str]) -> Any:
    if any(ESCAPED.search(one) for one in cells):
        return ValueError("not UTF-8")
    if len(cells) != len(names):
        return ValueError(f"{len(cells)} cells where {len(names)} columns are")
    values: dict[str, Any] = {}
    for name, found in zip(names, map(text_of, cells), strict=True):
        if name == "more" and found:
            more = more_of(found)
            if isinstance(more, ValueError):
                return more
            values |= more
        elif name in LISTS:
            values[name] = [("\\".join(part.replace("\\n", "\n") for part in item.split("\\\\"))) for item in found.split("\n") if item]
        elif found or name in ("title", "text"):
            values[name] = found
    return values


def more_of(text: str) -> dict[str, Any] | ValueError:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        return ValueError(f"more is no JSON ({error})")
    return found if isinstance(found, dict) else ValueError("more is no object in JSON")


GROUP: Final = 1000  # rows of a row group: some megabytes of articles
READ: Final = 100  # rows that are read at once
IMAGE: Final = ("url", "caption", "width", "height", "format", "page", "print", "dropped")
MORE: Final = "more"


def _pyarrow() -> Any:
    try:
        import_module("pyarrow.parquet")
        return import_module("pyarrow")
    except ImportError as error:
        raise DependencyMissing("Parquet", "parquet") from error


def schema() -> Any:
    """The columns (a ``pyarrow.Schema``). Moments are microseconds in UTC."""
    arrow = _pyarrow()
    image = arrow.struct([(name, arrow.int64() if name in ("width", "height") else arrow.string()) for name in IMAGE])
    columns = [(name, arrow.string()) for name in TEXTS]
    columns += [(name, arrow.timestamp("us", tz="UTC")) for name in MOMENTS]
    columns += [(name, arrow.float64()) for name in NUMBERS]
    columns += [("revision", arrow.int64()), ("complete", arrow.bool_())]
    columns += [(name, arrow.list_(arrow.string())) for name in LISTS]
    return arrow.schema([*columns, ("images", arrow.list_(image)), (MORE, arrow.string())])


def write_parquet(rows: Iterable[dict[str, Any]], stream: IO[bytes]) -> None:
    """Streamed, a row group at a time. Raises ``DependencyMissing``."""
    arrow, columns = _pyarrow(), schema()
    with arrow.parquet.ParquetWriter(stream, columns, compression="zstd") as writer:
        for group in chunks(rows, GROUP):
            writer.write_table(arrow.Table.from_pylist([_row(row, columns.names) for row in group], schema=columns))


def _row(row: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    more = {name: value for name, value in row.items() if name not in names}
    moments: dict[str, Any] = {name: datetime.fromisoformat(row[name]) for name in MOMENTS if name in row}
    return {**row, **moments, MORE: json.dumps(more, ensure_ascii=False) if more else None}


def read_parquet(stream: IO[bytes]) -> Iterator[tuple[int, Any]]:
    """(number, row) of each, counted from 1. Raises ``NewsportalError`` for what is no such file, ``DependencyMissing``."""
    arrow = _pyarrow()
    if not stream.seekable():  # a pipe; what such a file holds stands at its end
        with TemporaryFile() as kept:
            shutil.copyfileobj(stream, kept)
            yield from read_parquet(kept)
        return
    try:
        file = arrow.parquet.ParquetFile(stream)
        rows = (row for batch in file.iter_batches(batch_size=READ) for row in batch.to_pylist())
        yield from enumerate(map(_plain_row, rows), 1)
    except (arrow.ArrowException, OSError, ValueError, OverflowError) as error:  # the last two: moments that no calendar has
        raise NewsportalError(f"not a readable Parquet file: {str(error)[:200]}") from error


def _present(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _plain_row(row: dict[str, Any]) -> Any:
    values = _present({name: value for name, value in row.items() if name != MORE})
    if isinstance(images := values.get("images"), list):
        values["images"] = [_present(one) if isinstance(one, dict) else one for one in images]
    more = more_of(str(row[MORE])) if row.get(MORE) else {}
    return more if isinstance(more, ValueError) else values | more
