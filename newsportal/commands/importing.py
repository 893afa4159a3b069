"""``newsportal import``: articles from files into the store, each once."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Annotated, Any, Final

import typer

from newsportal.commands.exchange import cells, parquet, warc
from newsportal.commands.exchange.bringing import Fate, Row, bring
from newsportal.commands.export import Format
from newsportal.commands.options import SourcesFile
from newsportal.commands.output import count_items, print_json
from newsportal.errors import NewsportalError, ReplayError
from newsportal.sources import load, use_own_words
from newsportal.store import open_store
from newsportal.text import clean

ENDINGS: Final = {
    ".jsonl": Format.jsonl,
    ".ndjson": Format.jsonl,
    ".json": Format.jsonl,
    ".csv": Format.csv,
    ".parquet": Format.parquet,
    ".warc": Format.warc,
    ".warc.gz": Format.warc,
}
"""How a file's name ends, and of what form it is then."""

LONGEST: Final = 64 * 1024 * 1024
"""Bytes of the longest line: an article has at most 16 MB of text."""

SHOWN: Final = 20
"""Rows that were no articles and are told one by one; --json tells all."""


def bring_in(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="What export wrote, or others in that form; - is standard input.")],
    format: Annotated[Format | None, typer.Option(help="Their form; default: what their names say.")] = None,
    store: Annotated[str | None, typer.Option(help="Another store than that of sources.yaml.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="A line of JSON for each row, and one of all.")] = False,
    sources: SourcesFile = None,
) -> None:
    """Store articles from files: JSON lines, CSV, Parquet or WARC. What is there already is not stored twice; reposts are folded.

    A row that is no article is told with its line, and the rest goes on. Exit status 1 if a file cannot be read.
    """
    known = load(sources)
    use_own_words(known)
    forms = [(file, format or _form(file)) for file in files]
    broken: list[str] = []
    counts: Counter[str] = Counter()
    with closing(open_store(store or known.store)) as opened:
        for fate in count_items(bring(_rows(forms, broken), opened, datetime.now(UTC)), "import", "rows"):
            counts[fate.outcome] += 1
            _tell(fate, as_json, counts["failed"])
    for message in broken:
        typer.echo(clean(message), err=True)
    typer.echo(json.dumps(dict(counts)) if as_json else ", ".join(f"{number} {name}" for name, number in counts.items()) or "nothing in it")
    if broken:
        raise typer.Exit(1)


def _form(file: str) -> Format:
    found = [form for ending, form in ENDINGS.items() if file.lower().endswith(ending)]
    if not found:
        raise typer.BadParameter(f"{file}: of what form? its name does not say; use --format", param_hint="--format")
    return found[-1]


def _rows(files: Iterable[tuple[str, Format]], broken: list[str]) -> Iterator[Row]:
    """The rows of all files. What ends the reading of one is left in ``broken``, and the next one is read."""
    for file, form in files:
        try:
            for line, said in _read(file, form):
                yield Row(file, line, said)
        except OSError as error:
            broken.append(f"{file}: cannot be read: {error.strerror or error}")
        except ReplayError as error:  # it names the file
            broken.append(str(error))
        except (ValueError, NewsportalError) as error:
            broken.append(f"{file}: {error}")


def _read(file: str, form: Format) -> Iterator[tuple[int, Any]]:
    if form is Format.warc:
        if file == "-":
            raise NewsportalError("a WARC file is not read from standard input; save it, and give its name")
        yield from warc.read(Path(file))
        return
    if file == "-":
        yield from _read_stream(sys.stdin.buffer, form)
        return
    with Path(file).open("rb") as stream:
        yield from _read_stream(stream, form)


def _read_stream(stream: IO[bytes], form: Format) -> Iterator[tuple[int, Any]]:
    if form is Format.parquet:
        yield from parquet.read(stream)
    elif form is Format.csv:
        text = TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="")
        try:
            yield from cells.read(text)
        finally:
            text.detach()
    else:
        yield from _lines(stream)


def _lines(stream: IO[bytes]) -> Iterator[tuple[int, Any]]:
    number = 0
    while line := stream.readline(LONGEST):
        number += 1
        if len(line) == LONGEST and not line.endswith(b"\n"):
            while (rest := stream.readline(LONGEST)) and not rest.endswith(b"\n"):
                pass
            yield number, ValueError(f"a line of more than {LONGEST} bytes")
        elif line.strip():
            yield number, _said(line)


def _said(line: bytes) -> Any:
    try:
        return json.loads(line.decode("utf-8-sig"))
    except RecursionError:
        return ValueError("JSON that is nested too deep")
    except ValueError as error:
        return ValueError(str(error))


def _tell(fate: Fate, as_json: bool, failed: int) -> None:
    if as_json:
        told = {"file": fate.row.file, "line": fate.row.line, "outcome": fate.outcome, "id": fate.id, "error": fate.error}
        print_json({name: value for name, value in told.items() if value is not None})
    elif fate.error is not None and failed <= SHOWN:
        typer.echo(clean(f"{fate.row.file}:{fate.row.line}: {fate.error}"), err=True)
