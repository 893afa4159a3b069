"""``newsportal source``: look at sources.yaml, check it, try its sources, change it, have a source visited now, go back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from newsportal.cli import hints
from newsportal.cli.context import sources_path
from newsportal.cli.options import AsJson, SourcesFile, command_group, load
from newsportal.cli.outlines import export, import_
from newsportal.cli.output import console, make_table, pick, print_json
from newsportal.cli.source_adding import add, show, suggest
from newsportal.cli.source_status import health, schedule
from newsportal.errors import NewsportalError, SourcesError
from newsportal.messages import did_you_mean, format_time, local
from newsportal.services.jobs.scrapyd import CONFIGURATION
from newsportal.services.trying.saved import plain, tried, unknown
from newsportal.sources import FILE_NAME, Source, Topic, edit, schema_text
from newsportal.sources.changing import Way, change_many
from newsportal.sources.editing import go_back
from newsportal.sources.history import earlier, versions
from newsportal.sources.timing import visit_soon, visited
from newsportal.store import open_store

SCHEMA_NAME = "sources.schema.json"
PRESETS = ("metasearch-portal", "region-crawler", "photo-stories", "table-statistics", "news-system")  # papers A to E
SCHEMA_LINE = "# yaml-language-server: $schema="
PROJECT = "[settings]\ndefault = newsportal.settings\n\n[deploy]\nurl = http://127.0.0.1:6800/\nproject = newsportal\n"


def list_(sources: SourcesFile = None, as_json: AsJson = False) -> None:
    """List topics, engines and all other sources."""
    known = load(sources)
    rows = []
    for source in known.all():
        url = getattr(source, "url", None)
        places = getattr(source, "seeds", ()) or ((url,) if url else getattr(source, "addresses", ()))
        visits = source.engines if isinstance(source, Topic) else places
        row = {**pick(source, "key", "name"), "kind": source.family, "enabled": source.enabled, "visits": list(visits)}
        rows.append(row | {"topics": list(getattr(source, "topics", ())), "category": getattr(source, "category", None)})
    if as_json:
        print_json(*rows)
        return
    cells = (
        (row["key"], "" if row["enabled"] else "off", " ".join(row["visits"]), ", ".join(filter(None, [*row["topics"], row["category"]])))
        for row in rows
    )
    console().print(make_table(("key", "", "what is visited", "topics, category"), cells))


def check(sources: SourcesFile = None, as_json: AsJson = False) -> None:
    """Print every mistake of sources.yaml with its line; exit status 1 if any."""
    try:
        known = load(sources)
    except SourcesError as error:
        for problem in error.problems:
            row = pick(problem, "file", "line", "key", "message", "hint")
            typer.echo(json.dumps(row, ensure_ascii=False, default=str) if as_json else str(problem))
        raise typer.Exit(1) from error
    if not as_json:
        count = sum(1 for source in known.all() if source.enabled)
        none = "" if count else ": nothing will be visited; add a feed or a channel with `newsportal source add https://...`"
        typer.echo(hints.packaged(known) or f"{known.path}: no mistakes; {count} topics and sources enabled{none}")


def schema() -> None:
    """Print the JSON Schema of sources.yaml, for editors."""
    typer.echo(schema_text(), nl=False)


def init(
    path: Annotated[Path, typer.Argument(help="The file to write.")] = Path(FILE_NAME),
    preset: Annotated[str | None, typer.Option(help=f"A paper's system: {', '.join(PRESETS)}.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Write a sources.yaml to start from, its schema, and a scrapy.cfg."""
    if preset is not None and preset not in PRESETS:
        near = did_you_mean(preset, PRESETS)
        raise typer.BadParameter(f"no preset is called {preset!r}; there are: {', '.join(PRESETS)}" + (f"; {near}" if near else ""))
    if path.exists() and not force:
        raise NewsportalError(f"{path} is there already; --force writes over it")
    text = files("newsportal").joinpath(f"sources/presets/{preset}.yaml" if preset else FILE_NAME).read_text("utf-8")
    text = text.partition("\n")[2] if text.startswith(SCHEMA_LINE) else text
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{SCHEMA_LINE}{SCHEMA_NAME}\n{text}", "utf-8")
    path.with_name(SCHEMA_NAME).write_text(schema_text(), "utf-8")
    if not (project := path.with_name(CONFIGURATION)).exists():
        project.write_text(PROJECT, "utf-8")
    typer.echo(f"{path} written; look at it, then: newsportal up")


def _test(
    name: Annotated[str, typer.Argument(help="A source, engine or topic.")],
    query: Annotated[str | None, typer.Option(help="An engine's query; default: its topic's.")] = None,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Fetch a list page and an article of a source; exit status 1 if nothing is found."""
    known = load(sources)
    good = True
    for trial, reading in tried(name, known, query):
        good &= trial.failure is None
        if as_json:
            print_json(plain(trial, reading))
        else:
            show(trial, reading)
    if not good:
        raise typer.Exit(1)


Name = Annotated[str, typer.Argument(help="A source's name, or feed:NAME.")]
Names = Annotated[list[str], typer.Argument(metavar="NAME...", help="Sources' names, or feed:NAME.")]


def enable(names: Names, sources: SourcesFile = None) -> None:
    """Switch sources on that were switched off."""
    _change(sources, names, "enable", "is on, in {path}")


def disable(names: Names, sources: SourcesFile = None) -> None:
    """Switch sources off."""
    _change(sources, names, "disable", "is off, in {path}")


def interval(
    minutes: Annotated[float, typer.Argument(min=0, help="Between visits; 0: the schedule decides.")],
    names: Names,
    sources: SourcesFile = None,
) -> None:
    """Give sources an interval, or leave them to the schedule again."""
    when = f"every {minutes:g} minutes" if minutes else "when the schedule says so"
    _change(sources, names, "interval", f"is visited {when}, in {{path}}", minutes or None)


def remove(names: Names, sources: SourcesFile = None) -> None:
    """Take sources out of sources.yaml; their articles stay."""
    _change(sources, names, "remove", "was removed from {path}; to have it back: newsportal source undo")


def visit(name: Name, sources: SourcesFile = None) -> None:
    """Make a source due (for newsportal up, schedule, crawl --due)."""
    known = load(sources)
    keys = [one.key for one in visited(known) if name in (one.key, getattr(one.source, "name", None), one.key.partition(":")[2])]
    if not keys:
        raise NewsportalError(unknown(name, known) if not known.find(name) else f"{name} is switched off, or is no source that is visited")
    with closing(open_store(known.store)) as store:
        for key in keys:
            at = visit_soon(store, key, datetime.now(UTC))
            typer.echo(f"{key} is due {'now' if at <= datetime.now(UTC) else f'at {format_time(at)}: it asked for rest'}")


def undo(
    steps: Annotated[int, typer.Option(min=1, help="How many changes.")] = 1,
    list_: Annotated[bool, typer.Option("--list", help="Only list earlier versions, latest first.")] = False,
    sources: SourcesFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON for each version.")] = False,
) -> None:
    """Take back the last changes of sources.yaml by a command or the portal."""
    path = sources_path(sources).resolve()
    if list_ or as_json:
        for place, one in enumerate(versions(path), 1):
            row = {"steps": place, "until": one.at.isoformat(), "bytes": one.size}
            typer.echo(json.dumps(row) if as_json else f"{place:3}  until {local(one.at):%Y-%m-%d %H:%M:%S%z}  {one.size} bytes")
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


COMMANDS = (
    list_, check, schema, init, add, suggest, import_, export, _test, enable, disable, interval, remove, visit, undo, health, schedule,
)  # fmt: skip
group = command_group("Look at sources.yaml, check it, try its sources, add to it.", *COMMANDS)
