"""``newsportal unpublish``: take articles back from where they were published."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from newsportal.commands.hints import counted
from newsportal.commands.publish import AsJson, Named, SourcesFile, article_named, fail, report, run, targets_of
from newsportal.errors import NewsportalError


def register(app: typer.Typer) -> None:
    app.command("unpublish")(unpublish)


def unpublish(
    article: Annotated[list[str], typer.Argument(metavar="ARTICLE...", help="Ids or addresses of articles.")],
    target: Named = None,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Take articles back, and keep them from being published again until somebody asks (newsportal publish again ARTICLE)."""
    with targets_of(sources, target) as (store, targets):
        now, number = datetime.now(UTC), 0
        ids = [article_named(store, name) for name in article]
        for settings, _ in targets:
            there = list(store.outbox.of(settings.name, ids))
            number += store.outbox.ask(settings.name, there, "gone", now=now)
        if not number:
            raise NewsportalError("none of them was published; see: newsportal publish status --state done")
        tallies = [run(store, settings, one, None, shown=not as_json) for settings, one in targets]
    if not as_json:
        typer.echo(f"{counted(number, 'article')} asked to go")
    report(tallies, as_json)
    fail(tallies)
