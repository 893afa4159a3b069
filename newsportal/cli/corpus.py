"""``newsportal corpus``: labelled texts for training a classifier."""

import getpass
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer

from newsportal.cli.options import AsJson, CorpusName, OutFile, SourcesFile, Yes, command_group, moment, open_record
from newsportal.cli.output import confirm_loss, pick, print_json, print_result, print_rows, progress, report_progress, write_json_lines
from newsportal.errors import CorpusError, StoreError
from newsportal.services.learning.files import FORMS, UTF8, check_encoding, is_empty, plain, read_file, read_stream
from newsportal.services.learning.gathering import MIN_CHARS, PER_LABEL, gather, label_document
from newsportal.store.labels import CATEGORIES, RANKS, Corpus, NewDocument
from newsportal.store.store import Store
from newsportal.text import clean

LEFT = {
    "earlier": "of stories already in the corpus",
    "repost": "that repeat an added story",
    "short": "that are too short",
    "disputed": "of stories with different categories by source",
    "dominant": "of sites with enough articles of their label",
    "plenty": "of labels with enough articles",
}  # ``gathering.Reason`` in words.


def import_(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The corpus; created if it does not exist.")],
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Files or folders; -: standard input.")],
    form: Annotated[str, typer.Option("--format", help=f"{', '.join(FORMS)}; auto: by file name.")] = "auto",
    encoding: Annotated[str, typer.Option(help="Encoding of the files, such as gb18030.")] = UTF8,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Add labelled texts from JSON lines {"text", "label"} (also "title", "id"), CSV, or a folder of LABEL/*.txt, none twice.

    A wrong line rejects its file.
    """
    if form not in FORMS:
        raise typer.BadParameter(f"{form!r} is none of {', '.join(FORMS)}", param_hint="--format")
    check_encoding(encoding)
    failures = 0
    with open_record(sources, create=True) as (_, store):
        for file in files:
            try:
                row = _import_file(store, name, file, form, encoding)
            except CorpusError as error:
                failures += 1
                typer.echo(str(error), err=True)
                continue
            if as_json:
                print_json(row)
            else:
                counts = {
                    "added": "added",
                    "relabelled": "given another label",
                    "same": "there already",
                    "outranked": "already there with a label of higher rank",
                    "repeated": "repeated in the file",
                    "contradicted": "repeated in the file with another label (the first is used)",
                    "empty": "empty",
                }
                parts = [f"{row[key]} {words}" for key, words in counts.items() if row[key] or key == "added"]
                typer.echo(f"{row['file']}: {', '.join(parts)}")
    if failures:
        raise typer.Exit(1)


def read_documents(file: str, form: str, encoding: str, opened: Callable[[Path], BinaryIO] | None = None) -> Iterator[NewDocument]:
    """Read the documents of a file, a folder or standard input (``-``), see :func:`read_file`. Raises ``CorpusError``."""
    if file == "-":
        return read_stream(sys.stdin.buffer, "csv" if form == "csv" else "jsonl", "standard input", encoding)
    return read_file(Path(file), form, encoding, opened)


def _import_file(store: Store, name: str, file: str, form: str, encoding: str) -> dict[str, Any]:
    empty = 0

    def filled(documents: Iterable[NewDocument]) -> Iterator[NewDocument]:
        nonlocal empty
        for document in documents:
            if is_empty(document):
                empty += 1
            else:
                yield document

    with progress() as bar:
        documents = read_documents(file, form, encoding, lambda path: bar.open(path, "rb", description=path.name))
        added = store.corpora.add(name, filled(documents), source="imported", by=Path(file).name, now=datetime.now(UTC))
    return {"corpus": name, "file": file, **asdict(added), "empty": empty}


def from_store(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The corpus; created if it does not exist.")] = CATEGORIES,
    min_chars: Annotated[int, typer.Option("--min-chars", min=1, help="Minimum length of a text in characters.")] = MIN_CHARS,
    per_label: Annotated[int, typer.Option("--per-label", min=1, help="Maximum number of documents per label.")] = PER_LABEL,
    since: Annotated[str | None, typer.Option(help="Only since this date or time: 2026-03-01, 2026-03-01T08:30+08:00.")] = None,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Add stored articles under the category of their source or by editors, a story once, at most half of a label from one site."""
    with open_record(sources) as (config, store), report_progress() as report:
        found = gather(config, store, name, min_chars=min_chars, per_label=per_label, since=moment(since), progress=report)
    if as_json:
        counts = {"added": found.added, "by_editors": found.by_editors}
        print_json({"corpus": name, **counts, "left": dict(found.choice.left), "from_one_site": list(found.choice.single_site)})
        return
    typer.echo(f"{name}: {found.added} articles added" + (f", {found.by_editors} labels by editors" if found.by_editors else ""))
    for reason, count in found.choice.left.items():
        if count:
            typer.echo(f"  left: {count} {LEFT[reason]}")
    if found.choice.single_site:
        names = ", ".join(found.choice.single_site)
        typer.echo(f"so far only one site has articles of {names}: the model may learn the site instead; add another source", err=True)


def label(
    id: Annotated[str, typer.Argument(metavar="ID", help="Id of a stored article or of a document of the corpus.")],
    label: Annotated[str | None, typer.Argument(metavar="[LABEL]", help="Its label.")] = None,
    corpus: Annotated[str, typer.Option(help="The corpus; created if it does not exist.")] = CATEGORIES,
    by: Annotated[str | None, typer.Option(help="Name of the editor; default: the current user of this machine.")] = None,
    leave_out: Annotated[bool, typer.Option("--leave-out", help="Remove the label; never train on it.")] = False,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Correct a label, or give a stored article one; the former is kept. In the corpus categories it is also the article's category."""
    if (label is None) != leave_out:
        raise typer.BadParameter("give either a label or --leave-out", param_hint="LABEL")
    with open_record(sources) as (_, store):
        with suppress(OSError, KeyError, ImportError):
            by = by or getpass.getuser()
        found = label_document(store, corpus, id, label, by=by or None, now=datetime.now(UTC))
        history = store.corpora.history(corpus, id)
    former = f" (before: {history[-2].label or 'left out'})" if len(history) > 1 else ""
    row = {"corpus": corpus, "id": id, "title": found.title, "labels": [asdict(entry) for entry in history]}
    print_result(row, clean(f"{found.title or found.text[:40]}: {found.label.label or 'left out'}{former}"), as_json)


SHOWN = 20  # default number of documents shown per label
EXCERPT = 60  # characters of a document shown in a line


def list_(sources: SourcesFile = None, as_json: AsJson = False) -> None:
    """List the corpora: documents, labels, versions, the active one."""
    with open_record(sources) as (_, store):
        corpora = store.corpora.all()
    rows = [{"corpus": row.pop("name"), **row} for row in map(asdict, corpora)]
    none = "no corpus yet; create one with `newsportal corpus from-store` or `newsportal corpus import`"
    print_rows(rows, ("corpus", "documents", "labels", "versions", "active_version", "created", "note"), as_json, none)


def show(
    name: CorpusName,
    label: Annotated[str | None, typer.Option(help="List only documents with this label.")] = None,
    limit: Annotated[int | None, typer.Option(min=0, help="Number of documents to list; default: none, 20 with --label.")] = None,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Show a corpus: documents of each label, sources of labels; with --label or --limit the documents."""
    most = limit if limit is not None else 0 if label is None else SHOWN
    with open_record(sources) as (_, store):
        corpus_named(store, name)
        counts = [
            pick(entry, "label", "documents") | {source: entry.sources.get(source, 0) for source in RANKS} | pick(entry, "oldest", "newest")
            for entry in store.corpora.count(name)
            if label in (None, entry.label)
        ]
        documents = [plain(document, EXCERPT) for document in islice(store.corpora.documents(name, label=label), most)]
    if label is not None and not counts:
        raise StoreError(f"no document of {name!r} has the label {label!r}; `newsportal corpus show {name}` lists those there are")
    if as_json:
        print_json(*(documents or counts))
        return
    print_rows(counts, ("label", "documents", *RANKS, "oldest", "newest"), False)
    if documents:
        typer.echo()
        print_rows(documents, ("id", "label", "source", "by", "title", "text"), False)


def corpus_named(store: Store, name: str) -> Corpus:
    """Return the corpus. Raises ``StoreError`` with the existing ones."""
    store.corpora.count(name)
    corpus = store.corpora.find(name)
    assert corpus is not None
    return corpus


def export(name: CorpusName, out: OutFile = None, sources: SourcesFile = None) -> None:
    """Write a corpus for `corpus import` and `train`: {"id", "title", "text", "label", "source", "by", "at"} a line."""
    with open_record(sources) as (_, store):
        corpus_named(store, name)
        write_json_lines(map(plain, store.corpora.documents(name)), out)


def delete(name: CorpusName, yes: Yes = False, sources: SourcesFile = None) -> None:
    """Delete a corpus with its labels and models. Stored articles stay."""
    with open_record(sources) as (_, store):
        corpus = corpus_named(store, name)
        confirm_loss(f"Delete {name!r}: {corpus.documents} labelled documents and {corpus.versions} versions of its model?", yes)
        store.corpora.delete(name)
    typer.echo(f"{name}: deleted")


group = command_group("Labelled texts for training classifiers.", import_, from_store, label, list_, show, export, delete)
