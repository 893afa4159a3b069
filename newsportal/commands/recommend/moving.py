"""``newsportal recommend import`` and ``export``: what readers looked at, from and for elsewhere."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path
from secrets import token_hex
from typing import IO, Annotated, Any, cast

import typer

from newsportal.commands import jsonl
from newsportal.commands.context import moment
from newsportal.commands.corpus.common import AsJson, SourcesFile, opened, print_json, progress, told
from newsportal.commands.recommend import click_files
from newsportal.commands.recommend.click_files import FIELDS, FORMS, as_row, form_of
from newsportal.dedup import canonical
from newsportal.errors import ClicksError
from newsportal.items import content_id
from newsportal.recommend.base import View


def import_(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="Views: reader, story, seen, pictures, at.")],
    form: Annotated[str, typer.Option("--format", help="jsonl, csv, or auto: by the file's name.")] = "auto",
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Take over what readers looked at elsewhere: JSON lines or CSV with reader, story, at, and perhaps seen of pictures.

    A story is named by its id here or by its address. A wrong line is told, and nothing of the file taken; the same file again changes
    nothing. Views of more than a year ago are not kept.
    """
    if form not in (*FORMS, "auto"):
        raise typer.BadParameter(f"{form!r} is none of {', '.join(FORMS)}, auto", param_hint="--format")
    form, name = (form_of(file) if form == "auto" else form), ("standard input" if file == "-" else file)
    with click_files.opened(file) as stream, opened(sources) as (_, store):
        total = sum(1 for _ in click_files.read(stream, form, name))
        if not total:
            raise ClicksError(f"{name}: no views; {click_files.SHAPE}")
        with counted(total, "views") as watched:
            views = map(_named, click_files.read(stream, form, name))
            brought = store.readers.bring(watched(views), now=datetime.now(UTC))
    row = {"views": total, "taken": brought.taken, "unknown": brought.unknown, "old": brought.old, "off": brought.off}
    if as_json:
        print_json(row)
        return
    typer.echo(f"{brought.taken} of {total} views taken")
    for number, why in (
        (brought.unknown, "of articles that are not stored"),
        (brought.old, "of more than a year ago"),
        (brought.off, "of readers who switched their profile off"),
    ):
        if number:
            told(f"{number} not: {why}")


def _named(view: View) -> View:
    """A view whose story is named by an address gets the identity that its article is known by."""
    return replace(view, story=canonical.identity(view.story)) if "://" in view.story else view


@contextmanager
def counted(total: int, what: str) -> Iterator[Callable[[Iterable[View]], Iterator[View]]]:
    """A bar that is moved by the views that pass."""
    with progress() as bar:
        task = bar.add_task(what, total=total)

        def passing(views: Iterable[View]) -> Iterator[View]:
            for number, view in enumerate(views, 1):
                if number % 1000 == 0:
                    bar.update(task, completed=number)
                yield view

        yield passing


def export(
    form: Annotated[str, typer.Option("--format", help=f"One of: {', '.join(FORMS)}.")] = "jsonl",
    since: Annotated[str | None, typer.Option(help="Only what was looked at from this date or time on.")] = None,
    anonymous: Annotated[bool, typer.Option("--anonymous", help="Readers get new names, others with each export.")] = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File to write; default: standard output.")] = None,
    sources: SourcesFile = None,
) -> None:
    """Write what readers looked at, as `recommend import` reads it: by reader and story.

    A reader's name is what the cookie of the reader's browser holds; say --anonymous for what leaves the house.
    """
    if form not in FORMS:
        raise typer.BadParameter(f"{form!r} is none of {', '.join(FORMS)}", param_hint="--format")
    with opened(sources) as (_, store):
        rows: Iterable[dict[str, Any]] = map(as_row, store.readers.views(since=moment(since)))
        if anonymous:
            salt = token_hex(16)
            rows = ({**row, "reader": content_id(f"{salt} {row['reader']}")} for row in rows)
        if form == "jsonl":
            jsonl.write(rows, out)
        else:
            _write_csv(rows, out)


def _write_csv(rows: Iterable[dict[str, Any]], out: Path | None) -> None:
    try:
        with out.open("wb") if out else _standard_output() as stream:
            text = TextIOWrapper(cast(Any, stream), encoding="utf-8", errors="replace", newline="")
            writer = csv.DictWriter(text, FIELDS)
            writer.writeheader()
            writer.writerows(rows)
            text.detach()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise ClicksError(f"{out or 'standard output'}: {error.strerror or error}") from error


@contextmanager
def _standard_output() -> Iterator[IO[bytes]]:
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()
