"""``newsportal import``: articles from files into the store: in batches, each article once, folded as a crawl folds it."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from io import TextIOWrapper
from itertools import groupby
from pathlib import Path
from typing import IO, Annotated, Any, Final

import typer

from newsportal.cli.exchange import cells, parquet, warc
from newsportal.cli.exchange.form import Incoming, incoming
from newsportal.cli.export import Format
from newsportal.cli.options import SourcesFile, load
from newsportal.cli.output import count_items, print_json
from newsportal.dedup.judge import fold_keys
from newsportal.errors import NewsportalError, ReplayError, StoreError, StoreUnavailable
from newsportal.items import Article, FoldKey, Thread, content_id
from newsportal.sources import use_own_words
from newsportal.store import open_store
from newsportal.store.columns import storable
from newsportal.store.dialects import chunks
from newsportal.store.store import Store
from newsportal.text import clean

BATCH: Final = 200  # rows that are looked at together, and written in one transaction where that can be


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a file: what it says, or in a ``ValueError`` why it says nothing. ``line`` counts from 1."""

    file: str
    line: int
    value: Any


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a row. ``stored``, ``folded``, ``revised``, ``same`` as ``Store.add`` says, ``grown`` of a thread or photo story,
    ``older``: the store has a later state of it; or ``failed``, with the ``error``."""

    row: Row
    outcome: str
    id: str | None = None
    error: str | None = None


def bring(rows: Iterable[Row], store: Store, now: datetime) -> Iterator[Fate]:
    """Store the rows in their order. Raises ``StoreUnavailable``: the store is away, and what was told so far is stored."""
    for batch in chunks(rows, BATCH):
        found: list[tuple[Row, Incoming | Fate]] = []
        for row in batch:
            error = row.value if isinstance(row.value, ValueError) else None
            try:
                one = incoming(row.value, now) if error is None else Fate(row, "failed", error=str(error))
            except ValueError as wrong:
                one = Fate(row, "failed", error=str(wrong))
            found.append((row, one))
        read = list(_newest(found))
        items = [one for _, one in read if isinstance(one, Incoming)]
        fetched = {one.item.identity: one.item.fetched for one in items if isinstance(one.item, Article) and one.item.identity}
        there = store.articles([content_id(storable(name)) for name in store.find_stored(list(fetched))])
        later = {one.identity for one in there if one.identity in fetched and one.fetched > fetched[one.identity]}
        for plain, group in groupby(read, key=lambda pair: _when(pair[1], later)):
            yield from _written(list(group), plain, store)


def _newest(read: Iterable[tuple[Row, Incoming | Fate]]) -> Iterator[tuple[Row, Incoming | Fate]]:
    """The same rows; a state of an article is ``older`` that stands behind a later one, which the store does not have yet."""
    newest: dict[str, datetime] = {}
    for row, one in read:
        if isinstance(one, Fate) or not isinstance(one.item, Article):
            yield row, one
            continue
        name = storable(one.item.identity or "")
        if name in newest and one.item.fetched < newest[name]:
            yield row, Fate(row, "older", content_id(name))
        else:
            newest[name] = one.item.fetched
            yield row, one


def _when(one: Incoming | Fate, later: set[str]) -> datetime | str | int:
    """Articles that were first seen at one moment are written together; all else by itself."""
    if isinstance(one, Fate):
        return "failed"
    if isinstance(one.item, Article):
        return "older" if storable(one.item.identity or "") in later else one.first_seen
    return id(one)


def _written(pairs: Sequence[tuple[Row, Incoming | Fate]], when: datetime | str | int, store: Store) -> Iterator[Fate]:
    if isinstance(when, datetime):
        articles = [(row, one.item) for row, one in pairs if isinstance(one, Incoming) and isinstance(one.item, Article)]
        yield from _articles(articles, store, when)
        return
    for row, one in pairs:
        if isinstance(one, Fate):
            yield one
        elif isinstance(one.item, Article):
            yield Fate(row, "older", content_id(storable(one.item.identity or "")))
        else:
            try:
                item, now = one.item, one.first_seen
                saved = store.threads.save(item, now=now) if isinstance(item, Thread) else store.galleries.save(item, now=now)
                yield Fate(row, saved.outcome, saved.id)
            except StoreUnavailable:
                raise
            except StoreError as error:
                yield Fate(row, "failed", error=str(error))


def _articles(pairs: Sequence[tuple[Row, Article]], store: Store, now: datetime) -> Iterator[Fate]:
    """All in one transaction; if one of them cannot be stored, each by itself."""
    ready: list[tuple[Article, Sequence[FoldKey]]] = [(article, fold_keys(article.title, article.text)) for _, article in pairs]
    try:
        added = store.add_all(ready, now=now)
    except StoreUnavailable:
        raise
    except StoreError as error:
        if len(pairs) == 1:
            yield Fate(pairs[0][0], "failed", error=str(error))
            return
        for pair in pairs:
            yield from _articles([pair], store, now)
        return
    for (row, _), one in zip(pairs, added, strict=True):
        yield Fate(row, one.outcome, one.id)


ENDINGS: Final = {
    ".jsonl": Format.jsonl,
    ".ndjson": Format.jsonl,
    ".json": Format.jsonl,
    ".csv": Format.csv,
    ".parquet": Format.parquet,
    ".warc": Format.warc,
    ".warc.gz": Format.warc,
}
"""How a file's name ends, and of what form it is then."""

LONGEST: Final = 64 * 1024 * 1024  # bytes of the longest line: an article has at most 16 MB of text
SHOWN: Final = 20  # rows that were no articles and are told one by one; --json tells all


def bring_in(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="What export wrote, or others in that form; - is standard input.")],
    format: Annotated[Format | None, typer.Option(help="Their form; default: what their names say.")] = None,
    store: Annotated[str | None, typer.Option(help="Another store than that of sources.yaml.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="A line of JSON for each row, and one of all.")] = False,
    sources: SourcesFile = None,
) -> None:
    """Store articles from files: JSON lines, CSV, Parquet or WARC. What is there already is not stored twice; reposts are folded.

    A row that is no article is told with its line, and the rest goes on. Exit status 1 if a file cannot be read.
    """
    known = load(sources)
    use_own_words(known)
    forms = []
    for file in files:
        form = format or next((form for ending, form in ENDINGS.items() if file.lower().endswith(ending)), None)
        if form is None:
            raise typer.BadParameter(f"{file}: of what form? its name does not say; use --format", param_hint="--format")
        forms.append((file, form))
    broken: list[str] = []
    counts: Counter[str] = Counter()
    with closing(open_store(store or known.store)) as opened:
        for fate in count_items(bring(_rows(forms, broken), opened, datetime.now(UTC)), "import", "rows"):
            counts[fate.outcome] += 1
            if as_json:
                told = {"file": fate.row.file, "line": fate.row.line, "outcome": fate.outcome, "id": fate.id, "error": fate.error}
                print_json({name: value for name, value in told.items() if value is not None})
            elif fate.error is not None and counts["failed"] <= SHOWN:
                typer.echo(clean(f"{fate.row.file}:{fate.row.line}: {fate.error}"), err=True)
    for message in broken:
        typer.echo(clean(message), err=True)
    typer.echo(json.dumps(dict(counts)) if as_json else ", ".join(f"{number} {name}" for name, number in counts.items()) or "nothing in it")
    if broken:
        raise typer.Exit(1)


def _rows(files: Iterable[tuple[str, Format]], broken: list[str]) -> Iterator[Row]:
    """The rows of all files. What ends the reading of one is left in ``broken``, and the next one is read."""
    for file, form in files:
        try:
            if form is Format.warc:
                if file == "-":
                    broken.append("-: a WARC file is not read from standard input; save it, and give its name")
                else:
                    yield from (Row(file, *one) for one in warc.read(Path(file)))
                continue
            with nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb") as stream:
                if form is Format.parquet:
                    yield from (Row(file, *one) for one in parquet.read(stream))
                elif form is Format.jsonl:
                    yield from (Row(file, *one) for one in _lines(stream))
                else:
                    text = TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="")
                    try:
                        yield from (Row(file, *one) for one in cells.read(text))
                    finally:
                        text.detach()
        except OSError as error:
            broken.append(f"{file}: cannot be read: {error.strerror or error}")
        except ReplayError as error:  # it names the file
            broken.append(str(error))
        except (ValueError, NewsportalError) as error:
            broken.append(f"{file}: {error}")


def _lines(stream: IO[bytes]) -> Iterator[tuple[int, Any]]:
    number = 0
    while line := stream.readline(LONGEST):
        number += 1
        if len(line) == LONGEST and not line.endswith(b"\n"):
            while (rest := stream.readline(LONGEST)) and not rest.endswith(b"\n"):
                pass
            yield number, ValueError(f"a line of more than {LONGEST} bytes")
        elif line.strip():
            try:
                yield number, json.loads(line.decode("utf-8-sig"))
            except RecursionError:
                yield number, ValueError("JSON that is nested too deep")
            except ValueError as error:
                yield number, ValueError(str(error))
