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

from newsportal.commands.due import Visited, visited
from newsportal.errors import NewsportalError
from newsportal.schedule import Past, Rules, hours_on, strip
from newsportal.sources import Sources, load, timing
from newsportal.storage import open_store
from newsportal.storage.base import SourceState
from newsportal.visits import Visit

BARS = " ▁▂▃▄▅▆▇█"
"""Heights of an hour in the line of entries that are expected."""

FEW, FEWER = 200, 30
"""Beyond so many sources, so many visits of each are asked for: thousands are listed in seconds, and their reasons are rougher."""

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
        states = {state.source: state for state in store.source_states()}
        worth = timing.worth(known, states.values(), frozenset(one.key for one in visited(known)))
        subscribed = {known.source for known in store.subscriptions.all() if timing.tells(known, now)}
        past = store.visits.recent([one.key for one in chosen], each=timing.LOOKED_BACK if len(chosen) <= FEW else FEWER)
    finally:
        store.close()
    asked = {one.key: timing.rules(known, one.source, worth) for one in chosen}
    asked |= {key: timing.slower(rules) for key, rules in asked.items() if key in subscribed}
    return [_row(states.get(key) or SourceState(key), past.get(key, []), rules, now, hub=key in subscribed) for key, rules in asked.items()]


def _row(state: SourceState, visits: list[Visit], rules: Rules, now: datetime, *, hub: bool) -> dict[str, Any]:
    """A source's schedule as JSON values; times in ISO 8601. ``expected``: entries in each of the next 24 hours. ``hub``: one tells us."""
    found = timing.plan(state, visits, rules, now)
    at = max(now, timing.due_at(state, rules, now))
    return {
        "key": state.source,
        "policy": "fixed" if rules.interval else rules.policy,
        "last": state.last_run.isoformat() if state.last_run else None,
        "next": at.astimezone(now.tzinfo).isoformat(timespec="seconds"),
        "why": f"{found.why}; its hub tells of what is new" if hub else found.why,
        "hub": hub,
        "expected": [round(number, 2) for number in strip(Past.of(visits), rules, now)] if visits else None,
        "hours_on": sorted(hours_on(visits, rules.zone, rules.hours or hours_on((), rules.zone))) if rules.policy == "hours" else None,
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
