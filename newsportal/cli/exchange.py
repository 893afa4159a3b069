"""``newsportal export`` and ``import``: articles as JSON lines, CSV or Parquet, one row per article, or as pages in a WARC file; import
from such files in batches, each article once, folded as by a crawl."""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from io import TextIOWrapper
from itertools import groupby
from pathlib import Path
from typing import IO, Annotated, Any, Final

import typer

from newsportal.cli import hints
from newsportal.cli.options import SourcesFile, load, moment, open_record
from newsportal.cli.output import count_items, pick, print_json, writable
from newsportal.dedup.judge import fold_keys
from newsportal.errors import NewsportalError, ReplayError, StoreError, StoreUnavailable
from newsportal.items import Article, Thread, content_id
from newsportal.services.exchange.form import SCHEMA, Incoming, full_values, incoming
from newsportal.services.exchange.tables import read_csv, read_parquet, read_warc, write_csv, write_parquet, write_warc
from newsportal.sources import use_custom_words
from newsportal.store import open_store
from newsportal.store.columns import storable
from newsportal.store.dialects import chunks
from newsportal.store.results import StoredArticle
from newsportal.store.store import Store
from newsportal.text import clean


class Format(StrEnum):
    jsonl = "jsonl"
    csv = "csv"
    parquet = "parquet"
    warc = "warc"


@dataclass(frozen=True, slots=True)
class ArticleFilter:
    """Filter of articles to export; criteria are combined by AND. ``since`` and ``until`` apply to the time that sorts articles."""

    topic: str | None = None
    category: str | None = None
    source: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def matches(self, article: StoredArticle) -> bool:
        return (
            article.hidden is None  # hidden by an editor
            and self.topic in (None, *article.topics)
            and self.category in (None, article.category)
            and self.source in (None, article.source, article.source.partition(":")[2])
            and (self.since is None or article.moment >= self.since)
            and (self.until is None or article.moment < self.until)
        )


def export(
    format: Annotated[Format, typer.Option(help="jsonl, csv, parquet or warc.")] = Format.jsonl,
    out: Annotated[Path | None, typer.Option(help="The file to write; default: standard output.")] = None,
    topic: Annotated[str | None, typer.Option(help="Only this topic.")] = None,
    category: Annotated[str | None, typer.Option(help="Only this category.")] = None,
    source: Annotated[str | None, typer.Option(help="Only this source: its name, or feed:NAME.")] = None,
    since: Annotated[str | None, typer.Option(help="Only since this date or time: 2026-03-01, 2026-03-01T08:30+08:00.")] = None,
    until: Annotated[str | None, typer.Option(help="Only before this date or time.")] = None,
    bom: Annotated[bool, typer.Option("--bom/--no-bom", help="Write a byte order mark at the start of CSV, for Excel.")] = True,
    schema: Annotated[bool, typer.Option("--schema", help="Only print the JSON Schema of an article.")] = False,
    sources: SourcesFile = None,
) -> None:
    """Write what is stored: articles as lines (jsonl), rows (csv, parquet) or pages (warc)."""
    if schema:
        typer.echo(json.dumps(SCHEMA, ensure_ascii=False, indent=2))
        return
    path = None if out == Path("-") else out
    if format is Format.warc and path is None:
        raise typer.BadParameter("a WARC file needs a file name: --out articles.warc.gz", param_hint="--out")
    with open_record(sources) as (config, store):
        selection = ArticleFilter(topic, category, source, moment(since, "--since"), moment(until, "--until"))
        hints.warn_unknown_topic(config, topic)
        articles = count_items(filter(selection.matches, store.all_articles()), "articles", transient=False)
        if format is Format.warc and path is not None:
            with writable(path) as part:
                write_warc(articles, part, lambda article: full_values(article, store))
            return
        write_rows(format, (full_values(article, store) for article in articles), path, bom=bom)


def write_rows(format: Format, rows: Iterable[dict[str, Any]], path: Path | None, *, bom: bool = True) -> None:
    """Write articles as JSON lines, CSV or Parquet, to a file or standard output. Raises ``NewsportalError``."""
    with writable(path) if path else nullcontext() as part, part.open("wb") if part else nullcontext(sys.stdout.buffer) as stream:
        _write(format, rows, stream, bom)
        stream.flush()


def _write(format: Format, rows: Iterable[dict[str, Any]], stream: IO[bytes], bom: bool) -> None:
    if format is Format.parquet:
        write_parquet(rows, stream)
        return
    text = TextIOWrapper(stream, encoding="utf-8", errors="replace", newline="")
    try:
        if format is Format.csv:
            write_csv(rows, text, bom=bom)
        else:
            for row in rows:
                text.write(json.dumps(row, ensure_ascii=False) + "\n")
        text.flush()
    finally:
        with suppress(OSError, ValueError):  # a closed pipe, reported by the previous error
            text.detach()


BATCH: Final = 200  # rows processed together, in one transaction if possible


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a file: its value, or a ``ValueError`` for an invalid row. ``line`` counts from 1."""

    file: str
    line: int
    value: Any


@dataclass(frozen=True, slots=True)
class ImportedRow:
    """The outcome of a row. ``stored``, ``folded``, ``revised``, ``same`` as in ``Store.add``, ``grown`` for a thread or photo story,
    ``older``: the store has a later state; or ``failed``, with the ``error``."""

    row: Row
    outcome: str
    id: str | None = None
    error: str | None = None


def import_rows(rows: Iterable[Row], store: Store, now: datetime) -> Iterator[ImportedRow]:
    """Store the rows in their order; articles first seen at the same time in one transaction. Raises ``StoreUnavailable`` for the rest."""
    for batch in chunks(rows, BATCH):
        parsed = _mark_older([(row, _parse(row, now)) for row in batch], store)
        for first_seen, group in groupby(parsed, key=lambda pair: _article_moment(pair[1])):
            pairs = list(group)
            if first_seen is None:
                yield from (entry if isinstance(entry, ImportedRow) else _save(row, entry, store) for row, entry in pairs)
            else:
                articles = [(row, entry.item) for row, entry in pairs if isinstance(entry, Incoming) and isinstance(entry.item, Article)]
                yield from _add_articles(articles, store, first_seen)


def _parse(row: Row, now: datetime) -> Incoming | ImportedRow:
    try:
        if isinstance(row.value, ValueError):
            raise row.value
        return incoming(row.value, now)
    except ValueError as error:
        return ImportedRow(row, "failed", error=str(error))


def _article_moment(entry: Incoming | ImportedRow) -> datetime | None:
    return entry.first_seen if isinstance(entry, Incoming) and isinstance(entry.item, Article) else None


def _mark_older(parsed: Sequence[tuple[Row, Incoming | ImportedRow]], store: Store) -> Iterator[tuple[Row, Incoming | ImportedRow]]:
    """Yield the rows; an article is ``older`` if the store or an earlier row has a later state."""
    articles = [entry.item for _, entry in parsed if isinstance(entry, Incoming) and isinstance(entry.item, Article)]
    stored = store.find_stored([article.identity for article in articles if article.identity])
    newest = {article.identity: article.fetched for article in store.articles([content_id(storable(name)) for name in stored])}
    for row, entry in parsed:
        if isinstance(entry, Incoming) and isinstance(entry.item, Article):
            name, fetched = storable(entry.item.identity or ""), entry.item.fetched
            if fetched < newest.get(name, fetched):
                yield row, ImportedRow(row, "older", content_id(name))
                continue
            newest[name] = fetched
        yield row, entry


def _save(row: Row, entry: Incoming, store: Store) -> ImportedRow:
    item, now = entry.item, entry.first_seen
    assert not isinstance(item, Article)
    try:
        saved = store.threads.save(item, now=now) if isinstance(item, Thread) else store.galleries.save(item, now=now)
    except StoreUnavailable:
        raise
    except StoreError as error:
        return ImportedRow(row, "failed", error=str(error))
    return ImportedRow(row, saved.outcome, saved.id)


def _add_articles(pairs: Sequence[tuple[Row, Article]], store: Store, now: datetime) -> Iterator[ImportedRow]:
    """Add articles in one transaction; if one of them fails, one by one."""
    try:
        added = store.add_all([(article, fold_keys(article.title, article.text)) for _, article in pairs], now=now)
    except StoreUnavailable:
        raise
    except StoreError as error:
        if len(pairs) == 1:
            yield ImportedRow(pairs[0][0], "failed", error=str(error))
            return
        for pair in pairs:
            yield from _add_articles([pair], store, now)
        return
    for (row, _), result in zip(pairs, added, strict=True):
        yield ImportedRow(row, result.outcome, result.id)


ENDINGS: Final = {
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), Format.jsonl), ".csv": Format.csv, ".parquet": Format.parquet,
    **dict.fromkeys((".warc", ".warc.gz"), Format.warc),
}  # fmt: skip
"""File name ending → format."""

MAX_LINE_BYTES: Final = 64 * 1024 * 1024  # bytes of the longest line: an article has at most 16 MB of text
SHOWN: Final = 20  # invalid rows that are printed; --json prints all


def import_files(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Files in a format of export; -: standard input.")],
    format: Annotated[Format | None, typer.Option(help="Format of the files; default: by file name.")] = None,
    store: Annotated[str | None, typer.Option(help="The store to use; default: that of sources.yaml.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per row, and one with the totals.")] = False,
    sources: SourcesFile = None,
) -> None:
    """Store articles from JSON lines, CSV, Parquet or WARC, none twice, reposts folded. A row that is no article is reported.

    Exit status 1 if a file cannot be read, or no row is an article.
    """
    config = load(sources)
    use_custom_words(config)
    forms = []
    for file in files:
        form = format or next((form for ending, form in ENDINGS.items() if file.lower().endswith(ending)), None)
        if form is None:
            raise typer.BadParameter(f"{file}: unknown format; set it with --format", param_hint="--format")
        forms.append((file, form))
    broken: list[str] = []
    counts: Counter[str] = Counter()
    with closing(open_store(store or config.store)) as opened:
        try:
            for result in count_items(import_rows(_rows(forms, broken), opened, datetime.now(UTC)), "rows"):
                counts[result.outcome] += 1
                if as_json:
                    values = {**pick(result.row, "file", "line"), **pick(result, "outcome", "id", "error")}
                    print_json({name: value for name, value in values.items() if value is not None})
                elif result.error is not None and counts["failed"] <= SHOWN:
                    typer.echo(clean(f"{result.row.file}:{result.row.line}: {result.error}"), err=True)
        except StoreUnavailable as error:
            raise StoreError(f"{error}; {counts.total()} rows are done: run the same command again, which stores nothing twice") from error
    for message in broken:
        typer.echo(clean(message), err=True)
    typer.echo(json.dumps(dict(counts)) if as_json else ", ".join(f"{number} {name}" for name, number in counts.items()) or "nothing in it")
    if counts["failed"] == counts.total() > 0:
        raise NewsportalError("nothing was imported: every row failed; `newsportal export --schema` describes a row")
    if broken:
        raise typer.Exit(1)


def _rows(files: Iterable[tuple[str, Format]], broken: list[str]) -> Iterator[Row]:
    """Yield the rows of all files. Errors that end reading one are added to ``broken``, and the next is read."""
    for file, form in files:
        try:
            yield from (Row(file, line, value) for line, value in _read_file(file, form))
        except OSError as error:
            broken.append(f"{file}: cannot be read: {error.strerror or error}")
        except ReplayError as error:  # its message contains the file name
            broken.append(str(error))
        except (ValueError, NewsportalError) as error:
            broken.append(f"{file}: {error}")


def _read_file(file: str, form: Format) -> Iterator[tuple[int, Any]]:
    """Yield (line, row); an invalid row is a ``ValueError``. Raises ``OSError``, ``ValueError`` and ``NewsportalError``."""
    if form is Format.warc:
        if file == "-":
            raise NewsportalError("WARC cannot be read from standard input; save it to a file")
        yield from read_warc(Path(file))
        return
    with nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb") as stream:
        if form is Format.parquet:
            yield from read_parquet(stream)
        elif form is Format.jsonl:
            yield from _lines(stream)
        else:
            text = TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="")
            try:
                yield from read_csv(text)
            finally:
                text.detach()


def _lines(stream: IO[bytes]) -> Iterator[tuple[int, Any]]:
    number = 0
    while line := stream.readline(MAX_LINE_BYTES):
        number += 1
        if len(line) == MAX_LINE_BYTES and not line.endswith(b"\n"):
            while (rest := stream.readline(MAX_LINE_BYTES)) and not rest.endswith(b"\n"):
                pass
            yield number, ValueError(f"a line longer than {MAX_LINE_BYTES} bytes")
        elif line.strip():
            try:
                yield number, json.loads(line.decode("utf-8-sig"))
            except RecursionError:
                yield number, ValueError("JSON is nested too deeply")
            except ValueError as error:
                yield number, ValueError(f"not JSON: {error}")
