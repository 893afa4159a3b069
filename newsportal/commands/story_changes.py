"""``newsportal story correct``, ``withdraw``, ``hide``, ``reveal``: an editor's word against the page's, and what readers do not see."""

from __future__ import annotations

import getpass
import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from newsportal.accounts import open_accounts
from newsportal.commands.context import moment, open_record
from newsportal.commands.hints import counted
from newsportal.editing.drafts import Draft, correction, details, draft_of
from newsportal.errors import NewsportalError, StoreError
from newsportal.sources import Sources
from newsportal.store.results import StoredArticle, is_gallery, is_thread
from newsportal.store.store import Store

SourcesFile = Annotated[Path | None, typer.Option(help="The sources file; default: the nearest sources.yaml.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print what came of it as JSON.")]
Named = Annotated[str, typer.Argument(metavar="ARTICLE", help="The article's id, as in the portal's addresses.")]
Several = Annotated[list[str], typer.Argument(metavar="ARTICLE...", help="Ids of articles.")]
Whole = Annotated[bool, typer.Option("--whole", help="All versions of the story.")]

FILE: Final = "sqlite:///"

Log = Callable[[str, str, dict[str, Any]], None]


def register(group: typer.Typer) -> None:
    """Add the commands to the group ``story``."""
    for command in (correct, withdraw, hide, reveal):
        group.command()(command)


@contextmanager
def changing(sources: Path | None) -> Iterator[tuple[Store, Log]]:
    """The store, and what writes a change down in the portal's log, where there is a portal with accounts."""
    with open_record(sources) as (known, store):
        if not _has_accounts(known):
            yield store, lambda action, thing, told: None
            return
        with closing(open_accounts(known.accounts_uri)) as accounts:
            yield store, lambda action, thing, told: accounts.trail.add(None, action, thing, told, now=datetime.now(UTC))


def correct(
    article: Named,
    title: Annotated[str | None, typer.Option(help="The title that it is to have.")] = None,
    author: Annotated[str | None, typer.Option(help="Its author; empty: none.")] = None,
    published: Annotated[
        str | None, typer.Option(help="When it was published (2026-03-01T08:30+08:00); empty: its page tells none.")
    ] = None,
    text: Annotated[Path | None, typer.Option(help="A file with its text, a paragraph a line, as the portal shows it for editing.")] = None,
    as_json: AsJson = False,
    sources: SourcesFile = None,
) -> None:
    """Correct an article: what is said here stands whatever its page says later. Without options: print its text for editing."""
    with changing(sources) as (store, log):
        known = _article(store, article)
        draft = draft_of(known, body=not is_thread(known.source) and not is_gallery(known.source))
        if all(said is None for said in (title, author, published, text)):
            typer.echo(draft.lines or "")
            return
        wanted = Draft(
            title=draft.title if title is None else title,
            lines=None if text is None else text.read_text("utf-8"),
            published=draft.published if published is None else moment(published, "--published") if published else None,
            author=draft.author if author is None else author,
        )
        try:
            said = correction(known, wanted)
        except ValueError as mark:
            raise NewsportalError(f"the text has a part {mark} that is not in this article; newsportal story correct {article}") from mark
        number = store.correct(article, said, by=getpass.getuser(), now=datetime.now(UTC), seen=known.revision)
        if number != known.revision:
            log("article.correct", article, {"revision": number, **details(known, said)})
        _told(_article(store, article), as_json, f"revision {number}, corrected: {', '.join(said) or 'nothing'}")


def withdraw(article: Named, as_json: AsJson = False, sources: SourcesFile = None) -> None:
    """Take back all that editors corrected: the article says again what its page said last."""
    with changing(sources) as (store, log):
        known = _article(store, article)
        number = store.withdraw(article, now=datetime.now(UTC))
        if number != known.revision:
            log("article.withdraw", article, {"revision": number, "fields": list(known.corrected_fields)})
        _told(_article(store, article), as_json, f"revision {number}, as its page says")


def hide(
    article: Several,
    reason: Annotated[str, typer.Option(help="Why; editors see it.")] = "",
    whole: Whole = False,
    as_json: AsJson = False,
    sources: SourcesFile = None,
) -> None:
    """Hide articles from readers: lists, search, feeds and the places where they were published. They stay known and stored."""
    with changing(sources) as (store, log):
        hidden = store.hide(_meant(store, article, whole), by=getpass.getuser(), reason=reason, now=datetime.now(UTC))
        for id in hidden:
            log("article.hide", id, {"reason": reason})
    typer.echo(json.dumps({"hidden": hidden}) if as_json else f"{counted(len(hidden), 'article')} hidden")


def reveal(article: Several, whole: Whole = False, as_json: AsJson = False, sources: SourcesFile = None) -> None:
    """Show hidden articles again."""
    with changing(sources) as (store, log):
        shown = store.show(_meant(store, article, whole), now=datetime.now(UTC))
        for id in shown:
            log("article.show", id, {})
    typer.echo(json.dumps({"shown": shown}) if as_json else f"{counted(len(shown), 'article')} shown again")


def _article(store: Store, id: str) -> StoredArticle:
    found = store.article(id)
    if found is None:
        raise StoreError(f"no article {id!r}; ids stand in the portal's addresses (/story/ID/ARTICLE) and in `newsportal story show ID`")
    return found


def _meant(store: Store, ids: list[str], whole: bool) -> list[str]:
    articles = [_article(store, id) for id in ids]
    stories = [store.story(article.story_id, hidden=True) for article in articles] if whole else []
    return [version.id for story in stories if story is not None for version in story.versions] or ids


def _has_accounts(known: Sources) -> bool:
    """Whether somebody ever made accounts: a crawl without a portal has none, and gets none by this."""
    uri = known.accounts_uri
    return not uri.startswith(FILE) or Path(uri.removeprefix(FILE)).exists()


def _told(article: StoredArticle, as_json: bool, sentence: str) -> None:
    if not as_json:
        typer.echo(f"{article.id}: {sentence}")
        return
    published = article.published.isoformat() if article.published else None
    values = {"id": article.id, "revision": article.revision, "title": article.title, "author": article.author, "published": published}
    typer.echo(json.dumps({**values, "text": article.text, "corrected": list(article.corrected_fields)}, ensure_ascii=False))
