"""JSON lines in UTF-8: rows that commands write, and documents that they read, {"id", "title", "text"} each."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import typer

from newsportal.cli.output import progress
from newsportal.errors import NewsportalError


def write(rows: Iterable[dict[str, Any]], out: Path | None) -> None:
    """Write ``rows`` to ``out``, else to standard output. A file that cannot be read or written ends the command with status 1."""
    try:
        with nullcontext(sys.stdout.buffer) if out is None else out.open("wb") as stream:
            for row in rows:
                line = json.dumps(row, ensure_ascii=False, default=lambda value: value.isoformat())
                stream.write(line.encode("utf-8", "replace") + b"\n")
                stream.flush()
    except BrokenPipeError:
        raise  # the reader went away: the command line knows what that means
    except OSError as error:
        typer.echo(f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error), err=True)
        raise typer.Exit(1) from error


@dataclass(frozen=True, slots=True)
class Line:
    """A line's document, or in ``error`` why it is none. A document without an id goes by its line's number."""

    id: Any
    title: str = ""
    text: str = ""
    error: str | None = None


def read(number: int, line: bytes) -> Line:
    """The document in a line. Title or text may be missing or null, not both missing."""
    row: Any = None
    try:
        row = json.loads(line.decode("utf-8-sig"))
        return Line(_id(row, number), *_texts(row))
    except RecursionError:
        why = "JSON that is nested too deep"
    except ValueError as error:
        why = str(error)
    return Line(_id(row, number), error=f"line {number}: {why}")


def documents(lines: Iterable[bytes]) -> Iterator[Line]:
    return (read(number, line) for number, line in enumerate(lines, 1) if line.strip())


def _id(row: Any, number: int) -> Any:
    id = row.get("id") if isinstance(row, dict) else None
    return number if id is None else id


def _texts(row: Any) -> tuple[str, str]:
    if not isinstance(row, dict):
        raise ValueError('no object; a document is {"id", "text"}, and may have a "title"')  # noqa: TRY004
    if "text" not in row and "title" not in row:
        raise ValueError("neither text nor title")
    title, text = row.get("title"), row.get("text")
    if not all(value is None or isinstance(value, str) for value in (title, text)):
        raise ValueError("title and text must be texts or null")
    return title or "", text or ""


def answer_file(file: str, answers: Callable[[BinaryIO], Iterable[dict[str, Any]]], out: Path | None, doing: str) -> None:
    """Write what ``answers`` makes of a file, or of standard input (``-``). Raises ``NewsportalError`` for a file that cannot be read."""
    if file == "-":
        write(answers(sys.stdin.buffer), out)
        return
    try:
        with progress() as bar, bar.open(Path(file), "rb", description=doing) as stream:
            bar.disable = bar.disable or (out is None and sys.stdout.isatty())
            write(answers(stream), out)
    except OSError as error:
        raise NewsportalError(f"{file}: {error.strerror or error}") from error
