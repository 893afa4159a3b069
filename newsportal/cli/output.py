"""Output of commands: JSON lines, tables, progress on standard error, and prompts."""

import glob
import json
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn, track
from rich.table import Table
from rich.text import Text

from newsportal.errors import NewsportalError
from newsportal.messages import Message, format_time
from newsportal.services.jobs.base import progress_reporter
from newsportal.services.jobs.records import is_running
from newsportal.store.copying import OnProgress
from newsportal.text import clean

NUMBER = re.compile(r"[\d.]*")
WIDE = 160  # width of a table that is written to a file
WIDEST = 10_000  # width of a table with ids and URLs to be copied: the terminal wraps long lines
T = TypeVar("T")


def print_json(*rows: Any) -> None:
    """Print a line of JSON per row; times in ISO 8601, messages as text."""
    for row in rows:
        typer.echo(
            json.dumps(row, ensure_ascii=False, default=lambda value: str(value) if isinstance(value, Message) else value.isoformat())
        )


def print_result(row: dict[str, Any], sentence: str, as_json: bool) -> None:
    """Print the result of a command: as a line of JSON, or as a sentence."""
    if as_json:
        print_json(row)
    else:
        typer.echo(sentence)


def write_json_lines(rows: Iterable[dict[str, Any]], out: Path | None) -> None:
    """Write ``rows`` to ``out``, else to standard output. A file error ends the command with status 1."""
    try:
        with nullcontext(sys.stdout.buffer) if out is None else out.open("wb") as stream:
            for row in rows:
                line = json.dumps(row, ensure_ascii=False, default=lambda value: value.isoformat())
                stream.write(line.encode("utf-8", "replace") + b"\n")
                stream.flush()
    except BrokenPipeError:
        raise  # a closed pipe is handled by the command line
    except OSError as error:
        typer.echo(f"{error.filename or out or 'standard output'}: {error.strerror}" if error.strerror else str(error), err=True)
        raise typer.Exit(1) from error


def pick(value: object, *names: str) -> dict[str, Any]:
    """Return these attributes as a row, in their order."""
    return {name: getattr(value, name) for name in names}


def print_rows(rows: Sequence[dict[str, Any]], columns: Sequence[str], as_json: bool, none: str = "") -> None:
    """Print rows as JSON lines, or as a table of these columns with numbers right-aligned; if there are no rows, the sentence ``none``."""
    if as_json:
        print_json(*rows)
    elif none and not rows:
        typer.echo(none)
    else:
        numbers = {name for name in columns if all(NUMBER.fullmatch(_cell(row.get(name))) for row in rows)}
        print_table(make_table(columns, ([_cell(row.get(name)) for name in columns] for row in rows), right=numbers))


def make_table(columns: Iterable[str], rows: Iterable[Iterable[Any]] = (), *, right: Collection[str] = (), **options: Any) -> Table:
    """Return a table without lines. Cells are not parsed as markup: a name may contain [brackets]."""
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
    """Print a table in ``width`` columns; by default the terminal's width, or ``WIDE`` in a file."""
    width = width or (None if Console().is_terminal else WIDE)
    Console(emoji=False, highlight=False, width=width, soft_wrap=width == WIDEST).print(table)


def console(*, stderr: bool = False) -> Console:
    return Console(emoji=False, highlight=False, soft_wrap=True, stderr=stderr)


def progress_bar(*columns: Any, quiet: bool = False, transient: bool = True) -> Progress:
    """Return a progress bar of these columns on standard error, disabled if that is no terminal or ``quiet``."""
    stderr = Console(stderr=True, emoji=False)
    return Progress(*columns, console=stderr, transient=transient, disable=quiet or not stderr.is_terminal)


def progress(*columns: Any, quiet: bool = False) -> Progress:
    """Return a progress bar with a description, the share done, the time remaining, and ``columns``."""
    description = TextColumn("{task.description}", markup=False)
    return progress_bar(description, BarColumn(), TaskProgressColumn(), TimeRemainingColumn(), *columns, quiet=quiet)


@contextmanager
def count_bar(*, quiet: bool = False) -> Iterator[OnProgress]:
    """Show a progress bar of ``done`` of ``total``."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with progress_bar(*columns, quiet=quiet) as bar:
        task = bar.add_task("", total=None)
        yield lambda text, done, total: bar.update(task, description=text, completed=done, total=total)


@contextmanager
def report_progress() -> Iterator[Callable[[float, str], None]]:
    """Report progress as a share: a bar on standard error if that is a terminal, JSON lines in a job."""
    if (report := progress_reporter()) is not None:
        yield report
        return
    with progress() as bar:
        task = bar.add_task("training", total=1.0)
        yield lambda share, text: bar.update(task, completed=share, description=text)


def track_items(items: Iterable[T], description: str, *, beside_output: bool = False) -> Iterable[T]:
    """Iterate over ``items`` with a progress bar on standard error if that is a terminal; ``beside_output``: even if stdout is one."""
    if not sys.stderr.isatty() or (sys.stdout.isatty() and not beside_output):
        return items
    return track(items, description=description, console=Console(stderr=True), transient=True)


def count_items(items: Iterable[T], noun: str, *columns: Any, transient: bool = True) -> Iterator[T]:
    """Iterate over ``items`` and count them on standard error if that is a terminal; not ``transient``: leave the last number there."""
    with progress_bar(SpinnerColumn(), TextColumn(f"{{task.completed}} {noun}"), *columns, transient=transient) as bar:
        yield from bar.track(items)


def render(template: str, package: str, /, **values: Any) -> str:
    """Render a template of ``package`` as HTML, which may extend ``base.html``; values are escaped."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    loader = ChoiceLoader([PackageLoader(name, ".") for name in (package, __package__)])
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.get_template(template).render(values)


@contextmanager
def writable(path: Path) -> Iterator[Path]:
    """Yield a temporary file that replaces ``path`` atomically. Fails before any work is done if it cannot be written."""
    if path.is_dir():
        raise NewsportalError(f"{path}: cannot be written: it is a folder")
    target = path.resolve()  # a symbolic link stays
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        if path.exists() and not path.is_file():  # a device or a pipe must not be replaced
            yield path
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        for leftover in target.parent.glob(f".{glob.escape(target.name)}.*.part"):
            if (writer := leftover.suffixes[-2][1:]).isdigit() and not is_running(int(writer), None):  # its writer was killed
                leftover.unlink()
        part.touch()
        part.unlink()
        yield part
        part.replace(target)
    except OSError as error:
        raise NewsportalError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):  # the folder may not exist
            part.unlink()


def confirm_loss(question: str, yes: bool) -> None:
    """Ask before a deletion; without a terminal ``--yes`` is required. Ends the command if declined."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise typer.BadParameter(f"{question} Say --yes if so", param_hint="--yes")
    typer.confirm(question, abort=True)
