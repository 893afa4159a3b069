"""What the commands on corpora and models share: options, the store, tables."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from newsportal.classify.base import Progress as Say
from newsportal.commands.context import local
from newsportal.services.jobs.reporting import progress_reporter
from newsportal.sources import Sources, load, use_own_words
from newsportal.store import open_store
from newsportal.store.store import Store
from newsportal.text import clean

SourcesFile = Annotated[Path | None, typer.Option("--sources", help="The sources file; default: the nearest sources.yaml.")]
AsJson = Annotated[bool, typer.Option("--json", help="One line of JSON for each.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="A corpus, as `corpus list` shows it.")]

DAY = "%Y-%m-%d %H:%M"

NUMBER = re.compile(r"[\d.]*")

WIDE = 160
"""Characters in a line of a table that goes into a file."""


@contextmanager
def opened(path: Path | None, *, create: bool = False) -> Iterator[tuple[Sources, Store]]:
    """Sources and the store they name. ``create``: a store that is not there yet is made."""
    sources = load(path)
    use_own_words(sources)
    store = open_store(sources.store, create=create)
    try:
        yield sources, store
    finally:
        store.close()


def shown(moment: datetime | None) -> str:
    """A moment in the time of this machine."""
    return "" if moment is None else local(moment).strftime(DAY)


def print_rows(rows: Sequence[dict[str, Any]], columns: Sequence[str], as_json: bool) -> None:
    """Rows as JSON lines, or as a table of these columns with numbers to the right."""
    if as_json:
        for row in rows:
            print_json(row)
        return
    numbers = {name for name in columns if all(NUMBER.fullmatch(cell(row.get(name))) for row in rows)}
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(name, justify="right" if name in numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell(row.get(name))) for name in columns))  # a label may hold [brackets], which are not markup
    console().print(table)


def cell(value: Any) -> str:
    """A value in a table."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return shown(value)
    return f"{value:.3f}" if isinstance(value, float) else clean(str(value))


def print_json(row: dict[str, Any]) -> None:
    """One line of JSON; moments in ISO 8601."""
    typer.echo(json.dumps(row, ensure_ascii=False, default=lambda value: value.isoformat()))


def console() -> Console:
    plain = Console(emoji=False, highlight=False)
    return plain if plain.is_terminal else Console(emoji=False, highlight=False, width=WIDE)


def progress(*columns: Any, total: bool = True) -> Progress:
    """A bar on standard error, if somebody looks."""
    bar = (BarColumn(), TaskProgressColumn(), TimeRemainingColumn()) if total else ()
    shows = Console(stderr=True, emoji=False)
    described = TextColumn("{task.description}", markup=False)
    return Progress(described, *bar, *columns, console=shows, transient=True, disable=not shows.is_terminal)


@contextmanager
def watched() -> Iterator[Say]:
    """What is under way: a bar on standard error, if somebody looks; lines of JSON in a job."""
    if (report := progress_reporter()) is not None:
        yield report
        return
    with progress() as bar:
        task = bar.add_task("training", total=1.0)
        yield lambda share, what: bar.update(task, completed=share, description=what)


def told(text: str) -> None:
    """A line for people, on standard error, where it is in nobody's way."""
    typer.echo(text, err=True)


def asked(question: str, yes: bool) -> None:
    """Ask before something is lost; without a terminal ``--yes`` is needed. Ends the command if the answer is no."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise typer.BadParameter(f"{question} Say --yes if so", param_hint="--yes")
    typer.confirm(question, abort=True)
