"""``newsportal source``: list, check, test, change and visit the sources of sources.yaml, and undo changes; the health of each source, and
when it is visited next."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from newsportal.cli import hints
from newsportal.cli.options import AsJson, SourcesFile, command_group, load, sources_path
from newsportal.cli.output import console, make_table, pick, print_json
from newsportal.cli.source_adding import add, export, import_, show, suggest
from newsportal.errors import NewsportalError, SourcesError
from newsportal.messages import did_you_mean, format_time, local
from newsportal.services.jobs.scrapyd import CONFIGURATION
from newsportal.services.trying.saved import plain, tried, unknown
from newsportal.sources import FILE_NAME, Source, Topic, edit, schema_text
from newsportal.sources.changing import Way, change_many
from newsportal.sources.editing import earlier, go_back, versions
from newsportal.sources.timing import Judged, judged, summary, timetable, visit_soon, visited, watched
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
        none = "" if count else ": nothing to crawl; add a feed or a channel with `newsportal source add https://...`"
        typer.echo(hints.packaged(known) or f"{known.path}: no mistakes; {count} topics and sources enabled{none}")


def schema() -> None:
    """Print the JSON Schema of sources.yaml, for editors."""
    typer.echo(schema_text(), nl=False)


def init(
    path: Annotated[Path, typer.Argument(help="The file to write.")] = Path(FILE_NAME),
    preset: Annotated[str | None, typer.Option(help=f"A paper's system: {', '.join(PRESETS)}.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Write a sources.yaml to start from, its schema, and a scrapy.cfg."""
    if preset is not None and preset not in PRESETS:
        near = did_you_mean(preset, PRESETS)
        raise typer.BadParameter(f"no preset is called {preset!r}; there are: {', '.join(PRESETS)}" + (f"; {near}" if near else ""))
    if path.exists() and not force:
        raise NewsportalError(f"{path} already exists; --force replaces it")
    text = files("newsportal").joinpath(f"sources/presets/{preset}.yaml" if preset else FILE_NAME).read_text("utf-8")
    text = text.partition("\n")[2] if text.startswith(SCHEMA_LINE) else text
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{SCHEMA_LINE}{SCHEMA_NAME}\n{text}", "utf-8")
    path.with_name(SCHEMA_NAME).write_text(schema_text(), "utf-8")
    if not (project := path.with_name(CONFIGURATION)).exists():
        project.write_text(PROJECT, "utf-8")
    typer.echo(f"{path} written; edit it, then run: newsportal up")


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
    """Enable disabled sources."""
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
    when = f"every {minutes:g} minutes" if minutes else "at the next scheduled time"
    _change(sources, names, "interval", f"is visited {when}, in {{path}}", minutes or None)


def remove(names: Names, sources: SourcesFile = None) -> None:
    """Take sources out of sources.yaml; their articles stay."""
    _change(sources, names, "remove", "was removed from {path}; to undo it: newsportal source undo")


def visit(name: Name, sources: SourcesFile = None) -> None:
    """Make a source due (for newsportal up, schedule, crawl --due)."""
    known = load(sources)
    keys = [one.key for one in visited(known) if name in (one.key, getattr(one.source, "name", None), one.key.partition(":")[2])]
    if not keys:
        raise NewsportalError(unknown(name, known) if not known.find(name) else f"{name} is disabled or not a source")
    with closing(open_store(known.store)) as store:
        for key in keys:
            at = visit_soon(store, key, datetime.now(UTC))
            typer.echo(f"{key} is due {'now' if at <= datetime.now(UTC) else f'at {format_time(at)}: it sent Retry-After'}")


def undo(
    steps: Annotated[int, typer.Option(min=1, help="How many changes.")] = 1,
    list_: Annotated[bool, typer.Option("--list", help="Only list earlier versions, latest first.")] = False,
    sources: SourcesFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON for each version.")] = False,
) -> None:
    """Undo the last changes of sources.yaml by a command or the portal."""
    path = sources_path(sources).resolve()
    if list_ or as_json:
        for place, one in enumerate(versions(path), 1):
            row = {"steps": place, "until": one.at.isoformat(), "bytes": one.size}
            typer.echo(json.dumps(row) if as_json else f"{place:3}  until {local(one.at):%Y-%m-%d %H:%M:%S%z}  {one.size} bytes")
        return
    version = earlier(path, steps)
    go_back(path, version)
    typer.echo(f"{path} is restored to its state until {local(version.at):%Y-%m-%d %H:%M:%S%z}; undo again to revert this")


def _change(sources: Path | None, names: Sequence[str], way: Way, sentence: str, minutes: float | None = None) -> None:
    """Apply all changes atomically; they are undone as one."""
    path = sources_path(sources)
    known = load(path)
    chosen: list[Source] = []
    for name in dict.fromkeys(names):
        found = known.find(name)
        if not found:
            raise NewsportalError(unknown(name, known))
        if len(found) > 1:
            raise NewsportalError(f"{name!r} is ambiguous; give one of {', '.join(one.key for one in found)}")
        chosen += found
    edit(path, change_many(way, chosen, minutes))
    for source in chosen:
        typer.echo(f"{source.key} {sentence.format(path=path)}")


DAY_BARS = "▁▂▃▄▅▆▇█"  # heights of a day's bar; a day without entries is a dot
COLOURS = {"healthy": "green", "new": "dim", "off": "dim", "quiet": "yellow", "resting": "yellow"}  # of a state's name; red for the others


def health(
    name: Annotated[str | None, typer.Argument(help="One source; default: all.")] = None,
    bad: Annotated[bool, typer.Option("--bad", help="Only those that need attention; exit status 1 if any.")] = False,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Show the health of sources."""
    known = load(sources)
    found = list(watched(known))
    if name is not None:
        found = [source for source in found if name in (source.key, source.name)]
        if not found:
            raise NewsportalError(f"sources.yaml visits no source {name!r}; see: newsportal source list")
    with closing(open_store(known.store)) as store:
        rows = judged(store, found, local(datetime.now(UTC)))
    shown = [row for row in rows if row.health.bad] if bad else rows
    if as_json:
        for row in shown:
            print_json(health_row(row))
    else:
        out = console()
        width = max((len(row.health.state) for row in shown), default=0)
        for row in shown:
            verdict = row.health
            success = verdict.figures.last_success
            line = Text(f"{verdict.state:{width}}  ", style=COLOURS.get(verdict.state, "red"))
            line.append(f"{day_bars(row.days)}  ", style="dim").append(row.source.key, style="bold")
            line.append(f"  last success {local(success):%m-%d %H:%M %z}" if success else "  no answer yet", style="dim")
            out.print(line)
            if verdict.state != "healthy":
                out.print(f"    {verdict.reason()}", markup=False)
            if remedy := verdict.remedy():
                out.print(f"    → {remedy}", markup=False)
        out.print(summary(rows) or "sources.yaml names no sources", markup=False)
    if bad and shown:
        raise typer.Exit(1)


def health_row(row: Judged) -> dict[str, Any]:
    verdict, figures, pace = row.health, row.health.figures, row.health.cadence
    gaps = pace if pace and pace.gaps else None
    return {
        **pick(row.source, "key", "name"), **pick(verdict, "state", "cause"), "code": verdict.reason().code,
        "reason": str(verdict.reason()), "remedy": str(remedy) if (remedy := verdict.remedy()) else None, "since": verdict.since,
        "not_before": verdict.not_before(), **pick(figures, "last_visit", "last_success"), "last_new": pace.last if pace else None,
        "failures_in_row": figures.streak, "usual_gap": gaps and gaps.usual, "longest_gap": gaps and gaps.longest,
        "silence": pace.silence if pace else None, "silence_probability": gaps and gaps.probability,
        "articles": pick(figures, "read", "stored", "repeats", "shaky", "garbled") | {"failed": dict(figures.failed)},
        "days": list(row.days),
    }  # fmt: skip


def day_bars(days: tuple[int, ...]) -> str:
    """Return new entries per day as ``·▁··▃█``, relative to the day with most."""
    most = max(days, default=0)
    return "".join(DAY_BARS[(number * len(DAY_BARS) - 1) // most] if number else "·" for number in days)


HOUR_BARS = " ▁▂▃▄▅▆▇█"  # heights of an hour's bar of expected entries
HIGHEST = 4.0  # entries per hour for a full bar


def schedule(
    name: Annotated[str | None, typer.Argument(help="One source; default: all.")] = None,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Show when each source is visited next, and why."""
    known = load(sources)
    chosen = [one for one in visited(known) if name in (None, one.key, getattr(one.source, "name", None), one.key.partition(":")[2])]
    if name is not None and not chosen:
        raise NewsportalError(f"sources.yaml visits no source {name!r}; see: newsportal source list")
    with closing(open_store(known.store)) as store:
        planned = sorted(timetable(known, store, chosen, local(datetime.now(UTC))), key=lambda one: one.next.isoformat(timespec="seconds"))
    if not as_json:
        cells = ((f"{one.next:%m-%d %H:%M}", one.key, Text(hour_bars(one.expected or ())), str(one.why)) for one in planned)
        console().print(make_table((f"next ({local(datetime.now(UTC)):%z})", "source", "the next 24 hours", "why then"), cells))
        return
    for one in planned:  # ``hub``: it has WebSub pushes; ``expected``: entries in each of the next 24 hours
        row = {**pick(one, "key", "policy", "last"), "next": one.next.isoformat(timespec="seconds"), "why": str(one.why), "hub": one.hub}
        row["expected"] = [round(number, 2) for number in one.expected] if one.expected is not None else None
        print_json({**row, "hours_on": list(one.hours_on) if one.hours_on is not None else None})


def hour_bars(expected: tuple[float, ...] | list[float]) -> str:
    return "".join(HOUR_BARS[round(min(number, HIGHEST) / HIGHEST * (len(HOUR_BARS) - 1))] for number in expected)


group = command_group(
    "Show, check and change sources.yaml, and test its sources.",
    list_, check, schema, init, add, suggest, import_, export, _test, enable, disable, interval, remove, visit, undo, health, schedule,
)  # fmt: skip
