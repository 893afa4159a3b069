"""Documents as JSON lines in UTF-8, {"id", "title", "text"} each, with one answer line per document."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from newsportal.cli.output import progress, write_json_lines
from newsportal.errors import NewsportalError


@dataclass(frozen=True, slots=True)
class DocumentLine:
    """The document of a line, or an ``error``. A document without an id gets the line's number."""

    id: Any
    title: str = ""
    text: str = ""
    error: str | None = None


def read_document(number: int, line: bytes) -> DocumentLine:
    """Return the document in a line. One of title and text may be missing or null."""
    row: Any = None
    try:
        row = json.loads(line.decode("utf-8-sig"))
        return DocumentLine(_id(row, number), *_texts(row))
    except RecursionError:
        reason = "JSON is nested too deeply"
    except ValueError as error:
        reason = str(error)
    return DocumentLine(_id(row, number), error=f"line {number}: {reason}")


def documents(lines: Iterable[bytes]) -> Iterator[DocumentLine]:
    return (read_document(number, line) for number, line in enumerate(lines, 1) if line.strip())


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


def answer_file(file: str, answers: Callable[[BinaryIO], Iterable[dict[str, Any]]], out: Path | None, description: str) -> None:
    """Write the ``answers`` for a file, or standard input (``-``). Raises ``NewsportalError`` for an unreadable file."""
    if file == "-":
        write_json_lines(answers(sys.stdin.buffer), out)
        return
    try:
        with progress(quiet=out is None and sys.stdout.isatty()) as bar, bar.open(Path(file), "rb", description=description) as stream:
            write_json_lines(answers(stream), out)
    except OSError as error:
        raise NewsportalError(f"{file}: {error.strerror or error}") from error
