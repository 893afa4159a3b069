"""``newsportal briefing``: the events of a day that matter, in sentences of their articles."""

from __future__ import annotations

from datetime import UTC, datetime
from html import escape
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

import typer

from newsportal.cli import hints
from newsportal.cli.context import moment, open_record
from newsportal.cli.options import SourcesFile
from newsportal.cli.output import print_json
from newsportal.messages import format_time
from newsportal.services.briefing import DAY, EVENTS, Briefing, as_dict, compile_briefing, day_range, passages
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
    with open_record(sources) as (known, store):
        chosen, now = moment(date, "--date"), datetime.now(UTC)
        zone = ZoneInfo(known.portal.timezone)
        try:
            since, until = day_range(chosen.astimezone(zone).date(), zone) if chosen else (now - DAY, now)
            made = compile_briefing(store, since, until, topic=topic, count=count)
        except OverflowError as error:
            raise typer.BadParameter(f"{date!r} is at the edge of the calendar", param_hint="--date") from error
    if word := hints.unknown_topic(known, topic):
        typer.echo(word, err=True)
    if as_json or format == "json":
        print_json(as_dict(made))
    else:
        typer.echo(markdown(made) if format == "md" else html(made))


def markdown(made: Briefing) -> str:
    lines = [f"# {heading(made)}", ""]
    for event in made.events:
        lines += [f"## {clean(event.title)} ({event.sites})", ""]
        for quote in passages(event.quotes):
            lines += [f"{quote.text} ([{clean(quote.site)}](<{clean(quote.url)}>))", ""]
    return "\n".join(lines if made.events else [*lines, "nothing new"]).rstrip()


def html(made: Briefing) -> str:
    """A page that needs nothing else, to be mailed or printed."""
    parts = [f'<!DOCTYPE html>\n<meta charset="utf-8">\n<title>{escape(heading(made))}</title>\n<h1>{escape(heading(made))}</h1>']
    for event in made.events:
        parts.append(f"<h2>{escape(clean(event.title))}</h2>")
        parts += (f'<p>{escape(one.text)} <a href="{escape(one.url)}">{escape(clean(one.site))}</a></p>' for one in passages(event.quotes))
    return "\n".join(parts)


def heading(made: Briefing) -> str:
    return " · ".join(part for part in (clean(made.topic or ""), f"{format_time(made.since)} – {format_time(made.until)}") if part)
