"""``newsportal source health``: how each source does, why, and what to do."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from newsportal.errors import NewsportalError
from newsportal.sources import load
from newsportal.sources.watched import Judged, judged, summary, watched
from newsportal.store import open_store

BARS = "▁▂▃▄▅▆▇█"
"""Heights of a day in the line of entries; a day without any is a dot."""

COLOURS = {"healthy": "green", "new": "dim", "off": "dim", "quiet": "yellow", "resting": "yellow"}
"""Of a state's name; red for the others."""


def health(
    name: Annotated[str | None, typer.Argument(help="One source; default: all.")] = None,
    bad: Annotated[bool, typer.Option("--bad", help="Only those that want somebody to look; exit status 1 if there is one.")] = False,
    sources: Annotated[Path | None, typer.Option(help="The sources file; default: the nearest sources.yaml.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON for each.")] = False,
) -> None:
    """Say how the sources do: state, reason, remedy, last success, new entries of the last fourteen days."""
    known = load(sources)
    found = list(watched(known))
    if name is not None:
        found = [source for source in found if name in (source.key, source.name)]
        if not found:
            raise NewsportalError(f"sources.yaml visits no source {name!r}; see: newsportal source list")
    store = open_store(known.store)
    try:
        rows = judged(store, found, datetime.now().astimezone())
    finally:
        store.close()
    shown = [row for row in rows if row.health.bad] if bad else rows
    if as_json:
        for row in shown:
            typer.echo(json.dumps(plain(row), ensure_ascii=False))
    else:
        _show(shown, summary(rows))
    if bad and shown:
        raise typer.Exit(1)


def plain(row: Judged) -> dict[str, Any]:
    """A source's health as JSON values; times in ISO 8601, spans in seconds."""
    said, figures = row.health, row.health.figures
    pace = said.cadence
    return {
        "key": row.source.key,
        "name": row.source.name,
        "state": said.state,
        "cause": said.cause,
        "code": said.reason().code,
        "reason": str(said.reason()),
        "remedy": str(remedy) if (remedy := said.remedy()) else None,
        "since": _iso(said.since),
        "not_before": _iso(said.not_before()),
        "last_visit": _iso(figures.last_visit),
        "last_success": _iso(figures.last_success),
        "last_new": _iso(pace.last if pace else None),
        "failures_in_row": figures.streak,
        "usual_gap": pace.usual if pace and pace.gaps else None,
        "longest_gap": pace.longest if pace and pace.gaps else None,
        "silence": pace.silence if pace else None,
        "silence_probability": pace.probability if pace and pace.gaps else None,
        "articles": {
            "read": figures.read,
            "stored": figures.stored,
            "repeats": figures.repeats,
            "shaky": figures.shaky,
            "garbled": figures.garbled,
            "failed": dict(figures.failed),
        },
        "days": list(row.days),
    }


def _show(rows: list[Judged], counted: str) -> None:
    out = Console(emoji=False, highlight=False, soft_wrap=True)
    width = max((len(row.health.state) for row in rows), default=0)
    for row in rows:
        said = row.health
        success = said.figures.last_success
        line = Text(f"{said.state:{width}}  ", style=COLOURS.get(said.state, "red"))
        line.append(f"{bars(row.days)}  ", style="dim").append(row.source.key, style="bold")
        line.append(f"  last success {success.astimezone():%m-%d %H:%M}" if success else "  never answered yet", style="dim")
        out.print(line)
        if said.state != "healthy":
            out.print(f"    {said.reason()}", markup=False)
        if remedy := said.remedy():
            out.print(f"    → {remedy}", markup=False)
    out.print(counted or "sources.yaml names no sources", markup=False)


def bars(days: tuple[int, ...]) -> str:
    """``·▁··▃█``: new entries by day, against the day that had most."""
    most = max(days, default=0)
    return "".join(BARS[(number * len(BARS) - 1) // most] if number else "·" for number in days)


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
