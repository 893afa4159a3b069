"""``newsportal source``: list, check, test, change and visit the sources of sources.yaml, and undo changes; the health of each source, and
when it is visited next."""

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
from newsportal.cli.output import console, make_table, pick, print_json, print_table, writable
from newsportal.cli.source_adding import add, export, import_, show, suggest
from newsportal.errors import NewsportalError, SourcesError
from newsportal.messages import did_you_mean, format_time, local
from newsportal.services.jobs.scrapyd import CONFIGURATION
from newsportal.services.trying.saved import plain, try_source, unknown_source
from newsportal.sources import FILE_NAME, Source, Topic, edit, schema_text
from newsportal.sources.changing import Way, change_many
from newsportal.sources.editing import earlier_version, roll_back, versions
from newsportal.sources.timing import SourceHealth, monitored_sources, sources_health, summary, timetable, visit_soon, visited_sources
from newsportal.store import open_store

SCHEMA_NAME = "sources.schema.json"
PRESETS = ("metasearch-portal", "region-crawler", "photo-stories", "table-statistics", "news-system")  # papers A to E
SCHEMA_LINE = "# yaml-language-server: $schema="
PROJECT = "[settings]\ndefault = newsportal.settings\n\n[deploy]\nurl = http://127.0.0.1:6800/\nproject = newsportal\n"


def list_(sources: SourcesFile = None, as_json: AsJson = False) -> None:
    """List topics, engines and all other sources."""
    config = load(sources)
    rows = []
    for source in config.all():
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
    print_table(make_table(("key", "", "what is visited", "topics, category"), cells))


def check(sources: SourcesFile = None, as_json: AsJson = False) -> None:
    """Print every mistake of sources.yaml with its line; exit status 1 if any."""
    try:
        config = load(sources)
    except SourcesError as error:
        for problem in error.problems:
            row = pick(problem, "file", "line", "key", "message", "hint")
            typer.echo(json.dumps(row, ensure_ascii=False, default=str) if as_json else str(problem))
        raise typer.Exit(1) from error
    if not as_json:
        count = sum(1 for source in config.all() if source.enabled)
        none = "" if count else ": nothing to crawl; add a feed or a channel with `newsportal source add https://...`"
        typer.echo(hints.packaged_file_hint(config) or f"{config.path}: no mistakes; {count} topics and sources enabled{none}")


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
    for name, content in {SCHEMA_NAME: schema_text(), CONFIGURATION: PROJECT, path.name: f"{SCHEMA_LINE}{SCHEMA_NAME}\n{text}"}.items():
        if name != CONFIGURATION or not path.with_name(name).exists():
            with writable(path.with_name(name)) as part:
                part.write_text(content, "utf-8")
    typer.echo(f"{path} written; edit it, then run: newsportal up")


def _test(
    name: Annotated[str, typer.Argument(help="A source, engine or topic.")],
    query: Annotated[str | None, typer.Option(help="An engine's query; default: its topic's.")] = None,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Fetch a list page and an article of a source; exit status 1 if nothing is found."""
    config = load(sources)
    good = True
    for trial, reading in try_source(name, config, query):
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
    frequency = f"every {minutes:g} minutes" if minutes else "at the next scheduled time"
    _change(sources, names, "interval", f"is visited {frequency}, in {{path}}", minutes or None)


def remove(names: Names, sources: SourcesFile = None) -> None:
    """Take sources out of sources.yaml; their articles stay."""
    _change(sources, names, "remove", "was removed from {path}; to undo it: newsportal source undo")


def visit(name: Name, sources: SourcesFile = None) -> None:
    """Make a source due (for newsportal up, schedule, crawl --due)."""
    config = load(sources)
    keys = [row.key for row in visited_sources(config) if name in (row.key, getattr(row.source, "name", None), row.key.partition(":")[2])]
    if not keys:
        raise NewsportalError(unknown_source(name, config) if not config.find(name) else f"{name} is switched off, or is never visited")
    with closing(open_store(config.store)) as store:
        for key in keys:
            due = visit_soon(store, key, datetime.now(UTC))
            typer.echo(f"{key} is due {'now' if due <= datetime.now(UTC) else f'at {format_time(due)}: it sent Retry-After'}")


def undo(
    steps: Annotated[int, typer.Option(min=1, help="How many changes.")] = 1,
    list_: Annotated[bool, typer.Option("--list", help="Only list earlier versions, latest first.")] = False,
    sources: SourcesFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON for each version.")] = False,
) -> None:
    """Undo the last changes of sources.yaml by a command or the portal."""
    path = sources_path(sources).resolve()
    if list_ or as_json:
        for index, entry in enumerate(versions(path), 1):
            row = {"steps": index, "until": entry.at.isoformat(), "bytes": entry.size}
            typer.echo(json.dumps(row) if as_json else f"{index:3}  until {local(entry.at):%Y-%m-%d %H:%M:%S%z}  {entry.size} bytes")
        return
    version = earlier_version(path, steps)
    roll_back(path, version)
    typer.echo(f"{path} is restored to its state until {local(version.at):%Y-%m-%d %H:%M:%S%z}; undo again to revert this")


def _change(sources: Path | None, names: Sequence[str], way: Way, sentence: str, minutes: float | None = None) -> None:
    """Apply all changes atomically; they are undone as one."""
    path = sources_path(sources)
    config = load(path)
    selected: list[Source] = []
    for name in dict.fromkeys(names):
        found = config.find(name)
        if not found:
            raise NewsportalError(unknown_source(name, config))
        if len(found) > 1:
            raise NewsportalError(f"{name!r} is ambiguous; give one of {', '.join(source.key for source in found)}")
        selected += found
    edit(path, change_many(way, selected, minutes))
    for source in selected:
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
    config = load(sources)
    found = list(monitored_sources(config))
    if name is not None:
        found = [source for source in found if name in (source.key, source.name)]
        if not found:
            raise NewsportalError(f"sources.yaml visits no source {name!r}; see: newsportal source list")
    with closing(open_store(config.store)) as store:
        rows = sources_health(store, found, local(datetime.now(UTC)))
    visible = [row for row in rows if row.health.bad] if bad else rows
    if as_json:
        for row in visible:
            print_json(health_row(row))
    else:
        out = console()
        width = max((len(row.health.state) for row in visible), default=0)
        for row in visible:
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
        out.print(summary(rows) or "sources.yaml has no sources", markup=False)
    if bad and visible:
        raise typer.Exit(1)


def health_row(row: SourceHealth) -> dict[str, Any]:
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
    config = load(sources)
    rows = [row for row in visited_sources(config) if name in (None, row.key, getattr(row.source, "name", None), row.key.partition(":")[2])]
    if name is not None and not rows:
        raise NewsportalError(f"sources.yaml visits no source {name!r}; see: newsportal source list")
    with closing(open_store(config.store)) as store:
        planned = sorted(timetable(config, store, rows, local(datetime.now(UTC))), key=lambda row: row.next.isoformat(timespec="seconds"))
    if not as_json:
        cells = ((f"{plan.next:%m-%d %H:%M}", plan.key, Text(hour_bars(plan.expected or ())), str(plan.reason)) for plan in planned)
        print_table(make_table((f"next ({local(datetime.now(UTC)):%z})", "source", "the next 24 hours", "why then"), cells))
        return
    for due in planned:  # ``hub``: it has WebSub pushes; ``expected``: entries in each of the next 24 hours
        row = pick(due, "key", "policy", "last", "hub") | {"next": due.next.isoformat(timespec="seconds"), "reason": str(due.reason)}
        row["expected"] = [round(number, 2) for number in due.expected] if due.expected is not None else None
        print_json({**row, "hours_on": list(due.hours_on) if due.hours_on is not None else None})


def hour_bars(expected: tuple[float, ...] | list[float]) -> str:
    return "".join(HOUR_BARS[round(min(number, HIGHEST) / HIGHEST * (len(HOUR_BARS) - 1))] for number in expected)


group = command_group(
    "Show, check and change sources.yaml, and test its sources.",
    list_, check, schema, init, add, suggest, import_, export, _test, enable, disable, interval, remove, visit, undo, health, schedule,
)  # fmt: skip
