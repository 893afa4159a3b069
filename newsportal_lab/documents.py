"""Documents as JSON lines in UTF-8, {"id", "title", "text"} each, with one answer line per document."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from newsportal.cli.output import progress, write_json_lines
from newsportal.errors import NewsportalError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DocumentLine:
    """The document of a line, or an ``error``. A document without an id gets the line's number."""

    id: Any
    title: str = ""
    text: str = ""
    error: str | None = None


def documents(lines: Iterable[bytes]) -> Iterator[DocumentLine]:
    """Yield the document in each line. One of title and text may be missing or null."""
    for id, found in parse_lines(lines, _texts):
        yield DocumentLine(id, error=found) if isinstance(found, str) else DocumentLine(id, *found)


def parse_lines(lines: Iterable[bytes], parse: Callable[[Any], T]) -> Iterator[tuple[Any, T | str]]:
    """Yield the id in each line of JSON, else the line's number, with the result of ``parse``, or the mistake."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        id: Any = number
        found: T | str
        try:
            row = json.loads(line.decode("utf-8-sig"))
            if isinstance(row, dict):
                id = row["id"] = number if row.get("id") is None else row["id"]
            found = parse(row)
        except RecursionError:
            found = f"line {number}: JSON is nested too deeply"
        except json.JSONDecodeError as error:
            found = f"line {number}: not JSON: {error.msg}, column {error.colno}"
        except ValueError as error:
            found = f"line {number}: {error}"
        yield id, found


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
    except BrokenPipeError:
        raise
    except OSError as error:
        raise NewsportalError(f"{file}: {error.strerror or error}") from error
