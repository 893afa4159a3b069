"""``newsportal corpus list|show|export|delete``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from newsportal.commands import jsonl
from newsportal.commands.corpus.common import AsJson, Name, SourcesFile, asked, opened, print_json, print_rows
from newsportal.errors import StoreError
from newsportal.learning.documents import plain
from newsportal.store.labels import RANKS, Corpus, Counted
from newsportal.store.store import Store

SHOWN = 20
"""Documents of a label that are shown, if not said."""

EXCERPT = 60
"""Characters of a document that a line shows."""


def register(group: typer.Typer) -> None:
    """Add the commands to ``newsportal corpus``."""
    group.command("list")(list_)
    group.command("show")(show)
    group.command("export")(export)
    group.command("delete")(delete)


def list_(sources: SourcesFile = None, as_json: AsJson = False) -> None:
    """List the corpora: how many documents and labels, how many versions of a model, and which of them is active (in use)."""
    with opened(sources) as (_, store):
        corpora = store.corpora.all()
    rows = [{"corpus": one.name, **asdict(one)} for one in corpora]
    for row in rows:
        del row["name"]
    if not rows and not as_json:
        typer.echo("no corpus yet; `newsportal corpus from-store` makes one of stored articles, `newsportal corpus import` of files")
        return
    print_rows(rows, ("corpus", "documents", "labels", "versions", "active", "created", "note"), as_json)


def show(
    name: Name,
    label: Annotated[str | None, typer.Option(help="Show documents of this label.")] = None,
    limit: Annotated[int | None, typer.Option(min=0, help="Documents to show; default: none, with --label 20.")] = None,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Show a corpus: documents of each label, whence their labels are and how old; with --label or --limit the documents too."""
    most = limit if limit is not None else 0 if label is None else SHOWN
    with opened(sources) as (_, store):
        found(store, name)
        counts = [_count_of(one) for one in store.corpora.count(name) if label in (None, one.label)]
        documents = [plain(one, EXCERPT) for one in islice(store.corpora.documents(name, label=label), most)]
    if label is not None and not counts:
        raise StoreError(f"no document of {name!r} has the label {label!r}; `newsportal corpus show {name}` lists those there are")
    if as_json:
        for row in documents or counts:
            print_json(row)
        return
    print_rows(counts, ("label", "documents", *RANKS, "oldest", "newest"), False)
    if documents:
        typer.echo()
        print_rows(documents, ("id", "label", "source", "by", "title", "text"), False)


def _count_of(one: Counted) -> dict[str, Any]:
    sources: dict[str, int] = {source: one.sources.get(source, 0) for source in RANKS}
    return {"label": one.label, "documents": one.documents, **sources, "oldest": one.oldest, "newest": one.newest}


def found(store: Store, name: str) -> Corpus:
    """The corpus. Raises ``StoreError`` that lists those there are."""
    store.corpora.count(name)
    corpus = store.corpora.find(name)
    assert corpus is not None
    return corpus


def export(
    name: Name,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Where to write the JSON lines; standard output by default.")] = None,
    sources: SourcesFile = None,
) -> None:
    """Write a corpus as JSON lines that `corpus import` and `train` read: {"id", "title", "text", "label", "source", "by", "at"}."""
    with opened(sources) as (_, store):
        found(store, name)
        jsonl.write(_rows(store, name), out)


def _rows(store: Store, name: str) -> Iterator[dict[str, Any]]:
    for document in store.corpora.documents(name):
        row = plain(document)
        yield {key: value.isoformat() if isinstance(value, datetime) else value for key, value in row.items()}


def delete(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    sources: SourcesFile = None,
) -> None:
    """Delete a corpus with its labels and all versions of its model. Stored articles stay."""
    with opened(sources) as (_, store):
        corpus = found(store, name)
        asked(f"Delete {name!r}: {corpus.documents} labelled documents and {corpus.versions} versions of its model?", yes)
        store.corpora.delete(name)
    typer.echo(f"{name}: deleted")
