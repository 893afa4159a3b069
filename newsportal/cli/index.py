"""``newsportal index``: how the search index stands, and building it anew."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from newsportal.cli.context import open_all
from newsportal.cli.hints import counted
from newsportal.cli.options import SourcesFile, command_group
from newsportal.cli.output import count_bar, print_json
from newsportal.search.base import Index
from newsportal.store.store import Store

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object.")]


def index(context: typer.Context, sources: SourcesFile = None, as_json: AsJson = False) -> None:
    """Tell how the search index stands."""
    if context.invoked_subcommand is None:
        status(sources, as_json)


def status(sources: SourcesFile = None, as_json: AsJson = False) -> None:
    """Show the index: articles, size, how far it is behind the store."""
    with open_all(sources) as (_, store, opened):
        print_status(opened, store, as_json=as_json)


def rebuild(sources: SourcesFile = None, as_json: AsJson = False) -> None:
    """Build the index anew from the store. Searches go on."""
    with open_all(sources) as (_, store, opened):
        total = store.tally().articles
        with count_bar(quiet=as_json) as update:
            opened.rebuild(store, lambda done: update("articles", done, max(done, total)))
        print_status(opened, store, as_json=as_json)


def print_status(index: Index, store: Store, *, as_json: bool) -> None:
    found = index.status()
    behind = max(0, store.last_seq() - found.position)
    if as_json:
        print_json({**asdict(found), "behind": behind})
        return
    size = "" if found.bytes is None else f", {found.bytes / 2**20:.1f} MiB"
    late = f"{counted(behind, 'change')} behind the store" if behind else "up to date"
    Console(emoji=False, highlight=False, soft_wrap=True).print(Text(f"{found.says}: {counted(found.articles, 'article')}{size}, {late}"))


group = command_group("Look at the search index, or build it anew.", status, rebuild, default=index)
