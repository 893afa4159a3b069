"""What commands write: JSON lines, tables, progress on standard error, and questions."""

from __future__ import annotations

import glob
import json
import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn, track
from rich.table import Table
from rich.text import Text

from newsportal.classify.base import Progress as ProgressCallback
from newsportal.errors import NewsportalError
from newsportal.messages import Message, format_time
from newsportal.services.jobs.base import progress_reporter
from newsportal.services.jobs.records import alive
from newsportal.store.copying import Tell
from newsportal.text import clean

NUMBER = re.compile(r"[\d.]*")
WIDE = 160  # characters in a line of a table that goes into a file
WIDEST = 10_000  # characters in a line of a table whose ids and addresses are to be copied whole: a terminal breaks long lines itself
T = TypeVar("T")


def print_json(*rows: Any) -> None:
    """One line of JSON for each row; moments in ISO 8601, messages as their sentences."""
    for row in rows:
        typer.echo(
            json.dumps(row, ensure_ascii=False, default=lambda value: str(value) if isinstance(value, Message) else value.isoformat())
        )


def print_result(row: dict[str, Any], sentence: str, as_json: bool) -> None:
    """What came of a command: as a line of JSON, or in a sentence."""
    if as_json:
        print_json(row)
    else:
        typer.echo(sentence)


def write_json_lines(rows: Iterable[dict[str, Any]], out: Path | None) -> None:
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


def pick(value: object, *names: str) -> dict[str, Any]:
    """The attributes of these names, as a row in their order."""
    return {name: getattr(value, name) for name in names}


def print_rows(rows: Sequence[dict[str, Any]], columns: Sequence[str], as_json: bool) -> None:
    """Rows as JSON lines, or as a table of these columns with numbers to the right."""
    if as_json:
        print_json(*rows)
        return
    numbers = {name for name in columns if all(NUMBER.fullmatch(_cell(row.get(name))) for row in rows)}
    print_table(make_table(columns, ([_cell(row.get(name)) for name in columns] for row in rows), right=numbers))


def make_table(columns: Iterable[str], rows: Iterable[Iterable[Any]] = (), *, right: Collection[str] = (), **options: Any) -> Table:
    """A table without lines. Cells are no markup: a name may hold [brackets]."""
    table = Table(box=None, pad_edge=False, **options)
    for name in columns:
        table.add_column(Text(name), justify="right" if name in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(clean(str(cell))) for cell in row))
    return table


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return format_time(value)
    return f"{value:.3f}" if isinstance(value, float) else clean(str(value))


def print_table(table: Table, *, width: int | None = None) -> None:
    """A table in ``width`` columns; by default as wide as the terminal, or ``WIDE`` in a file."""
    width = width or (None if Console().is_terminal else WIDE)
    Console(emoji=False, highlight=False, width=width, soft_wrap=width == WIDEST).print(table)


def console(*, stderr: bool = False) -> Console:
    return Console(emoji=False, highlight=False, soft_wrap=True, stderr=stderr)


def progress_bar(*columns: Any, quiet: bool = False, transient: bool = True) -> Progress:
    """A progress bar of these columns on standard error, if that is a terminal; ``quiet``: none at all."""
    stderr = Console(stderr=True, emoji=False)
    return Progress(*columns, console=stderr, transient=transient, disable=quiet or not stderr.is_terminal)


def progress(*columns: Any, quiet: bool = False) -> Progress:
    """A progress bar with a description, the share that is done, the time that remains, and ``columns``."""
    described = TextColumn("{task.description}", markup=False)
    return progress_bar(described, BarColumn(), TaskProgressColumn(), TimeRemainingColumn(), *columns, quiet=quiet)


@contextmanager
def count_bar(*, quiet: bool = False) -> Iterator[Tell]:
    """A progress bar of ``done`` of ``total``."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with progress_bar(*columns, quiet=quiet) as bar:
        task = bar.add_task("", total=None)
        yield lambda what, done, total: bar.update(task, description=what, completed=done, total=total)


@contextmanager
def report_progress() -> Iterator[ProgressCallback]:
    """Progress as a share: a bar on standard error if that is a terminal, lines of JSON in a job."""
    if (report := progress_reporter()) is not None:
        yield report
        return
    with progress() as bar:
        task = bar.add_task("training", total=1.0)
        yield lambda share, what: bar.update(task, completed=share, description=what)


def tracked(items: Iterable[T], doing: str, *, beside_output: bool = False) -> Iterable[T]:
    """``items`` with a progress bar on standard error, if that is a terminal; ``beside_output``: also if standard output is one."""
    if not sys.stderr.isatty() or (sys.stdout.isatty() and not beside_output):
        return items
    return track(items, description=doing, console=Console(stderr=True), transient=True)


def count_items(items: Iterable[T], noun: str, *columns: Any, transient: bool = True) -> Iterator[T]:
    """``items``, with their number on standard error, if that is a terminal; not ``transient``: the last number is left there."""
    with progress_bar(SpinnerColumn(), TextColumn(f"{{task.completed}} {noun}"), *columns, transient=transient) as bar:
        yield from bar.track(items)


def render(template: str, package: str, /, **values: Any) -> str:
    """A template of ``package`` as HTML, which may extend ``base.html``; everything that comes from pages is escaped."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    loader = ChoiceLoader([PackageLoader(name, ".") for name in (package, __package__)])
    world = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return world.get_template(template).render(values)


@contextmanager
def writable(path: Path) -> Iterator[Path]:
    """A file to write in place of ``path``, which is there whole or not at all. That it can be written is known before any work is done."""
    if path.is_dir():
        raise NewsportalError(f"{path}: cannot be written: it is a folder")
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for left in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
            if (writer := left.suffixes[-2][1:]).isdigit() and not alive(int(writer), None):  # it was killed
                left.unlink()
        part.touch()
        part.unlink()
        yield part
        part.replace(path)
    except OSError as error:
        raise NewsportalError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):  # there may be no such folder at all
            part.unlink()


def confirm_loss(question: str, yes: bool) -> None:
    """Ask before something is deleted; without a terminal ``--yes`` is needed. Ends the command if the answer is no."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise typer.BadParameter(f"{question} Say --yes if so", param_hint="--yes")
    typer.confirm(question, abort=True)
