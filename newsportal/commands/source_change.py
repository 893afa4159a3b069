"""``newsportal source enable|disable|remove|visit|undo``: change an entry of sources.yaml, have a source visited now, go back."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from newsportal.errors import NewsportalError
from newsportal.sources import Source, Sources, edit, load
from newsportal.sources import find as find_file
from newsportal.sources.changing import FAMILIES, drop_entry, set_entry
from newsportal.sources.editing import Change, go_back
from newsportal.sources.history import earlier, versions
from newsportal.sources.soon import visit_soon
from newsportal.sources.timetable import visited
from newsportal.storage import open_store
from newsportal.trying.tried import unknown

SourcesFile = Annotated[Path | None, typer.Option(help="The sources file; default: the nearest sources.yaml.")]
Name = Annotated[str, typer.Argument(help="A source by its name or key (feed:NAME).")]


def enable(name: Name, sources: SourcesFile = None) -> None:
    """Switch a source on that was switched off."""
    path, source = _changed(sources, name, lambda kind, one: set_entry(kind, one, {"enabled": None}))
    typer.echo(f"{source.key} is on, in {path}")


def disable(name: Name, sources: SourcesFile = None) -> None:
    """Switch a source off: it stays in sources.yaml, but is not visited."""
    path, source = _changed(sources, name, lambda kind, one: set_entry(kind, one, {"enabled": False}))
    typer.echo(f"{source.key} is off, in {path}")


def remove(name: Name, sources: SourcesFile = None) -> None:
    """Take a source out of sources.yaml; its articles stay, and `newsportal source undo` brings it back."""
    path, source = _changed(sources, name, drop_entry)
    typer.echo(f"{source.key} was removed from {path}; to have it back: newsportal source undo")


def visit(name: Name, sources: SourcesFile = None) -> None:
    """Have a source visited with the next look at what is due (newsportal up, schedule, crawl --due)."""
    known = load(sources)
    keys = [one.key for one in visited(known) if name in (one.key, getattr(one.source, "name", None), one.key.partition(":")[2])]
    if not keys:
        raise NewsportalError(unknown(name, known) if not known.find(name) else f"{name} is switched off, or is no source that is visited")
    with closing(open_store(known.store)) as store:
        for key in keys:
            at = visit_soon(store, key, datetime.now(UTC))
            typer.echo(f"{key} is due {'now' if at <= datetime.now(UTC) else f'at {at.astimezone():%Y-%m-%d %H:%M}: it asked for rest'}")


def undo(
    steps: Annotated[int, typer.Option(min=1, help="How many changes to take back.")] = 1,
    list_: Annotated[bool, typer.Option("--list", help="Only list the earlier versions, the latest first.")] = False,
    sources: SourcesFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON for each version.")] = False,
) -> None:
    """Take back the last changes that a command or the portal made in sources.yaml. Undone once more, they are there again."""
    path = (sources or _file()).resolve()
    if list_ or as_json:
        for place, one in enumerate(versions(path), 1):
            plain = {"steps": place, "until": one.at.isoformat(), "bytes": one.size}
            typer.echo(json.dumps(plain) if as_json else f"{place:3}  until {one.at.astimezone():%Y-%m-%d %H:%M:%S}  {one.size} bytes")
        return
    version = earlier(path, steps)
    go_back(path, version)
    typer.echo(f"{path} is as it was until {version.at.astimezone():%Y-%m-%d %H:%M:%S}; undone once more, this is taken back")


def _file() -> Path:
    path = find_file()
    if path is None:
        raise NewsportalError("there is no sources.yaml here or above; write one with: newsportal source init")
    return path


def _changed(sources: Path | None, name: str, change: Callable[[str, str], Change]) -> tuple[Path, Source]:
    path = sources or _file()
    source = _found(load(path), name)
    edit(path, change(FAMILIES[source.family], source.name))
    return path, source


def _found(known: Sources, name: str) -> Source:
    found = known.find(name)
    if not found:
        raise NewsportalError(unknown(name, known))
    if len(found) > 1:
        raise NewsportalError(f"{name!r} is the name of several: say which of {', '.join(one.key for one in found)}")
    return found[0]
