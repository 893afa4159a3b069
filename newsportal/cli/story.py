"""``newsportal story``: show which articles were folded into a story and why; fold, unfold, correct and hide articles."""

import getpass
import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from newsportal.cli.hints import counted
from newsportal.cli.options import SourcesFile, command_group, moment, open_record
from newsportal.cli.output import WIDEST, make_table, pick, print_json, print_result
from newsportal.cli.pictures import figures, summary
from newsportal.errors import NewsportalError, StoreError
from newsportal.messages import format_time
from newsportal.services.accounts import open_accounts
from newsportal.services.editing.drafts import Draft, Editor, correction, draft_of
from newsportal.services.events.editing import Log, no_log
from newsportal.store.dialect_sqlite import sqlite_file
from newsportal.store.results import StoredArticle, Story
from newsportal.store.store import Store
from newsportal.text import clean

AsJson = Annotated[bool, typer.Option("--json", help="Print the story as JSON.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="Id of a story or article.")]


def show(id: Id, as_json: AsJson = False, sources: SourcesFile = None) -> None:
    """Show a story: every version with site, time, address, what it repeats and why."""
    with open_record(sources) as (_, store):
        _print(story_of(store, id), as_json, store)


def fold(
    article: Annotated[str, typer.Argument(metavar="ARTICLE", help="Its id.")],
    story: Annotated[str, typer.Argument(metavar="STORY", help="Id of a story or article.")],
    as_json: AsJson = False,
    sources: SourcesFile = None,
) -> None:
    """Move an article, and later reposts of its text, into another story."""
    with open_for_editing(sources) as editor:
        moved = editor.fold(article, story_of(editor.store, story).id)
        _print(story_of(editor.store, moved.story), as_json, editor.store)


def unfold(
    article: Annotated[str, typer.Argument(metavar="ARTICLE", help="Its id.")], as_json: AsJson = False, sources: SourcesFile = None
) -> None:
    """Take an article out of its story into one of its own. Undo it with fold."""
    with open_for_editing(sources) as editor:
        _print(story_of(editor.store, editor.unfold(article).story), as_json, editor.store)


def story_of(store: Store, id: str) -> Story:
    """Return the story with that id, or the one with the article of that id. Raises ``StoreError``."""
    found = store.story(id, hidden=True)
    if found is None and (article := store.article(id)):
        found = store.story(article.story_id, hidden=True)
    if found is None:
        raise StoreError(f"no story or article {id!r}; ids are in the portal's URLs (/story/ID) and in `newsportal search --json`")
    return found


def plain(story: Story) -> dict[str, Any]:
    spread = story.spread
    versions = [
        {**pick(version, "id", "url", "title"), "site": version.publisher}
        | pick(version, "moment", "fold_of", "fold_reason", "fold_score", "hidden")
        | {"corrected": list(version.corrected_fields)}
        for version in story.versions
    ]
    heat = pick(spread, "sites", "at_first") | {"hours": round(spread.hours, 2), "per_hour": spread.per_hour, "steps": list(spread.steps)}
    return {"id": story.id, "original": story.head.id, "heat": story.heat, "spread": heat, "versions": versions}


def gallery_values(store: Store, version: StoredArticle) -> dict[str, Any] | None:
    """Return pages and images of a version that is a photo story, as JSON values; excluded ones with the reason."""
    gallery = store.galleries.gallery(version.id)
    if gallery is None:
        return None
    images = [
        {"place": picture.place, **{key: value for key, value in asdict(picture.image).items() if value}}
        for picture in store.galleries.pictures(version.id, dropped=True)
    ]
    return figures(gallery) | {"images": images}


def _print(story: Story, as_json: bool, store: Store) -> None:
    if as_json:
        values = plain(story)
        for version, row in zip(story.versions, values["versions"], strict=True):
            row |= {"photos": photos} if (photos := gallery_values(store, version)) else {}
        print_json(values)
        return
    console = Console(emoji=False, soft_wrap=True)
    spread = story.spread
    speed = f", {spread.at_first} of them within six hours, the last after {spread.hours:.0f}" if spread.sites > 1 else ""
    counts = f"{story.count} versions on {spread.sites} sites{speed}"
    console.print(f"{clean(story.head.title)}\n{story.id}, {counts}", markup=False, highlight=False)
    rows = []
    for item in story.versions:  # why it is in this story, with which score, and edits of it
        reason = f"{item.fold_reason} {item.fold_score:.2f}" if item.fold_reason else "found first"
        marks = ["original" if item.id == story.head.id else reason, "hidden" if item.hidden else "", "corrected" if item.corrected else ""]
        rows.append((item.id, item.publisher, format_time(item.moment), ", ".join(filter(None, marks)), item.url))
    wide = Console(emoji=False, width=WIDEST, soft_wrap=True)
    wide.print(make_table(("article", "site", "time", "why", "address"), rows))
    if (gallery := store.galleries.gallery(story.head.id)) is not None:
        wide.print(f"\n{summary(gallery)}", markup=False, highlight=False)
        pictures = []  # the visible ones in order, then the excluded ones with the reason
        for picture in store.galleries.pictures(story.head.id, dropped=True):
            image = picture.image
            size = f"{image.width}×{image.height}" if image.width and image.height else ""
            label = picture.hidden_reason or picture.place
            pictures.append((label, f"{size} {image.format or ''}".strip(), image.caption or "", image.url))
        wide.print(make_table(("", "size", "caption", "address"), pictures))


ChangeAsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Named = Annotated[str, typer.Argument(metavar="ARTICLE", help="Its id.")]
Several = Annotated[list[str], typer.Argument(metavar="ARTICLE...", help="Their ids.")]
Whole = Annotated[bool, typer.Option("--whole", help="All versions of the story.")]


@contextmanager
def open_for_change(sources: Path | None) -> Iterator[tuple[Store, Log]]:
    """Open the store, and a function that logs changes in the portal's log if the portal has accounts."""
    with open_record(sources) as (config, store):
        file = sqlite_file(config.accounts_uri)
        if file is not None and not file.exists():  # no accounts exist
            yield store, no_log
            return
        with closing(open_accounts(config.accounts_uri)) as accounts:
            yield store, lambda action, subject, details: accounts.audit_log.add(None, action, subject, details, now=datetime.now(UTC))


@contextmanager
def open_for_editing(sources: Path | None) -> Iterator[Editor]:
    with open_for_change(sources) as (store, log):
        yield Editor(store, getpass.getuser(), datetime.now(UTC), log)


def correct(
    article: Named,
    title: Annotated[str | None, typer.Option(help="Its title.")] = None,
    author: Annotated[str | None, typer.Option(help="Its author; empty: none.")] = None,
    published: Annotated[str | None, typer.Option(help="2026-03-01T08:30+08:00; empty: unknown.")] = None,
    text: Annotated[Path | None, typer.Option(help="A file with one paragraph per line.")] = None,
    as_json: ChangeAsJson = False,
    sources: SourcesFile = None,
) -> None:
    """Correct an article, whatever its page says later. Without options: print its text."""
    with open_for_editing(sources) as editor:
        store = editor.store
        stored = _article(store, article)
        draft = draft_of(stored)
        if all(value is None for value in (title, author, published, text)):
            typer.echo(draft.lines or "")
            return
        edited = Draft(
            title=draft.title if title is None else title,
            lines=None if text is None else text.read_text("utf-8"),
            published=draft.published if published is None else moment(published, "--published") if published else None,
            author=draft.author if author is None else author,
        )
        try:
            changes = correction(stored, edited)
        except ValueError as error:
            raise NewsportalError(f"the text has a part {error} that is not in this article; newsportal story correct {article}") from error
        number = editor.correct(stored, changes)
        _print_article(_article(store, article), as_json, f"revision {number}, corrected: {', '.join(changes) or 'nothing'}")


def withdraw(article: Named, as_json: ChangeAsJson = False, sources: SourcesFile = None) -> None:
    """Withdraw all corrections of an article."""
    with open_for_editing(sources) as editor:
        number = editor.withdraw(_article(editor.store, article))
        _print_article(_article(editor.store, article), as_json, f"revision {number}, as published")


def hide(
    article: Several,
    reason: Annotated[str, typer.Option(help="Why; editors see it.")] = "",
    whole: Whole = False,
    as_json: ChangeAsJson = False,
    sources: SourcesFile = None,
) -> None:
    """Hide articles from readers and destinations. They stay stored."""
    with open_for_editing(sources) as editor:
        hidden = editor.hide(_article_ids(editor.store, article, whole), reason)
    typer.echo(json.dumps({"hidden": hidden}) if as_json else f"{counted(len(hidden), 'article')} hidden")


def reveal(article: Several, whole: Whole = False, as_json: ChangeAsJson = False, sources: SourcesFile = None) -> None:
    """Show hidden articles again."""
    with open_for_editing(sources) as editor:
        revealed = editor.show(_article_ids(editor.store, article, whole))
    typer.echo(json.dumps({"shown": revealed}) if as_json else f"{counted(len(revealed), 'article')} shown again")


def _article(store: Store, id: str) -> StoredArticle:
    found = store.article(id)
    if found is None:
        raise StoreError(f"no article {id!r}; ids are in the portal's URLs (/story/ID/ARTICLE) and in `newsportal story show ID`")
    return found


def _article_ids(store: Store, ids: list[str], whole: bool) -> list[str]:
    articles = [_article(store, id) for id in ids]
    stories = [store.story(article.story_id, hidden=True) for article in articles] if whole else []
    return [version.id for story in stories if story is not None for version in story.versions] or ids


def _print_article(article: StoredArticle, as_json: bool, sentence: str) -> None:
    row = pick(article, "id", "revision", "title", "author", "published", "text") | {"corrected": list(article.corrected_fields)}
    print_result(row, f"{article.id}: {sentence}", as_json)


group = command_group("Show a story and its versions; move versions to other stories.", show, fold, unfold, correct, withdraw, hide, reveal)
