"""``newsportal corpus import|from-store|label``: what brings documents and labels into a corpus."""

from __future__ import annotations

import getpass
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress

from newsportal.commands.context import moment
from newsportal.commands.corpus.choosing import LEAST_CHARS, PER_LABEL, Candidate, Choice, choose
from newsportal.commands.corpus.common import AsJson, SourcesFile, opened, print_json, progress, told
from newsportal.commands.corpus.files import FORMS, UTF8, check_encoding, is_empty, read_file, read_stream
from newsportal.errors import CorpusError
from newsportal.sources import Sources
from newsportal.storage.base import Store, StoredArticle
from newsportal.storage.corpora import CATEGORIES, Brought, LabelSource, NewDocument
from newsportal.storage.editors import EDITOR
from newsportal.text import clean

LEFT = {
    "earlier": "of stories that are in the corpus",
    "repost": "that repeat a story which was taken",
    "short": "that are too short",
    "disputed": "of stories to which sources give different categories",
    "dominant": "of sites that give enough of their label",
    "plenty": "of labels that have enough",
}
"""``choosing.Reason`` in words."""


def register(group: typer.Typer) -> None:
    """Add the commands to ``newsportal corpus``."""
    group.command("import")(import_)
    group.command("from-store")(from_store)
    group.command("label")(label)


def import_(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The corpus; it is made if there is none of this name.")],
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Files or folders; - for standard input.")],
    form: Annotated[str, typer.Option("--format", help=f"One of: {', '.join(FORMS)}; auto goes by the name.")] = "auto",
    encoding: Annotated[str, typer.Option(help="Of the files, such as gb18030.")] = UTF8,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Bring labelled texts from files: JSON lines {"text", "label"} (also "title", "id"), CSV, or a folder of LABEL/*.txt.

    Each file is taken as a whole or, if a line of it is wrong, not at all. What is there already is not taken twice.
    """
    if form not in FORMS:
        raise typer.BadParameter(f"{form!r} is none of {', '.join(FORMS)}", param_hint="--format")
    check_encoding(encoding)
    wrong = 0
    with opened(sources, create=True) as (_, store):
        for file in files:
            try:
                row = _imported(store, name, file, form, encoding)
            except CorpusError as error:
                wrong += 1
                told(str(error))
                continue
            if as_json:
                print_json(row)
            else:
                typer.echo(_sentence(row))
    if wrong:
        raise typer.Exit(1)


def _imported(store: Store, name: str, file: str, form: str, encoding: str) -> dict[str, Any]:
    empty: Counter[str] = Counter()
    with progress() as bar:
        documents = _documents(file, form, encoding, bar)
        by = "-" if file == "-" else Path(file).name
        brought = store.corpora.add(name, _filled(documents, empty), source="imported", by=by, now=datetime.now(UTC))
    return {"corpus": name, "file": file, **asdict(brought), "empty": empty["empty"]}


def _documents(file: str, form: str, encoding: str, bar: Progress) -> Iterator[NewDocument]:
    if file == "-":
        return read_stream(sys.stdin.buffer, "csv" if form == "csv" else "jsonl", "standard input", encoding)
    return read_file(Path(file), form, encoding, lambda path: bar.open(path, "rb", description=path.name))


def _filled(documents: Iterable[NewDocument], empty: Counter[str]) -> Iterator[NewDocument]:
    """Documents that have a text; the others are counted."""
    for document in documents:
        if is_empty(document):
            empty["empty"] += 1
        else:
            yield document


def _sentence(row: Mapping[str, Any]) -> str:
    counts = {
        "added": "added",
        "relabelled": "given another label",
        "same": "there already",
        "kept": "there already under a label that stays",
        "repeated": "repeated in the file",
        "contradicted": "repeated in the file under another label (the first one counts)",
        "empty": "empty",
    }
    parts = [f"{row[key]} {words}" for key, words in counts.items() if row[key] or key == "added"]
    return f"{row['file']}: {', '.join(parts)}"


def from_store(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The corpus; it is made if there is none of this name.")] = CATEGORIES,
    least: Annotated[int, typer.Option("--min-chars", min=1, help="Leave out shorter texts.")] = LEAST_CHARS,
    most: Annotated[int, typer.Option("--per-label", min=1, help="Documents of a label at most.")] = PER_LABEL,
    since: Annotated[str | None, typer.Option(help="Only from this date or time on (2026-03-01, 2026-03-01T08:30+08:00).")] = None,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Let stored articles label themselves: those from feeds and regions whose category sources.yaml tells, and those an editor corrected.

    A story counts once, and no site gives more than half of a label once others give some. Run it again for what is new.
    """
    start = moment(since)
    with opened(sources) as (known, store):
        found = gather(known, store, name, least=least, most=most, since=start)
    if as_json:
        counts = {"added": found.added, "by_editors": found.by_editors}
        print_json({"corpus": name, **counts, "left": dict(found.choice.left), "from_one_site": list(found.choice.alone)})
        return
    typer.echo(f"{name}: {found.added} articles added" + (f", {found.by_editors} labels by editors" if found.by_editors else ""))
    for reason, count in found.choice.left.items():
        if count:
            typer.echo(f"  left: {count} {LEFT[reason]}")
    if found.choice.alone:
        told(
            f"so far only one site gives {', '.join(found.choice.alone)}: the model may learn the site for the subject; add another source"
        )


@dataclass(frozen=True, slots=True)
class Gathered:
    """What stored articles brought to a corpus: articles that label themselves, and labels that editors gave."""

    added: int
    by_editors: int
    choice: Choice


def gather(
    known: Sources, store: Store, name: str, *, least: int = LEAST_CHARS, most: int = PER_LABEL, since: datetime | None = None
) -> Gathered:
    """Let stored articles join corpus ``name``, which is made when there are any. What a classifier chose teaches nothing."""
    labels = categories(known)
    there = store.corpora.articles(name) if store.corpora.find(name) else {}
    stories, counts = set[str](), defaultdict[str, Counter[str]](Counter)
    candidates, corrected = [], []
    for article in _watched(store):
        label = there.get(article.id)
        if article.category_by == EDITOR and article.category and (label or article.id not in there):  # not what an editor left out
            corrected.append(NewDocument(article.category, article_id=article.id))
            label = article.category
        if label or article.id in there:
            stories.add(article.story_id)
        elif article.source in labels and article.category_by != EDITOR and (since is None or article.moment >= since):
            candidates.append(_candidate(article, labels[article.source]))
        if label:
            counts[label][article.publisher] += 1
    said = _join(store, name, corrected, "editor")
    choice = choose(candidates, frozenset(stories), counts, least_chars=least, per_label=most)
    brought = _join(store, name, [NewDocument(one.label, article_id=one.id) for one in choice.chosen], "from-store")
    return Gathered(brought.added, said.added + said.relabelled, choice)


def _join(store: Store, name: str, documents: Sequence[NewDocument], source: LabelSource) -> Brought:
    if not documents:
        return Brought()
    store.corpora.create(name, now=datetime.now(UTC), note="from stored articles")
    return store.corpora.add(name, documents, source=source, now=datetime.now(UTC))


def _watched(store: Store) -> Iterator[StoredArticle]:
    with progress() as bar:
        task = bar.add_task("looking at articles", total=store.tally().articles)
        for article in store.all_articles():
            yield article
            bar.advance(task)


def categories(known: Sources) -> dict[str, str]:
    """The sources whose articles label themselves: their key → their category. Not where the classifier chooses."""
    return {
        place.key: place.category
        for place in (*known.feeds, *known.sitemaps, *known.regions)
        if place.category and not getattr(place, "auto_classify", False)
    }


def _candidate(article: StoredArticle, label: str) -> Candidate:
    return Candidate(article.id, article.story_id, label, article.publisher, article.moment, len(article.text), article.fold_of is None)


def label(
    id: Annotated[str, typer.Argument(metavar="ID", help="A stored article, or a document of the corpus.")],
    label: Annotated[str | None, typer.Argument(metavar="[LABEL]", help="What it is; it stands whatever sources and models say.")] = None,
    corpus: Annotated[str, typer.Option(help="The corpus; it is made if there is none of this name.")] = CATEGORIES,
    by: Annotated[str | None, typer.Option(help="Who says so; default: the user of this machine.")] = None,
    leave_out: Annotated[bool, typer.Option("--leave-out", help="It has no label: leave it out of training for ever.")] = False,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Correct a label, or give a stored article one. The former label is kept.

    In the corpus categories it is also the article's category from now on, whatever a model says.
    """
    if (label is None) != leave_out:
        raise typer.BadParameter("say either a label or --leave-out", param_hint="LABEL")
    with opened(sources) as (_, store):
        found = store.corpora.label(corpus, id, label, by=by or _user(), now=datetime.now(UTC))
        if corpus == CATEGORIES and found.article_id and label is not None:
            store.set_category(found.article_id, found.label.label, by=EDITOR, now=datetime.now(UTC))
        history = store.corpora.history(corpus, id)
    if as_json:
        print_json({"corpus": corpus, "id": id, "title": found.title, "labels": [asdict(one) for one in history]})
        return
    former = f" (before: {history[-2].label or 'left out'})" if len(history) > 1 else ""
    typer.echo(clean(f"{found.title or found.text[:40]}: {found.label.label or 'left out'}{former}"))


def _user() -> str | None:
    with suppress(OSError, KeyError, ImportError):
        return getpass.getuser()
    return None
