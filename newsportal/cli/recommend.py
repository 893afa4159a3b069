"""``newsportal recommend``: fit the recommender, show its state and a reader's recommendations, import and export views.

Views are JSON lines or CSV, optionally compressed with gzip. An invalid line rejects the whole file and is reported. A file is read
twice, first for validation; standard input is copied to a temporary file for that.
"""

import csv
import gzip
import json
import os
import shutil
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryFile
from typing import IO, Annotated, Any, BinaryIO, Final, cast

import numpy as np
import typer

from newsportal.cli.options import AsJson, SourcesFile, command_group, moment, open_record
from newsportal.cli.output import pick, print_json, print_result, print_rows, progress, report_progress, writable, write_json_lines
from newsportal.dedup import canonical
from newsportal.errors import ClicksError
from newsportal.items import content_id
from newsportal.messages import format_time, to_utc
from newsportal.recommend.base import View
from newsportal.recommend.formulas import ALPHA, weight
from newsportal.services.jobs.base import NICENESS
from newsportal.services.learning.files import guess_form
from newsportal.services.recommending import parts
from newsportal.services.recommending.serving import Recommender
from newsportal.store.reader_views import Month
from newsportal.text import clean

FIELDS: Final = ("reader", "story", "seen", "pictures", "at")
NEEDED: Final = ("reader", "story", "at")
FORMS: Final = ("jsonl", "csv")
SHAPE: Final = 'a view is {"reader", "story", "at"}, and may have "seen" of "pictures" (1 of 1)'
LONGEST_LINE: Final = 1 << 20


@contextmanager
def open_views(file: str) -> Iterator[BinaryIO]:
    """Open the file so that :func:`read_views` can read it repeatedly; ``-`` is standard input. Raises ``ClicksError``."""
    try:
        with TemporaryFile() if file == "-" else Path(file).open("rb") as stream:
            if file == "-":
                shutil.copyfileobj(sys.stdin.buffer, stream)
            yield cast(BinaryIO, stream)
    except OSError as error:
        raise ClicksError(f"{file}: {error.strerror or error}") from error


def read_views(stream: BinaryIO, form: str, name: str) -> Iterator[View]:
    """Read the views of an open file from its start. Raises ``ClicksError``."""
    stream.seek(0)
    packed = stream.read(2) == b"\x1f\x8b"
    stream.seek(0)
    plain = cast(IO[bytes], gzip.GzipFile(fileobj=stream)) if packed else stream
    lines = TextIOWrapper(cast(Any, plain), encoding="utf-8-sig", newline="" if form == "csv" else None)
    number = 0
    try:
        for number, row in (_csv if form == "csv" else _jsonl)(lines, name):  # noqa: B007  used below
            yield _view(row)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ClicksError(f"{name}: not a gzip file, or cut off; nothing was imported from it") from error
    except (ValueError, RecursionError, csv.Error) as error:
        raise ClicksError(f"{name}: line {number + 1 if isinstance(error, UnicodeDecodeError) else number}: {error}") from error
    finally:
        lines.detach()


def _jsonl(lines: TextIOWrapper, name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    number = 0
    while line := lines.readline(LONGEST_LINE):
        number += 1
        if line.strip():
            try:
                row = json.loads(line)
            except ValueError as error:
                raise ClicksError(f"{name}: line {number}: {error}; {SHAPE}") from error
            yield number, row if isinstance(row, dict) else {}


def _csv(lines: TextIOWrapper, name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    rows = csv.DictReader(lines, strict=True)
    if missing := [field for field in NEEDED if field not in (rows.fieldnames or ())]:
        raise ClicksError(f"{name}: line 1: no column {', '.join(missing)}; the first line must name the columns: {','.join(FIELDS)}")
    for row in rows:
        yield rows.line_num, row


def _view(row: Mapping[str, Any]) -> View:
    if missing := [field for field in NEEDED if row.get(field) in (None, "")]:
        raise ValueError(f"no {', '.join(missing)}; {SHAPE}")
    numbers = []
    for field in ("seen", "pictures"):
        value = 1 if row.get(field) in (None, "") else row[field]
        if isinstance(value, bool) or not str(value).isdecimal() or (field == "pictures" and int(value) < 1):
            raise ValueError(f"{field} is {value!r}; allowed: an integer{' from 1 on' if field == 'pictures' else ''}")
        numbers.append(int(value))
    seen, pictures = numbers
    return View(str(row["reader"]), str(row["story"]), min(seen, pictures), pictures, view_moment(row["at"]))


def view_moment(value: Any) -> datetime:
    """Parse a time in ISO 8601 (without a zone: in ``portal.timezone``), or seconds since 1970."""
    try:
        if isinstance(value, int | float) or str(value).replace(".", "", 1).isdecimal():
            return datetime.fromtimestamp(float(value), UTC)
        return to_utc(datetime.fromisoformat(str(value)))
    except (ValueError, OverflowError, OSError) as error:
        raise ValueError(f"at is {value!r}; allowed: 2026-03-01T08:30+08:00, or seconds since 1970") from error


def as_row(view: View) -> dict[str, Any]:
    return {"reader": view.reader, "story": view.story, "seen": view.seen, "pictures": view.pictures, "at": view.at.isoformat()}


def fit(
    since: Annotated[str | None, typer.Option(help="Only since this date or time: 2026-03-01, 2026-03-01T08:30+08:00.")] = None,
    spark: Annotated[str | None, typer.Option(metavar="MASTER", help="Spark master: local[*] or spark://HOST:7077; needs Java.")] = None,
    gently: Annotated[bool, typer.Option("--gently", help="Run at low priority.")] = False,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Fit recommendations to the stories that readers viewed, the same here and on Spark; the portal uses it within a minute."""
    if gently:
        os.nice(NICENESS)
    with open_record(sources) as (config, store), report_progress() as report:
        now, days = datetime.now(UTC), config.recommendation.days
        if spark is None:
            result = parts.fit(store, now, since=moment(since), days=days, progress=report)
        else:
            from newsportal.services import spark as on_spark

            result = on_spark.fit(store, config.store, spark, now, since=moment(since), days=days)
    facts = result.facts
    summary = f"learnt from {facts['views']} views of {facts['readers']} readers in {facts['seconds']:.1f} s ({facts['by']})"
    row = {"created": result.created, "bytes": len(result.model), **facts}
    print_result(row, f"{summary}; {len(result.model) / 1e6:.1f} MB", as_json)


def import_(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="Files of views; -: standard input.")],
    form: Annotated[str, typer.Option("--format", help="jsonl, csv, or auto: by its name.")] = "auto",
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Import views: JSON lines or CSV with reader, story (id or address), at, seen, pictures.

    A wrong line rejects the file; the same file again changes nothing.
    """
    if form not in (*FORMS, "auto"):
        raise typer.BadParameter(f"{form!r} is none of {', '.join(FORMS)}, auto", param_hint="--format")
    form, name = (guess_form(Path(file)) if form == "auto" else form), ("standard input" if file == "-" else file)
    with open_views(file) as stream, open_record(sources) as (_, store):
        total = sum(1 for _ in read_views(stream, form, name))
        if not total:
            raise ClicksError(f"{name}: no views; {SHAPE}")
        with progress() as bar:
            views = (  # a story given by a URL gets the identity of its article
                replace(view, story=canonical.identity(view.story)) if "://" in view.story else view
                for view in read_views(stream, form, name)
            )
            imported = store.readers.import_views(bar.track(views, total=total, description="views"), now=datetime.now(UTC))
    if as_json:
        print_json({"views": total, **pick(imported, "taken", "unknown", "old", "off")})
        return
    typer.echo(f"{imported.taken} of {total} views imported")
    for number, reason in (
        (imported.unknown, "of unknown articles"),
        (imported.old, "older than a year"),
        (imported.off, "of readers who switched their profile off"),
    ):
        if number:
            typer.echo(f"{number} not: {reason}", err=True)


def export(
    form: Annotated[str, typer.Option("--format", help=f"{', '.join(FORMS)}.")] = "jsonl",
    since: Annotated[str | None, typer.Option(help="Only since this date or time: 2026-03-01, 2026-03-01T08:30+08:00.")] = None,
    anonymous: Annotated[bool, typer.Option("--anonymous", help="Replace names of readers by random ones.")] = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The file to write; default: standard output.")] = None,
    sources: SourcesFile = None,
) -> None:
    """Write views for `recommend import`; --anonymous for data that leave your organisation."""
    if form not in FORMS:
        raise typer.BadParameter(f"{form!r} is none of {', '.join(FORMS)}", param_hint="--format")
    with open_record(sources) as (_, store):
        rows: Iterable[dict[str, Any]] = map(as_row, store.readers.views(since=moment(since)))
        if anonymous:
            salt = token_hex(16)
            rows = ({**row, "reader": content_id(f"{salt} {row['reader']}")} for row in rows)
        if form == "jsonl":
            write_json_lines(rows, out)
        else:
            with writable(out) if out else nullcontext() as part, part.open("wb") if part else nullcontext(sys.stdout.buffer) as stream:
                text = TextIOWrapper(cast(Any, stream), encoding="utf-8", errors="replace", newline="")
                writer = csv.DictWriter(text, FIELDS)
                writer.writeheader()
                writer.writerows(rows)
                text.detach()
                stream.flush()


HOURS: Final = 48  # hours after publication in the plot
STEP: Final = 2  # hours per line of the plot
WIDTH: Final = 50

REASONS: Final = {
    "neighbours": "readers of the same stories",
    "content": "similar to viewed stories",
    "popular": "looked at much",
    "fresh": "new",
    "explore": "to find out",
}  # slugs of ``Recommendation.by`` in words; others are printed as they are.


def show(sources: SourcesFile = None, as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False) -> None:
    """Show the figures of the latest fit, reading by month, how interest fades."""
    with open_record(sources) as (_, store):
        fits = store.readers.fits()
        views, readers = store.readers.counts()
        fitted_at, facts = fits[0] if fits else (None, {})
        months = store.readers.months(alpha=float(facts.get("alpha", ALPHA)))
        ages = store.readers.ages(hours=HOURS)
    if as_json:
        by_month = [_month(month) for month in months]
        print_json({"made": fitted_at, "views": views, "readers": readers, "facts": facts, "ages": ages, "months": by_month})
        return
    typer.echo(f"{views} views of {readers} readers")
    if fitted_at is None:
        typer.echo("nothing was fitted yet; run `newsportal recommend fit`, or `newsportal up`, which does it every night")
    else:
        typer.echo(f"learnt {format_time(fitted_at)}")
        for name, value in facts.items():
            typer.echo(f"  {name}: {format_value(value)}")
    if months:
        typer.echo()
        print_rows([_month(month) | {"month": f"{month.start:%Y-%m}"} for month in months], ("month", *COLUMNS), False)
    if sum(ages):
        typer.echo()
        for line in plot(ages, facts.get("lambda")):
            typer.echo(line)


COLUMNS: Final = ("views", "pictures", "readers", "offered", "opened", "liked", "precision")


def _month(month: Month) -> dict[str, Any]:
    return pick(month, "start", *COLUMNS[:-1]) | {"precision": month.liked / month.offered if month.offered else None}


def format_value(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {format_value(inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(format_value, value))
    return f"{value:.4g}" if isinstance(value, float) else clean(str(value))


def plot(ages: Sequence[int], rate: float | None) -> list[str]:
    """Plot views by hours since the story was published, as bars; ``|`` marks the curve W(t) with this λ."""
    steps = [sum(ages[start : start + STEP]) for start in range(0, len(ages), STEP)]
    middles = np.arange(0, len(ages), STEP, dtype=np.float64) + STEP / 2
    curve = weight(middles, rate).tolist() if rate else [0.0] * len(steps)
    most, top = max(steps), max(curve)
    lines = [f"views by hours since publication{f'; | is W(t), λ = {rate:.3g}' if rate else ''}"]
    for index, (views, height) in enumerate(zip(steps, curve, strict=True)):
        bar = ("█" * round(WIDTH * views / most)).ljust(WIDTH + 1)
        mark = round(WIDTH * height / top) if top else 0
        lines.append(f"{index * STEP:3d} {bar[:mark]}|{bar[mark + 1 :]} {views}" if rate else f"{index * STEP:3d} {bar} {views}")
    return lines


def for_(
    reader: Annotated[str | None, typer.Argument(metavar="[READER]", help="Id of a reader, from the cookie or an imported log.")] = None,
    new: Annotated[bool, typer.Option("--new", help="A new reader.")] = False,
    number: Annotated[int, typer.Option("--n", "-n", min=1, max=1000, help="How many to list.")] = 20,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Show what a reader is recommended now, and why."""
    if (reader is None) != new:
        raise typer.BadParameter("give a reader or --new", param_hint="READER")
    with open_record(sources) as (config, store):
        found = Recommender(store, config.recommendation).recommended(reader, datetime.now(UTC), number)
    for index, (story, recommendation, cause) in enumerate(found, 1):
        if as_json:
            fields = {"reason_story": cause.id if cause else None, "reason_title": cause.head.title if cause else None}
            print_json({"story": story.id, "title": story.head.title, **pick(recommendation, "score", "by"), **fields})
        else:
            reason = REASONS.get(recommendation.by, recommendation.by) + (f", because of 《{clean(cause.head.title)}》" if cause else "")
            typer.echo(f"{index:3d}. {clean(story.head.title)}\n     {story.id}, {reason}")
    if not found and not as_json:
        typer.echo("nothing to recommend: the store has no recent story that this reader has not seen")


group = command_group("Fit recommendations; show the fit and a reader's recommendations.", fit, show, for_, import_, export)
