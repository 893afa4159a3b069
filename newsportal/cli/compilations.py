"""``newsportal briefing``, ``rising`` and ``boards``: the important events of a day, in sentences of their articles; words, names and
events that are more frequent than in the past; and the current hot lists of sources.yaml."""

from datetime import UTC, datetime
from html import escape
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

import typer

from newsportal.cli import hints
from newsportal.cli.options import AsJson, AsJsonLine, SourcesFile, moment, open_record
from newsportal.cli.output import WIDEST, make_table, print_json, print_table
from newsportal.cli.search import end
from newsportal.errors import NewsportalError
from newsportal.events.rising import PAST_DAYS
from newsportal.messages import did_you_mean, format_time
from newsportal.services.boards import ENTRIES, HotBoard, RisingBoard, board_row, compile_board, compile_boards, rising_row
from newsportal.services.briefing import DAY, EVENTS, Briefing, compile_briefing, day_range, passages
from newsportal.services.briefing import as_dict as briefing_row
from newsportal.text import clean

Format = Literal["md", "html", "json"]


def briefing(
    topic: Annotated[str | None, typer.Option(help="Only this topic.")] = None,
    date: Annotated[str | None, typer.Option(help="A day (2026-03-01); default: the last 24 hours.")] = None,
    count: Annotated[int, typer.Option(min=1, max=100, help="Events at most.")] = EVENTS,
    format: Annotated[Format, typer.Option(help="md, html, or json: one line.")] = "md",
    as_json: Annotated[bool, typer.Option("--json", help="As --format json.")] = False,
    sources: SourcesFile = None,
) -> None:
    """The events that matter, each in a few sentences of its articles, with links."""
    with open_record(sources) as (config, store):
        day, now = moment(date, "--date"), datetime.now(UTC)
        zone = ZoneInfo(config.portal.timezone)
        try:
            since, until = day_range(day.astimezone(zone).date(), zone) if day else (now - DAY, now)
            result = compile_briefing(store, since, until, topic=topic, count=count)
        except OverflowError as error:
            raise typer.BadParameter(f"{date!r} is out of range", param_hint="--date") from error
    hints.warn_unknown_topic(config, topic)
    if as_json or format == "json":
        print_json(briefing_row(result))
    else:
        typer.echo(markdown(result) if format == "md" else html(result))


def markdown(briefing: Briefing) -> str:
    lines = [f"# {heading(briefing)}", ""]
    for event in briefing.events:
        lines += [f"## {clean(event.title)} ({event.sites})", ""]
        for quote in passages(event.quotes):
            lines += [f"{quote.text} ([{clean(quote.site)}](<{clean(quote.url)}>))", ""]
    return "\n".join(lines if briefing.events else [*lines, "nothing new"]).rstrip()


def html(briefing: Briefing) -> str:
    """Return a self-contained HTML page, to be mailed or printed."""
    parts = [f'<!DOCTYPE html>\n<meta charset="utf-8">\n<title>{escape(heading(briefing))}</title>\n<h1>{escape(heading(briefing))}</h1>']
    for event in briefing.events:
        parts.append(f"<h2>{escape(clean(event.title))}</h2>")
        parts += (f'<p>{escape(q.text)} <a href="{escape(q.url)}">{escape(clean(q.site))}</a></p>' for q in passages(event.quotes))
    return "\n".join(parts)


def heading(briefing: Briefing) -> str:
    return " · ".join(filter(None, (clean(briefing.topic or ""), f"{format_time(briefing.since)} – {format_time(briefing.until)}")))


MAX_DAYS = 28


def rising(
    topic: Annotated[str | None, typer.Option(help="Only this topic.")] = None,
    days: Annotated[int, typer.Option(min=1, max=MAX_DAYS, help="Days to compare with the four weeks before.")] = 1,
    at: Annotated[str | None, typer.Option(help="End of the period: a day or a time (2026-03-01T08:30); default: now.")] = None,
    count: Annotated[int, typer.Option(min=1, max=200, help="Maximum number of events and of words.")] = ENTRIES,
    as_json: AsJsonLine = False,
    sources: SourcesFile = None,
) -> None:
    """Show which words, names and events rise: their stories, and how many their past expects."""
    with open_record(sources) as (config, store):
        try:
            board = compile_board(store, end(at, "--at") or datetime.now(UTC), days, topic=topic, count=count)
        except OverflowError as error:
            raise typer.BadParameter(f"{at!r} is out of range", param_hint="--at") from error
    hints.warn_unknown_topic(config, topic)
    if as_json:
        print_json(rising_row(board))
    else:
        show_rising(board)


def show_rising(board: RisingBoard) -> None:
    span = f"{format_time(board.since)} – {format_time(board.until)}"
    typer.echo(f"{span}: {hints.counted(board.stories, 'story')}, {board.past} in the {PAST_DAYS} days before")
    rows = [
        (entry.rise.kind, " · ".join(map(clean, (entry.title, *entry.rise.with_words))), entry.rise.count, round(entry.rise.expected, 1),
         round(entry.rise.surprise, 1), entry.rise.sites)
        for entry in (*board.events, *board.words)
    ]  # fmt: skip
    if rows:
        print_table(make_table(("kind", "title", "stories", "expected", "surprise", "sites"), rows), width=WIDEST)
    elif board.past < board.stories:
        typer.echo("too few stories on the days before to compare with: wait, or choose an earlier time with --at")
    else:
        typer.echo("nothing rises")


def boards(
    name: Annotated[str | None, typer.Argument(help="A list's name, or list:NAME; default: all.")] = None,
    as_json: AsJson = False,
    sources: SourcesFile = None,
) -> None:
    """Show hot lists at their last visit."""
    with open_record(sources) as (config, store):
        found = compile_boards(store, config, datetime.now(UTC), name)
    if name is not None and not found:
        names = [source.name for source in config.lists if source.enabled]
        near = did_you_mean(name, names)
        raise NewsportalError(
            f"sources.yaml has no enabled list {name!r}; it has: {', '.join(names) or 'none'}" + (f"; {near}" if near else "")
        )
    if as_json:
        print_json(*map(board_row, found))
        return
    if not found:
        typer.echo("sources.yaml has no lists; add one, such as {name: 热榜, preset: weibo}, under lists: (docs/sources.md)")
    for board in found:
        show_list(board)


def show_list(board: HotBoard) -> None:
    if board.at is None:
        typer.echo(f"{clean(board.name)}: not visited yet; visit it with: newsportal crawl lists --source {board.key}")
        return
    typer.echo(f"{clean(board.name)}, {format_time(board.at)}")
    rows = [
        (entry.standing.place.rank, clean(entry.standing.place.title), entry.standing.place.heat or "", format_time(entry.standing.since),
         entry.standing.best, clean(entry.stories[0].head.title) if entry.stories else "")
        for entry in board.entries
    ]  # fmt: skip
    print_table(make_table(("rank", "title", "heat", "since", "best", "story"), rows), width=WIDEST)
