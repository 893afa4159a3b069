"""``newsportal source enable|disable|interval|remove|visit|undo``: change entries of sources.yaml, have a source visited now, go back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from newsportal.cli.context import sources_path
from newsportal.cli.options import SourcesFile, load
from newsportal.errors import NewsportalError
from newsportal.messages import format_time, local
from newsportal.services.trying.saved import unknown
from newsportal.sources import Source, edit
from newsportal.sources.changing import Way, change_many
from newsportal.sources.editing import go_back
from newsportal.sources.history import earlier, versions
from newsportal.sources.timing import visit_soon, visited
from newsportal.store import open_store

Name = Annotated[str, typer.Argument(help="A source by its name or key (feed:NAME).")]
Names = Annotated[list[str], typer.Argument(metavar="NAME...", help="Sources by their names or keys (feed:NAME).")]


def enable(names: Names, sources: SourcesFile = None) -> None:
    """Switch sources on that were switched off."""
    _change(sources, names, "enable", "is on, in {path}")


def disable(names: Names, sources: SourcesFile = None) -> None:
    """Switch sources off: they stay in sources.yaml, but are not visited."""
    _change(sources, names, "disable", "is off, in {path}")


def interval(
    minutes: Annotated[float, typer.Argument(min=0, help="Between two visits; 0: the schedule decides again.")],
    names: Names,
    sources: SourcesFile = None,
) -> None:
    """Give sources an interval of their own, or leave them to the schedule again."""
    when = f"every {minutes:g} minutes" if minutes else "when the schedule says so"
    _change(sources, names, "interval", f"is visited {when}, in {{path}}", minutes or None)


def remove(names: Names, sources: SourcesFile = None) -> None:
    """Take sources out of sources.yaml; their articles stay, and `newsportal source undo` brings them back."""
    _change(sources, names, "remove", "was removed from {path}; to have it back: newsportal source undo")


def visit(name: Name, sources: SourcesFile = None) -> None:
    """Have a source visited with the next look at what is due (newsportal up, schedule, crawl --due)."""
    known = load(sources)
    keys = [one.key for one in visited(known) if name in (one.key, getattr(one.source, "name", None), one.key.partition(":")[2])]
    if not keys:
        raise NewsportalError(unknown(name, known) if not known.find(name) else f"{name} is switched off, or is no source that is visited")
    with closing(open_store(known.store)) as store:
        for key in keys:
            at = visit_soon(store, key, datetime.now(UTC))
            typer.echo(f"{key} is due {'now' if at <= datetime.now(UTC) else f'at {format_time(at)}: it asked for rest'}")


def undo(
    steps: Annotated[int, typer.Option(min=1, help="How many changes to take back.")] = 1,
    list_: Annotated[bool, typer.Option("--list", help="Only list the earlier versions, the latest first.")] = False,
    sources: SourcesFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON for each version.")] = False,
) -> None:
    """Take back the last changes that a command or the portal made in sources.yaml. Undone once more, they are there again."""
    path = sources_path(sources).resolve()
    if list_ or as_json:
        for place, one in enumerate(versions(path), 1):
            plain = {"steps": place, "until": one.at.isoformat(), "bytes": one.size}
            typer.echo(json.dumps(plain) if as_json else f"{place:3}  until {local(one.at):%Y-%m-%d %H:%M:%S%z}  {one.size} bytes")
        return
    version = earlier(path, steps)
    go_back(path, version)
    typer.echo(f"{path} is as it was until {local(version.at):%Y-%m-%d %H:%M:%S%z}; undone once more, this is taken back")


def _change(sources: Path | None, names: Sequence[str], way: Way, sentence: str, minutes: float | None = None) -> None:
    """All of them in one change, which is taken back as one; or none."""
    path = sources_path(sources)
    known = load(path)
    chosen: list[Source] = []
    for name in dict.fromkeys(names):
        found = known.find(name)
        if not found:
            raise NewsportalError(unknown(name, known))
        if len(found) > 1:
            raise NewsportalError(f"{name!r} is the name of several: say which of {', '.join(one.key for one in found)}")
        chosen += found
    edit(path, change_many(way, chosen, minutes))
    for source in chosen:
        typer.echo(f"{source.key} {sentence.format(path=path)}")
