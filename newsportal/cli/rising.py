"""``newsportal rising``: the words, names and events whose rate leaves their own past."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from newsportal.cli import hints
from newsportal.cli.context import open_record
from newsportal.cli.options import AsJsonLine, SourcesFile
from newsportal.cli.output import WIDEST, make_table, print_json, print_table
from newsportal.cli.search import end
from newsportal.events.rising import PAST
from newsportal.messages import format_time
from newsportal.services.rising import ENTRIES, Board, as_dict, compile_board
from newsportal.text import clean

MOST_DAYS = 28


def rising(
    topic: Annotated[str | None, typer.Option(help="Only this topic.")] = None,
    days: Annotated[int, typer.Option(min=1, max=MOST_DAYS, help="Days to compare with the four weeks before.")] = 1,
    at: Annotated[
        str | None,
        typer.Option(help="What rose on that day or at that time (2026-03-01T08:30)."),
    ] = None,
    count: Annotated[int, typer.Option(min=1, max=200, help="Events, and words, at most.")] = ENTRIES,
    as_json: AsJsonLine = False,
    sources: SourcesFile = None,
) -> None:
    """Show which words, names and events rise: their stories, and how many their past expects."""
    with open_record(sources) as (known, store):
        try:
            board = compile_board(store, end(at, "--at") or datetime.now(UTC), days, topic=topic, count=count)
        except OverflowError as error:
            raise typer.BadParameter(f"{at!r} is at the edge of the calendar", param_hint="--at") from error
    if word := hints.unknown_topic(known, topic):
        typer.echo(word, err=True)
    if as_json:
        print_json(as_dict(board))
    else:
        show(board)


def show(board: Board) -> None:
    span = f"{format_time(board.since)} – {format_time(board.until)}"
    typer.echo(f"{span}: {hints.counted(board.stories, 'story')}, {board.past} in the {PAST} days before")
    rows = [
        (entry.rise.kind, " · ".join(map(clean, (entry.title, *entry.rise.with_words))), entry.rise.count, round(entry.rise.expected, 1),
         round(entry.rise.surprise, 1), entry.rise.sites)
        for entry in (*board.events, *board.words)
    ]  # fmt: skip
    if rows:
        print_table(make_table(("kind", "title", "stories", "expected", "surprise", "sites"), rows), width=WIDEST)
    elif board.past < board.stories:
        typer.echo("the days before have too few stories to compare with: wait, or ask for an earlier time with --at")
    else:
        typer.echo("nothing rises")
