"""Options shared by commands, and context managers that open the sources file, its store and its index."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal
from zoneinfo import ZoneInfo

import typer

from newsportal.errors import NewsportalError
from newsportal.messages import set_zone, to_utc

if TYPE_CHECKING:  # not imported by commands without a store
    from newsportal.search.base import Index
    from newsportal.sources import Sources
    from newsportal.store.store import Store

SourcesFile = Annotated[Path | None, typer.Option("--sources", help="The sources file; default: the nearest sources.yaml.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")]
AsJsonLine = Annotated[bool, typer.Option("--json", help="One line of JSON.")]
AsJsonRows = Annotated[bool, typer.Option("--json", help="One JSON line a row.")]
Algorithms = Annotated[list[str] | None, typer.Option("--algorithm", "-a", help="What to score; repeatable; default: all.")]
LogLevel = Annotated[
    Literal["DEBUG", "INFO", "WARNING", "ERROR"], typer.Option(case_sensitive=False, help="DEBUG, INFO, WARNING or ERROR.")
]
LogFormat = Annotated[Literal["text", "json"], typer.Option(help="text or json (one object per line).")]
LogFile = Annotated[Path | None, typer.Option(help="Write the log to this file; it is rotated at 16 MB (FILE.1 to FILE.5).")]
OutFile = Annotated[Path | None, typer.Option("--out", "-o", help="The file to write; default: standard output.")]
CorpusName = Annotated[str, typer.Argument(metavar="NAME", help="A corpus.")]
Days = Annotated[int, typer.Option(min=1, max=36_500, help="Only articles of the last days.")]  # up to a hundred years
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def load_environment(file: Path) -> None:
    """Set the variables of ``file`` (``NAME=value``, as systemd's ``EnvironmentFile``) that are unset. Raises ``NewsportalError`` with the
    line number but not its content, which may be a password."""
    try:
        lines = file.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise NewsportalError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    for number, line in enumerate(map(str.strip, lines), 1):
        if not line or line[0] in "#;":
            continue
        name, equals, value = map(str.strip, line.partition("="))
        try:
            (value,) = shlex.split(value) if value[:1] in ("'", '"') else (value,)
        except ValueError:
            equals = ""
        if not equals or not name.isidentifier():
            raise NewsportalError(f"{file}:{number}: not NAME=value")
        os.environ.setdefault(name, value)


def load(path: Path | None) -> Sources:
    """Load the sources file, and print times in its zone from now on. Raises ``SourcesError``."""
    from newsportal import sources  # not imported by commands that read no file

    config = sources.load(path)
    set_zone(ZoneInfo(config.portal.timezone))
    return config


@contextmanager
def open_record(path: Path | None, *, create: bool = False) -> Iterator[tuple[Sources, Store]]:
    """Open sources and store without the index, closed at the end. ``create``: create a missing store."""
    from newsportal.sources import use_custom_words
    from newsportal.store import open_store

    config = load(path)
    use_custom_words(config)
    with closing(open_store(config.store, create=create)) as store:
        yield config, store


@contextmanager
def open_all(path: Path | None) -> Iterator[tuple[Sources, Store, Index]]:
    """Open sources, store and index, closed at the end. The store must exist. Raises ``SourcesError``, ``StoreError``, ``SearchError``."""
    from newsportal.search import open_index

    with open_record(path) as (config, store), closing(open_index(config.index_uri)) as index:
        yield config, store, index


def sources_path(file: Path | None) -> Path:
    """Return the sources file to edit. Raises ``NewsportalError`` if there is none."""
    from newsportal.sources import find

    path = file or find()
    if path is None:
        raise NewsportalError("there is no sources.yaml here or above; write one with: newsportal source init")
    return path


def moment(text: str | None, option: str = "--since") -> datetime | None:
    """Parse ``--since``: an ISO 8601 date or time, without a zone in ``portal.timezone``."""
    if text is None:
        return None
    try:
        return to_utc(datetime.fromisoformat(text))
    except (ValueError, OverflowError) as error:
        raise typer.BadParameter(
            f"{text!r} is not a date; allowed: 2026-03-01, 2026-03-01T08:30, 2026-03-01T08:30+08:00", param_hint=option
        ) from error


def command_group(
    text: str, *commands: Callable[..., None], default: Callable[..., None] | None = None, **named: Callable[..., None]
) -> typer.Typer:
    """Create a group of commands named after their functions (``list_`` → ``list``), or as given; ``default`` runs without a subcommand,
    otherwise the help is shown."""
    group = typer.Typer(help=text, no_args_is_help=default is None, invoke_without_command=default is not None)
    if default is not None:
        group.callback()(default)
    for name, command in ({function.__name__.strip("_").replace("_", "-"): function for function in commands} | named).items():
        group.command(name)(command)
    return group


def check_names(kind: str, names: Iterable[str], allowed: Collection[str], option: str) -> None:
    """Raises ``typer.BadParameter`` for the first unknown name."""
    for name in names:
        if name not in allowed:
            raise typer.BadParameter(f"no {kind} is called {name!r}; there are: {', '.join(allowed)}", param_hint=option)
