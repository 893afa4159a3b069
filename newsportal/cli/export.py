"""``newsportal export``: the stored articles as JSON lines, CSV or Parquet, one row an article, or as pages in a WARC file."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from newsportal.cli import hints
from newsportal.cli.context import moment, open_record
from newsportal.cli.options import SourcesFile
from newsportal.cli.output import count_items, writable
from newsportal.services.exchange import cells, parquet
from newsportal.services.exchange.form import SCHEMA, whole
from newsportal.services.exchange.warc import write_warc
from newsportal.store.results import StoredArticle


class Format(StrEnum):
    jsonl = "jsonl"
    csv = "csv"
    parquet = "parquet"
    warc = "warc"


@dataclass(frozen=True, slots=True)
class ArticleFilter:
    """Which articles are exported; every field narrows. ``since`` and ``until`` are compared with the moment an article is sorted by."""

    topic: str | None = None
    category: str | None = None
    source: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def holds(self, article: StoredArticle) -> bool:
        return (
            article.hidden is None  # an editor took it out of sight
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
    since: Annotated[str | None, typer.Option(help="Only since then: 2026-03-01, 2026-03-01T08:30+08:00.")] = None,
    until: Annotated[str | None, typer.Option(help="Only before this date or time.")] = None,
    bom: Annotated[bool, typer.Option("--bom/--no-bom", help="Begin CSV with a byte order mark, for Excel.")] = True,
    schema: Annotated[bool, typer.Option("--schema", help="Only print the JSON Schema of an article.")] = False,
    sources: SourcesFile = None,
) -> None:
    """Write what is stored: articles as lines (jsonl), rows (csv, parquet) or pages (warc)."""
    if schema:
        typer.echo(json.dumps(SCHEMA, ensure_ascii=False, indent=2))
        return
    place = None if out == Path("-") else out
    if format is Format.warc and place is None:
        raise typer.BadParameter("a WARC file needs a name: --out articles.warc.gz", param_hint="--out")
    with open_record(sources) as (known, store):
        wanted = ArticleFilter(topic, category, source, moment(since, "--since"), moment(until, "--until"))
        if word := hints.unknown_topic(known, topic):
            typer.echo(word, err=True)
        articles = count_items(filter(wanted.holds, store.all_articles()), "articles", transient=False)
        if format is Format.warc and place is not None:
            write_warc(articles, place, lambda article: whole(article, store))
            return
        write_rows(format, (whole(article, store) for article in articles), place, bom=bom)


def write_rows(format: Format, rows: Iterable[dict[str, Any]], place: Path | None, *, bom: bool = True) -> None:
    """Articles as JSON lines, CSV or Parquet, in a file or on standard output. Raises ``NewsportalError``."""
    if place is None:
        _write(format, rows, sys.stdout.buffer, bom)
        sys.stdout.buffer.flush()
        return
    with writable(place) as part, part.open("wb") as stream:
        _write(format, rows, stream, bom)


def _write(format: Format, rows: Iterable[dict[str, Any]], stream: IO[bytes], bom: bool) -> None:
    if format is Format.parquet:
        parquet.write(rows, stream)
        return
    text = TextIOWrapper(stream, encoding="utf-8", errors="replace", newline="")
    try:
        if format is Format.csv:
            cells.write(rows, text, bom=bom)
        else:
            for row in rows:
                text.write(json.dumps(row, ensure_ascii=False) + "\n")
        text.flush()
    finally:
        with suppress(OSError, ValueError):  # the reader went away, which is told by the error before
            text.detach()
