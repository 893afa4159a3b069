"""``newsportal process``: extract articles from archives (WARC, CC-NEWS), folded and classified as by a crawl, locally or on Spark."""

import os
import time
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Final

import typer

from newsportal.cli.exchange import Format, write_rows
from newsportal.cli.options import SourcesFile, load
from newsportal.cli.output import count_bar, print_json
from newsportal.errors import StoreError
from newsportal.messages import reason_message
from newsportal.processing.mapping import on_spark, processes
from newsportal.processing.reading import ReadPage
from newsportal.processing.storing import OnPage, Summary, process_archives
from newsportal.processing.tracker import share
from newsportal.services.exchange.form import full_values
from newsportal.sources import Sources, use_custom_words
from newsportal.store import open_store
from newsportal.store.store import Store
from newsportal.text import clean

SHOWN: Final = 20  # pages without an article that are printed; --json prints all


def process(
    files: Annotated[list[Path], typer.Argument(metavar="WARC...", help="WARC archives of `crawl --archive` or any other crawler.")],
    out: Annotated[Path | None, typer.Option(help="The file to write; default: standard output.")] = None,
    format: Annotated[Format, typer.Option(help="jsonl, csv or parquet.")] = Format.jsonl,
    into: Annotated[bool, typer.Option("--into", help="Add the articles to the store instead.")] = False,
    listed: Annotated[bool, typer.Option("--listed", help="Only pages linked from archived list pages of sources.yaml.")] = False,
    spark: Annotated[str | None, typer.Option(metavar="MASTER", help="Spark master: local[*] or spark://HOST:7077; needs Java.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, max=1024, help="Number of local processes; default: one per core.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per page, and one with the totals; with --out FILE or --into.")
    ] = False,
    sources: SourcesFile = None,
) -> None:
    """Make articles of the pages in archives: extracted, folded and classified as by a crawl, the same here and on Spark.

    A page that is no article is named with its reason. Exit status 1 if a file cannot be read.
    """
    path = None if out == Path("-") else out
    if into and out is not None:
        raise typer.BadParameter("--into and --out exclude each other", param_hint="--into")
    if format is Format.warc:
        raise typer.BadParameter("archives already are WARC; allowed: jsonl, csv, parquet", param_hint="--format")
    if as_json and not (into or path):
        raise typer.BadParameter("the articles are written to standard output; use --out FILE or --into", param_hint="--json")
    config = load(sources)
    use_custom_words(config)
    began = time.perf_counter()
    summary = Summary()
    with _stores(config, into) as (store, models):
        shared = share(config, models)

        def rows() -> Iterator[dict[str, Any]]:
            mapping = processes(shared, workers or os.cpu_count() or 1) if spark is None else on_spark(shared, spark)
            with mapping as mapped, count_bar() as report:
                paths = [str(file.absolute()) for file in files]
                process_archives(shared, paths, store, mapped, summary, listed_only=listed, on_progress=report, on_page=_reporter(as_json))
            if not into:
                yield from (full_values(article, store) for article in store.all_articles())

        if into:
            deque(rows(), maxlen=0)
        else:
            write_rows(format, rows(), path)  # the file is opened before any work is done
    _print_summary(summary, round(time.perf_counter() - began, 1), as_json, beside_articles=not (into or path))
    if summary.broken:
        raise typer.Exit(1)


@contextmanager
def _stores(sources: Sources, into: bool) -> Iterator[tuple[Store, Store | None]]:
    """Yield the store for folding, and the one with the active models: that of sources.yaml, or a temporary one and perhaps the former."""
    if into:
        with closing(open_store(sources.store)) as store:
            yield store, store
        return
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="newsportal-process-"))
        try:
            models = stack.enter_context(closing(open_store(sources.store, create=False)))
        except StoreError:  # no crawl yet, so there are no models
            models = None
        yield stack.enter_context(closing(open_store(f"sqlite:///{folder}/articles.db"))), models


def _reporter(as_json: bool) -> OnPage:
    printed = 0

    def report(page: ReadPage, outcome: str, error: str | None) -> None:
        nonlocal printed
        if as_json:
            print_json({"file": page.file, "url": page.url, "outcome": outcome, "error": error})
        elif error is not None and (printed := printed + 1) <= SHOWN:
            typer.echo(clean(f"{page.url}: {reason_message(error)}"), err=True)

    return report


def _print_summary(summary: Summary, seconds: float, as_json: bool, *, beside_articles: bool) -> None:
    for message in (*summary.broken, *summary.cut):
        typer.echo(clean(message), err=True)
    if as_json:
        print_json({**asdict(summary), "seconds": seconds})
        return
    reasons = ", ".join(f"{number} {reason}" for reason, number in sorted(summary.failed.items(), key=itemgetter(1), reverse=True))
    failed = f"; {sum(summary.failed.values())} no articles ({reasons})"
    typer.echo(
        f"{summary.pages} pages in {seconds} s: {summary.stored} stored, {summary.folded} folded, {summary.same} known"
        + (failed if summary.failed else "")
        + (f"; {summary.missing} pages linked from list pages are not in the archives" if summary.missing else ""),
        err=beside_articles,
    )
