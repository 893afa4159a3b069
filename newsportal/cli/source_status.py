"""``newsportal source health`` and ``schedule``: how each source does, and when it is visited next."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from rich.text import Text

from newsportal.cli.options import AsJson, SourcesFile, load
from newsportal.cli.output import console, make_table, pick, print_json
from newsportal.errors import NewsportalError
from newsportal.messages import local
from newsportal.sources.timing import timetable, visited
from newsportal.sources.watched import Judged, judged, summary, watched
from newsportal.store import open_store

DAY_BARS = "▁▂▃▄▅▆▇█"  # heights of a day in the line of entries; a day without any is a dot
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
            print_json(plain(row))
    else:
        out = console()
        width = max((len(row.health.state) for row in shown), default=0)
        for row in shown:
            verdict = row.health
            success = verdict.figures.last_success
            line = Text(f"{verdict.state:{width}}  ", style=COLOURS.get(verdict.state, "red"))
            line.append(f"{day_bars(row.days)}  ", style="dim").append(row.source.key, style="bold")
            line.append(f"  last success {local(success):%m-%d %H:%M %z}" if success else "  never answered yet", style="dim")
            out.print(line)
            if verdict.state != "healthy":
                out.print(f"    {verdict.reason()}", markup=False)
            if remedy := verdict.remedy():
                out.print(f"    → {remedy}", markup=False)
        out.print(summary(rows) or "sources.yaml names no sources", markup=False)
    if bad and shown:
        raise typer.Exit(1)


def plain(row: Judged) -> dict[str, Any]:
    verdict, figures, pace = row.health, row.health.figures, row.health.cadence
    gaps = pace if pace and pace.gaps else None
    return {
        **pick(row.source, "key", "name"),
        **pick(verdict, "state", "cause"),
        "code": verdict.reason().code,
        "reason": str(verdict.reason()),
        "remedy": str(remedy) if (remedy := verdict.remedy()) else None,
        "since": verdict.since,
        "not_before": verdict.not_before(),
        **pick(figures, "last_visit", "last_success"),
        "last_new": pace.last if pace else None,
        "failures_in_row": figures.streak,
        "usual_gap": gaps and gaps.usual,
        "longest_gap": gaps and gaps.longest,
        "silence": pace.silence if pace else None,
        "silence_probability": gaps and gaps.probability,
        "articles": pick(figures, "read", "stored", "repeats", "shaky", "garbled") | {"failed": dict(figures.failed)},
        "days": list(row.days),
    }


def day_bars(days: tuple[int, ...]) -> str:
    """``·▁··▃█``: new entries by day, against the day that had most."""
    most = max(days, default=0)
    return "".join(DAY_BARS[(number * len(DAY_BARS) - 1) // most] if number else "·" for number in days)


HOUR_BARS = " ▁▂▃▄▅▆▇█"  # heights of an hour in the line of entries that are expected
HIGHEST = 4.0  # entries an hour from which on a bar is full


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
    for one in planned:  # ``hub``: one tells us; ``expected``: entries in each of the next 24 hours
        row = {**pick(one, "key", "policy", "last"), "next": one.next.isoformat(timespec="seconds"), "why": str(one.why), "hub": one.hub}
        row["expected"] = [round(number, 2) for number in one.expected] if one.expected is not None else None
        print_json({**row, "hours_on": list(one.hours_on) if one.hours_on is not None else None})


def hour_bars(expected: tuple[float, ...] | list[float]) -> str:
    return "".join(HOUR_BARS[round(min(number, HIGHEST) / HIGHEST * (len(HOUR_BARS) - 1))] for number in expected)
