"""``newsportal story``: what was folded into a story and why; fold and unfold by hand."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from newsportal.commands import story_changes
from newsportal.commands.context import local, open_record
from newsportal.commands.photos import figures, told
from newsportal.commands.story_changes import changing
from newsportal.editing import moves
from newsportal.errors import StoreError
from newsportal.store.results import StoredArticle, Story
from newsportal.store.store import Store
from newsportal.text import clean

WIDEST = 10_000
"""Columns of the table of versions, at most: ids and addresses are to be copied whole, and a terminal breaks long lines itself."""

SourcesFile = Annotated[Path | None, typer.Option(help="The sources file; default: the nearest sources.yaml.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the story as JSON.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="A story or an article, as in the portal's addresses.")]


def register(app: typer.Typer) -> None:
    """Add the group to the command line."""
    group = typer.Typer(
        name="story", help="Look at a story and its versions; put versions together or take them apart.", no_args_is_help=True
    )
    group.command()(show)
    group.command()(fold)
    group.command()(unfold)
    story_changes.register(group)
    app.add_typer(group)


def show(id: Id, as_json: AsJson = False, sources: SourcesFile = None) -> None:
    """Show a story: every version with its site, time and address, what it repeats and why, and how fast the story spread."""
    with open_record(sources) as (_, store):
        _print(story_of(store, id), as_json, store)


def fold(
    article: Annotated[str, typer.Argument(metavar="ARTICLE", help="The article to move.")],
    story: Annotated[str, typer.Argument(metavar="STORY", help="The story it belongs to (or one of its articles).")],
    as_json: AsJson = False,
    sources: SourcesFile = None,
) -> None:
    """Move an article into another story. Reposts of its text will join that story, too."""
    with changing(sources) as (store, log):
        moved = moves.fold(store, article, story_of(store, story).id, now=datetime.now(UTC))
        log("article.fold", article, {"from": moved.came_from, "to": moved.story})
        _print(story_of(store, moved.story), as_json, store)


def unfold(
    article: Annotated[str, typer.Argument(metavar="ARTICLE", help="The article to take out.")],
    as_json: AsJson = False,
    sources: SourcesFile = None,
) -> None:
    """Take an article out of its story into one of its own, for good. Undo it with fold."""
    with changing(sources) as (store, log):
        moved = moves.unfold(store, article, now=datetime.now(UTC))
        log("article.unfold", article, {"from": moved.came_from, "to": moved.story})
        _print(story_of(store, moved.story), as_json, store)


def story_of(store: Store, id: str) -> Story:
    """The story of that id, or the one that the article of that id is in. Raises ``StoreError``."""
    found = store.story(id, hidden=True)
    if found is None and (article := store.article(id)):
        found = store.story(article.story_id, hidden=True)
    if found is None:
        raise StoreError(f"no story or article {id!r}; ids stand in the portal's addresses (/story/ID) and in `newsportal search --json`")
    return found


def plain(story: Story) -> dict[str, Any]:
    """A story as JSON values."""
    spread = story.spread
    versions = [
        {
            "id": version.id, "url": version.url, "title": version.title, "site": version.publisher, "moment": version.moment.isoformat(),
            "fold_of": version.fold_of, "fold_reason": version.fold_reason, "fold_score": version.fold_score,
            "hidden": version.hidden.isoformat() if version.hidden else None, "corrected": list(version.corrected_fields),
        }
        for version in story.versions
    ]  # fmt: skip
    heat = {"sites": spread.sites, "at_first": spread.at_first, "hours": round(spread.hours, 2), "per_hour": spread.per_hour}
    steps = [step.isoformat() for step in spread.steps]
    return {"id": story.id, "original": story.head.id, "heat": story.heat, "spread": {**heat, "steps": steps}, "versions": versions}


def photographed(store: Store, version: StoredArticle) -> dict[str, Any] | None:
    """Pages and pictures of a version that is a photo story, as JSON values; those left out with the reason."""
    gallery = store.galleries.gallery(version.id)
    if gallery is None:
        return None
    images = [(picture.place, asdict(picture.image)) for picture in store.galleries.pictures(version.id, dropped=True)]
    return figures(gallery) | {
        "images": [{"place": place} | {key: value for key, value in image.items() if value} for place, image in images]
    }


def _print(story: Story, as_json: bool, store: Store) -> None:
    if as_json:
        values = plain(story)
        for version, row in zip(story.versions, values["versions"], strict=True):
            row |= {"photos": photos} if (photos := photographed(store, version)) else {}
        typer.echo(json.dumps(values, ensure_ascii=False))
        return
    console = Console(emoji=False, soft_wrap=True)
    console.print(f"{clean(story.head.title)}\n{story.id}, {_count(story)}", markup=False, highlight=False)
    table = Table("article", "site", "time", "why", "address", box=None)
    for version in story.versions:
        cells = (version.id, version.publisher, f"{local(version.moment):%Y-%m-%d %H:%M}", _why(version, story), version.url)
        table.add_row(*(Text(clean(cell)) for cell in cells))
    wide = Console(emoji=False, width=WIDEST, soft_wrap=True)
    wide.print(table)
    if (gallery := store.galleries.gallery(story.head.id)) is not None:
        wide.print(f"\n{told(gallery)}", markup=False, highlight=False)
        wide.print(_pictures(store, story.head.id))


def _pictures(store: Store, id: str) -> Table:
    """The pictures of a photo story: those shown in order, then those left out with the reason."""
    table = Table("", "size", "caption", "address", box=None)
    for picture in store.galleries.pictures(id, dropped=True):
        image, place = picture.image, picture.dropped or str(picture.place)
        size = f"{image.width}×{image.height}" if image.width and image.height else ""
        table.add_row(*(Text(clean(cell)) for cell in (place, f"{size} {image.format or ''}".strip(), image.caption or "", image.url)))
    return table


def _why(version: StoredArticle, story: Story) -> str:
    """Why a version stands in its story, in one word, and how surely; what editors did to it."""
    marks = [*(["hidden"] if version.hidden else []), *(["corrected"] if version.corrected else [])]
    return ", ".join([_reason(version, story), *marks])


def _reason(version: StoredArticle, story: Story) -> str:
    if version.id == story.head.id:
        return "original"
    return f"{version.fold_reason} {version.fold_score:.2f}" if version.fold_reason else "found first"


def _count(story: Story) -> str:
    spread = story.spread
    said = f"{story.count} versions on {spread.sites} sites"
    return said + (f", {spread.at_first} of them within six hours, the last after {spread.hours:.0f}" if spread.sites > 1 else "")
