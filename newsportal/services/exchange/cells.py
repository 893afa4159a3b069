"""Articles as CSV: cells that no spreadsheet takes for formulas, and that come back as they were.

What has no column of its own stands as JSON in the last one, so nothing is lost; lists have an item a line.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, TextIO

COLUMNS: Final = (
    "id", "story", "url", "title", "site", "author", "published", "first_seen", "language", "category", "topics", "keywords", "source",
    "fold_of", "fold_reason", "summary", "text", "more",
)  # fmt: skip

LISTS: Final = ("topics", "keywords")

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


def write(rows: Iterable[dict[str, Any]], stream: TextIO, *, bom: bool = True) -> None:
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


def read(stream: TextIO) -> Iterator[tuple[int, Any]]:
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
            yield lines.line_num, _row(names, row)


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


def _row(names: list[str], cells: list[str]) -> Any:
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
