"""``newsportal event``: list and edit the events in the store."""

import getpass
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any
from zoneinfo import ZoneInfo

import typer

from newsportal.cli.hints import counted
from newsportal.cli.options import AsJson, AsJsonLine, SourcesFile, command_group, moment, open_record
from newsportal.cli.output import WIDEST, count_bar, make_table, pick, print_json, print_result, print_rows, print_table, report_progress
from newsportal.cli.story import open_for_change
from newsportal.messages import format_time
from newsportal.services.events import editing, following
from newsportal.services.events.editing import Log
from newsportal.services.events.timeline import EventView, view
from newsportal.store.events import Event
from newsportal.text import clean

Id = Annotated[str, typer.Argument(metavar="EVENT", help="Id of an event, from `event list`.")]
Stories = Annotated[list[str], typer.Argument(metavar="STORY...", help="Ids of stories, from `event show`.")]
COLUMNS = ("id", "title", "stories", "sites", "first", "last", "pinned")


def list_(
    topic: Annotated[str | None, typer.Option(help="Only this topic.")] = None,
    since: Annotated[str | None, typer.Option(help="Only since this date or time: 2026-03-01, 2026-03-01T08:30+08:00.")] = None,
    min_stories: Annotated[int, typer.Option("--least", min=1, help="Stories at least.")] = 2,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of events to list.")] = 30,
    newest: Annotated[bool, typer.Option("--newest", help="Newest first.")] = False,
    as_json: AsJson = False,
    sources: SourcesFile = None,
) -> None:
    """List events, the weightiest first: reports count half after twelve hours."""
    with open_record(sources) as (_, store):
        order = "newest" if newest else "hottest"
        found = store.events.list_events(since=moment(since), topic=topic, min_stories=min_stories, order=order, limit=limit).events
        print_rows([plain(event) for event in found], COLUMNS, as_json)
    if not found and not as_json:
        typer.echo("no such events; newsportal up assigns stories to events, or newsportal event rebuild", err=True)


def show(id: Id, as_json: AsJsonLine = False, sources: SourcesFile = None) -> None:
    """Show an event: turning points, stories with the decisive words, edits."""
    with open_record(sources) as (config, store):
        event = editing.get_event(store, store.events.merged_into(id) or id)
        event_view, edits = view(store, event, ZoneInfo(config.portal.timezone)), store.events.edits(id)
    values = whole(event_view) | {"edits": [pick(edit, "number", "kind", "at", "by", "undone") for edit in edits]}
    if as_json:
        print_json(values)
        return
    typer.echo(f"{clean(event.title)}\n{event.id}, {counted(event.stories, 'story')} on {counted(event.sites, 'site')}")
    for point in event_view.points:
        typer.echo(f"{point.day}  {clean(point.sentence)}")
    rows = [(row["id"], format_time(row["moment"]), row["title"], " · ".join(row["words"]) or row["by"] or "") for row in values["stories"]]
    print_table(make_table(("story", "time", "title", "why"), rows), width=WIDEST)


def rebuild(as_json: AsJsonLine = False, sources: SourcesFile = None) -> None:
    """Rebuild all events from the stories. Edits are kept."""
    with open_record(sources) as (_, store), count_bar(quiet=as_json) as report:
        done = following.rebuild(store, lambda position, last: report("changes", position, last))
    print_result({"changes": done}, f"{counted(done, 'change')} processed; all stories are in events", as_json)


def revise(as_json: AsJsonLine = False, sources: SourcesFile = None) -> None:
    """Split and join the events that changed, as newsportal up does each night; undo it with event undo."""
    with open_record(sources) as (_, store), report_progress() as report:
        done = editing.revise(store, datetime.now(UTC), lambda position, last: report(position / last, "checking articles"))
    rest = f"; {done.conflicts} changed meanwhile" if done.conflicts else ""
    rest += "; there are more: run it again" if done.more else ""
    print_result(asdict(done), f"{counted(done.events, 'event')} checked, {done.split} split, {done.joined} joined{rest}", as_json)


def rename(
    id: Id,
    title: Annotated[str, typer.Argument(help="The title; empty: that of its most reported story.")],
    as_json: AsJsonLine = False,
    sources: SourcesFile = None,
) -> None:
    """Give an event a title."""
    with open_for_change(sources) as (store, log):
        print_edit(id, editing.rename(store, id, title, **edited_now(log)), as_json)


def pin(
    id: Id, off: Annotated[bool, typer.Option("--off", help="No longer.")] = False, as_json: AsJsonLine = False, sources: SourcesFile = None
) -> None:
    """Keep an event above the others."""
    with open_for_change(sources) as (store, log):
        print_edit(id, editing.pin(store, id, not off, **edited_now(log)), as_json)


def split(id: Id, stories: Stories, as_json: AsJsonLine = False, sources: SourcesFile = None) -> None:
    """Take stories out of an event into a new one."""
    with open_for_change(sources) as (store, log):
        new, number = editing.split(store, id, stories, **edited_now(log))
        print_edit(new, number, as_json)


def join(
    id: Id,
    other: Annotated[str, typer.Argument(metavar="OTHER", help="The event whose stories are moved to EVENT.")],
    as_json: AsJsonLine = False,
    sources: SourcesFile = None,
) -> None:
    """Put all stories of another event into this one."""
    with open_for_change(sources) as (store, log):
        print_edit(id, editing.join(store, id, other, **edited_now(log)), as_json)


def undo(
    number: Annotated[int, typer.Argument(min=1, help="Number of an edit, from `event show`.")],
    as_json: AsJsonLine = False,
    sources: SourcesFile = None,
) -> None:
    """Undo an edit, unless its story or event was changed since."""
    with open_for_change(sources) as (store, log):
        print_edit(editing.undo(store, number, **edited_now(log)).event_id, number, as_json)


def edited_now(log: Log) -> dict[str, Any]:
    return {"by": getpass.getuser(), "now": datetime.now(UTC), "log": log}


def print_edit(event: str, number: int, as_json: bool) -> None:
    sentence = f"event {event}, edit {number}; to undo it: newsportal event undo {number}"
    print_result({"event": event, "edit": number}, sentence, as_json)


def plain(event: Event) -> dict[str, Any]:
    return pick(event, "id", "title", "stories", "sites", "first", "last", "heat", "pinned")


def whole(view: EventView) -> dict[str, Any]:
    stories = [
        {"id": story.id, "title": story.head.title, "moment": story.head.moment, "sites": story.sites}
        | pick(view.placed[story.id], "score", "words", "by")
        for story in view.stories
        if story.id in view.placed
    ]
    points = [{"day": point.day, "sentence": point.sentence, "story": point.story.id, "dated": point.dated} for point in view.points]
    publishers = [pick(row, "site", "first", "articles") for row in view.publishers]
    return plain(view.event) | {"points": points, "stories": stories, "publishers": publishers}


group = command_group("Events: list, show and edit them.", list_, show, rebuild, revise, rename, pin, split, join, undo)
