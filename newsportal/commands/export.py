"""``newsportal export``: the stored articles as JSON lines or CSV, one row an article, or as pages in a WARC file."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn

from newsportal.commands import hints
from newsportal.commands.context import moment, open_record
from newsportal.commands.export_warc import write_warc
from newsportal.errors import NewsportalError
from newsportal.sources import Sources
from newsportal.storage.base import Store, StoredArticle
from newsportal.storage.galleries import is_gallery
from newsportal.storage.threads import is_thread

CSV_COLUMNS = (
    "id", "story", "url", "title", "site", "author", "published", "first_seen",
    "language", "category", "topics", "keywords", "source", "fold_of", "fold_reason", "summary", "text",
)  # fmt: skip

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""A cell that starts so is a formula to a spreadsheet (OWASP, CSV injection); an apostrophe before it makes it text."""


class Format(StrEnum):
    jsonl = "jsonl"
    csv = "csv"
    warc = "warc"


def register(app: typer.Typer) -> None:
    app.command("export")(export)


def export(
    format: Annotated[Format, typer.Option(help="Form of the output.")] = Format.jsonl,
    out: Annotated[Path | None, typer.Option(help="File to write; default: standard output.")] = None,
    topic: Annotated[str | None, typer.Option(help="Only this topic.")] = None,
    since: Annotated[str | None, typer.Option(help="Only from this date or time on (2026-03-01, 2026-03-01T08:30+08:00).")] = None,
    sources: Annotated[Path | None, typer.Option(help="The sources file; default: the nearest sources.yaml.")] = None,
) -> None:
    """Write what is stored: an article a line (jsonl; threads with posts, photo stories with pictures), a row (csv) or a page (warc)."""
    start = moment(since)
    if format is Format.warc:
        _warc(out, sources, topic, start)
        return
    with open_record(sources) as (known, store), _output(out) as stream:
        _warn(known, topic)
        articles = _counted(chosen(store, topic, start))
        if format is Format.jsonl:
            write_jsonl(articles, stream, store)
        else:
            write_csv(articles, stream)


def _warc(out: Path | None, sources: Path | None, topic: str | None, since: datetime | None) -> None:
    if out is None:
        raise typer.BadParameter("a WARC file needs a name: --out articles.warc.gz", param_hint="--out")
    with open_record(sources) as (known, store):
        _warn(known, topic)
        write_warc(_counted(chosen(store, topic, since)), out)


def _warn(known: Sources, topic: str | None) -> None:
    if word := hints.unknown_topic(known, topic):
        typer.echo(word, err=True)


def chosen(store: Store, topic: str | None, since: datetime | None) -> Iterator[StoredArticle]:
    """The articles of a topic from a moment on, by id."""
    for article in store.all_articles():
        if (topic is None or topic in article.topics) and (since is None or article.moment >= since):
            yield article


def plain(article: StoredArticle) -> dict[str, Any]:
    """An article as JSON values; what was not found is left out."""
    values = {**asdict(article), "story": article.story_id}
    del values["story_id"]
    return bare(values)


def bare(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values as JSON writes them, without what was not found."""
    found = {key: value.isoformat() if isinstance(value, datetime) else value for key, value in values.items() if value is not None}
    return found | {"images": [{key: value for key, value in image.items() if value is not None} for image in values["images"]]}


def write_jsonl(articles: Iterable[StoredArticle], stream: TextIO, store: Store) -> None:
    """A line each; that of a forum's thread has its posts, that of a photo story all its pictures and whether it is complete."""
    for article in articles:
        values = plain(article)
        if is_thread(article.source) and (thread := store.threads.thread(article.id)) is not None:
            values |= {"board": thread.board} if thread.board else {}
            values["posts"] = [bare(asdict(post)) for post in store.threads.posts(article.id)]
        if is_gallery(article.source) and (gallery := store.galleries.gallery(article.id)) is not None:
            pictures = [asdict(picture.image) for picture in store.galleries.pictures(article.id)]
            values |= bare({"complete": gallery.complete, "images": pictures})
            values |= {} if gallery.complete else {"missing": list(gallery.missing)}
        stream.write(json.dumps(values, ensure_ascii=False) + "\n")


def write_csv(articles: Iterable[StoredArticle], stream: TextIO) -> None:
    """With a byte order mark, by which spreadsheets know UTF-8."""
    stream.write("\ufeff")
    rows = csv.writer(stream, lineterminator="\r\n")
    rows.writerow(CSV_COLUMNS)
    for article in articles:
        values = plain(article) | {"topics": " ".join(article.topics), "keywords": ", ".join(article.keywords)}
        rows.writerow([cell(str(values.get(column, ""))) for column in CSV_COLUMNS])


def cell(text: str) -> str:
    """``text`` as a cell that no spreadsheet takes for a formula."""
    return f"'{text}" if text.lstrip(" \u3000").startswith(FORMULA) or text.startswith(FORMULA) else text


@contextmanager
def _output(path: Path | None) -> Iterator[TextIO]:
    """The stream to write to. A file is written beside its place and moved there when it is complete."""
    if path is None:
        sys.stdout.reconfigure(encoding="utf-8", newline="")  # type: ignore[union-attr]
        yield sys.stdout
        return
    part = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("w", encoding="utf-8", newline="") as stream:
            yield stream
        part.replace(path)
    except OSError as error:
        raise NewsportalError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):  # there may be no such folder at all
            part.unlink()


def _counted(articles: Iterable[StoredArticle]) -> Iterator[StoredArticle]:
    """``articles``, with their number on the terminal while they are written (standard error, and only if somebody looks)."""
    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.completed} articles"))
    with Progress(*columns, console=console, transient=not console.is_terminal, disable=not console.is_terminal) as progress:
        task = progress.add_task("export", total=None)
        for article in articles:
            yield article
            progress.advance(task)
