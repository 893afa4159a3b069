"""``newsportal source schedule``: when each source is visited next, and why then."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from newsportal.errors import NewsportalError
from newsportal.sources import Sources, load
from newsportal.sources.timetable import Planned, Visited, timetable, visited
from newsportal.store import open_store

BARS = " ▁▂▃▄▅▆▇█"
"""Heights of an hour in the line of entries that are expected."""

HIGHEST = 4.0
"""Entries an hour from which on a bar is full."""


def schedule(
    name: Annotated[str | None, typer.Argument(help="One source; default: all.")] = None,
    sources: Annotated[Path | None, typer.Option(help="The sources file; default: the nearest sources.yaml.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON for each.")] = False,
) -> None:
    """Say when each source is visited next and why, with the entries expected in the next 24 hours; the soonest first."""
    known = load(sources)
    chosen = [one for one in visited(known) if name in (None, one.key, getattr(one.source, "name", None), one.key.partition(":")[2])]
    if name is not None and not chosen:
        raise NewsportalError(f"sources.yaml visits no source {name!r}; see: newsportal source list")
    rows = sorted(_rows(known, chosen, datetime.now().astimezone()), key=lambda row: str(row["next"]))
    if as_json:
        for row in rows:
            typer.echo(json.dumps(row, ensure_ascii=False))
    else:
        _show(rows)


def _rows(known: Sources, chosen: list[Visited], now: datetime) -> list[dict[str, Any]]:
    store = open_store(known.store)
    try:
        return [_row(one) for one in timetable(known, store, chosen, now)]
    finally:
        store.close()


def _row(one: Planned) -> dict[str, Any]:
    """A source's schedule as JSON values; times in ISO 8601. ``expected``: entries in each of the next 24 hours. ``hub``: one tells us."""
    return {
        "key": one.key,
        "policy": one.policy,
        "last": one.last.isoformat() if one.last else None,
        "next": one.next.isoformat(timespec="seconds"),
        "why": str(one.why),
        "hub": one.hub,
        "expected": [round(number, 2) for number in one.expected] if one.expected is not None else None,
        "hours_on": list(one.hours_on) if one.hours_on is not None else None,
    }


def _show(rows: list[dict[str, Any]]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("next", "source", "the next 24 hours", "why then"):
        table.add_column(column, overflow="fold")
    for row in rows:
        moment = datetime.fromisoformat(row["next"])
        table.add_row(*map(Text, (f"{moment:%m-%d %H:%M}", row["key"], bars(row["expected"] or ()), row["why"])))
    Console(emoji=False, highlight=False, soft_wrap=True).print(table)


def bars(expected: tuple[float, ...] | list[float]) -> str:
    """Entries an hour as a line of bars."""
    top = len(BARS) - 1
    return "".join(BARS[min(top, round(min(number, HIGHEST) / HIGHEST * top)) if number < HIGHEST else top] for number in expected)
