"""``newsportal source``: look at sources.yaml, check it, try its sources, add to it."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from newsportal.cli import hints
from newsportal.cli.options import AsJson, SourcesFile, command_group, load
from newsportal.cli.outlines import export, import_
from newsportal.cli.output import console, make_table, pick, print_json
from newsportal.cli.source_adding import add, show, suggest
from newsportal.cli.source_change import disable, enable, interval, remove, undo, visit
from newsportal.cli.source_status import health, schedule
from newsportal.errors import NewsportalError, SourcesError
from newsportal.messages import did_you_mean
from newsportal.services.jobs.scrapyd import CONFIGURATION
from newsportal.services.trying.saved import plain, tried
from newsportal.sources import FILE_NAME, Topic, schema_text

SCHEMA_NAME = "sources.schema.json"
PRESETS = ("metasearch-portal", "region-crawler", "photo-stories", "table-statistics", "news-system")  # papers A to E
SCHEMA_LINE = "# yaml-language-server: $schema="
PROJECT = "[settings]\ndefault = newsportal.settings\n\n[deploy]\nurl = http://127.0.0.1:6800/\nproject = newsportal\n"


def list_(sources: SourcesFile = None, as_json: AsJson = False) -> None:
    """List topics, engines, feeds, sitemaps, regions, forums and galleries."""
    known = load(sources)
    rows = []
    for source in known.all():
        visits = source.engines if isinstance(source, Topic) else getattr(source, "seeds", ()) or (getattr(source, "url", None),)
        row = {**pick(source, "key", "name"), "kind": source.family, "enabled": source.enabled, "visits": list(filter(None, visits))}
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
    """Print every mistake of sources.yaml with its line; exit status 1 if there is one."""
    try:
        known = load(sources)
    except SourcesError as error:
        for problem in error.problems:
            plain = pick(problem, "file", "line", "key", "message", "hint")
            typer.echo(json.dumps(plain, ensure_ascii=False, default=str) if as_json else str(problem))
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
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """Write a sources.yaml to start from, its schema, and the scrapy.cfg that makes the folder a Scrapy project."""
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
    name: Annotated[str, typer.Argument(help="A source, engine or topic of sources.yaml, or a built-in engine.")],
    query: Annotated[str | None, typer.Option(help="What to ask an engine; default: what its topic asks.")] = None,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Fetch one list page and one article of a source, and show what is found; exit status 1 if nothing is."""
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


COMMANDS = (
    list_, check, schema, init, add, suggest, import_, export, _test, enable, disable, interval, remove, visit, undo, health, schedule,
)  # fmt: skip
group = command_group("Look at sources.yaml, check it, try its sources, add to it.", *COMMANDS)
