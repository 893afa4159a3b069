"""Logs of what readers looked at, as files: JSON lines or CSV, plain or packed with gzip.

A file is right as a whole or an error names the line. It is read twice, first to be checked; standard input is kept aside for that.
"""

from __future__ import annotations

import csv
import gzip
import json
import shutil
import sys
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, BinaryIO, Final, cast

from newsportal.errors import ClicksError
from newsportal.messages import aware
from newsportal.recommend.base import View

FIELDS: Final = ("reader", "story", "seen", "pictures", "at")
NEEDED: Final = ("reader", "story", "at")
FORMS: Final = ("jsonl", "csv")
SHAPE: Final = 'a view is {"reader", "story", "at"}, and may have "seen" of "pictures" (1 of 1)'
LONGEST_LINE: Final = 1 << 20


@contextmanager
def opened(file: str) -> Iterator[BinaryIO]:
    """The file as bytes that can be read again from the start; ``-`` is standard input. Raises ``ClicksError``."""
    try:
        with TemporaryFile() if file == "-" else Path(file).open("rb") as stream:
            if file == "-":
                shutil.copyfileobj(sys.stdin.buffer, stream)
            yield cast(BinaryIO, stream)
    except OSError as error:
        raise ClicksError(f"{file}: {error.strerror or error}") from error


def read(stream: BinaryIO, form: str, name: str) -> Iterator[View]:
    """The views of an open file, from its start. Raises ``ClicksError``."""
    stream.seek(0)
    packed = stream.read(2) == b"\x1f\x8b"
    stream.seek(0)
    plain = cast(IO[bytes], gzip.GzipFile(fileobj=stream)) if packed else stream
    lines = TextIOWrapper(cast(Any, plain), encoding="utf-8-sig", newline="" if form == "csv" else None)
    number = 0
    try:
        for number, row in (_csv if form == "csv" else _jsonl)(lines, name):  # noqa: B007  told below
            yield _view(row)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ClicksError(f"{name}: not a gzip file, or cut off; nothing of it was taken") from error
    except (ValueError, RecursionError, csv.Error) as error:
        raise ClicksError(f"{name}: line {number + 1 if isinstance(error, UnicodeDecodeError) else number}: {error}") from error
    finally:
        lines.detach()


def _jsonl(lines: TextIOWrapper, name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    number = 0
    while line := lines.readline(LONGEST_LINE):
        number += 1
        if line.strip():
            try:
                row = json.loads(line)
            except ValueError as error:
                raise ClicksError(f"{name}: line {number}: {error}; {SHAPE}") from error
            yield number, row if isinstance(row, dict) else {}


def _csv(lines: TextIOWrapper, name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    rows = csv.DictReader(lines, strict=True)
    if missing := [field for field in NEEDED if field not in (rows.fieldnames or ())]:
        raise ClicksError(f"{name}: line 1: no column {', '.join(missing)}; the first line names the columns: {','.join(FIELDS)}")
    for row in rows:
        yield rows.line_num, row


def _view(row: Mapping[str, Any]) -> View:
    if missing := [field for field in NEEDED if row.get(field) in (None, "")]:
        raise ValueError(f"no {', '.join(missing)}; {SHAPE}")
    numbers = []
    for field in ("seen", "pictures"):
        value = 1 if row.get(field) in (None, "") else row[field]
        if isinstance(value, bool) or not str(value).isdecimal() or (field == "pictures" and int(value) < 1):
            raise ValueError(f"{field} is {value!r}; allowed: a whole number{' from 1 on' if field == 'pictures' else ''}")
        numbers.append(int(value))
    seen, pictures = numbers
    return View(str(row["reader"]), str(row["story"]), min(seen, pictures), pictures, moment(row["at"]))


def moment(value: Any) -> datetime:
    """A moment in ISO 8601 (without a zone: in ``portal.timezone``), or seconds since 1970."""
    try:
        if isinstance(value, int | float) or str(value).replace(".", "", 1).isdecimal():
            return datetime.fromtimestamp(float(value), UTC)
        return aware(datetime.fromisoformat(str(value)))
    except (ValueError, OverflowError, OSError) as error:
        raise ValueError(f"at is {value!r}; allowed: 2026-03-01T08:30+08:00, or seconds since 1970") from error


def as_row(view: View) -> dict[str, Any]:
    return {"reader": view.reader, "story": view.story, "seen": view.seen, "pictures": view.pictures, "at": view.at.isoformat()}
