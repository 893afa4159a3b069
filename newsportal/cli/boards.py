"""``newsportal boards``: the hot lists of sources.yaml as they stand."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from newsportal.cli.context import open_record
from newsportal.cli.options import AsJson, SourcesFile
from newsportal.cli.output import WIDEST, make_table, print_json, print_table
from newsportal.errors import NewsportalError
from newsportal.messages import did_you_mean, format_time
from newsportal.services.boards import Board, as_dict, compile_boards
from newsportal.text import clean


def boards(
    name: Annotated[str | None, typer.Argument(help="A list's name, or list:NAME; default: all.")] = None,
    as_json: AsJson = False,
    sources: SourcesFile = None,
) -> None:
    """Show hot lists at their last visit."""
    with open_record(sources) as (known, store):
        found = compile_boards(store, known, datetime.now(UTC), name)
    if name is not None and not found:
        names = [one.name for one in known.lists if one.enabled]
        near = did_you_mean(name, names)
        raise NewsportalError(
            f"sources.yaml has no enabled list {name!r}; it has: {', '.join(names) or 'none'}" + (f"; {near}" if near else "")
        )
    if as_json:
        print_json(*map(as_dict, found))
        return
    if not found:
        typer.echo("sources.yaml has no lists; add one, such as {name: 热榜, preset: weibo}, under lists: (docs/sources.md)")
    for board in found:
        show(board)


def show(board: Board) -> None:
    if board.at is None:
        typer.echo(f"{clean(board.name)}: not visited yet; visit it with: newsportal crawl lists --source {board.key}")
        return
    typer.echo(f"{clean(board.name)}, {format_time(board.at)}")
    rows = [
        (one.standing.place.rank, clean(one.standing.place.title), one.standing.place.heat or "", format_time(one.standing.since),
         one.standing.best, clean(one.stories[0].head.title) if one.stories else "")
        for one in board.entries
    ]  # fmt: skip
    print_table(make_table(("rank", "title", "heat", "since", "best", "story"), rows), width=WIDEST)
