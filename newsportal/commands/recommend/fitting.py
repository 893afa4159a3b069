"""``newsportal recommend fit``: learn from all that readers looked at. ``newsportal up`` runs it each night."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from newsportal.commands.context import moment
from newsportal.commands.corpus.common import AsJson, SourcesFile, opened, print_json, progress
from newsportal.recommending import fitting
from newsportal.recommending.fitting import Watch
from newsportal.services.jobs.reporting import NICENESS, progress_reporter
from newsportal.store.readers import Fit


def fit(
    since: Annotated[str | None, typer.Option(help="Only what was looked at from this date or time on.")] = None,
    spark: Annotated[
        str | None,
        typer.Option(metavar="MASTER", help="Compute on Apache Spark: local[*] or spark://HOST:7077; needs Java."),
    ] = None,
    gently: Annotated[bool, typer.Option("--gently", help="Leave the processor to others where they need it.")] = False,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Learn from what readers looked at; the portal uses it within a minute. Views of more than a year ago are deleted first.

    The same is learnt here and on Spark.
    """
    if gently:
        os.nice(NICENESS)
    with opened(sources) as (known, store), _bar() as watch:
        now, days = datetime.now(UTC), known.recommendation.days
        if spark is None:
            made = fitting.fit(store, now, since=moment(since), days=days, watch=watch)
        else:
            from newsportal.recommending import spark as on_spark

            made = on_spark.fit(store, known.store, spark, now, since=moment(since), days=days)
    if as_json:
        print_json(row(made))
    else:
        typer.echo(sentence(made))


def row(made: Fit) -> dict[str, Any]:
    """A fit as ``--json`` prints it."""
    return {"made": made.made, "bytes": len(made.packed), **made.facts}


def sentence(made: Fit) -> str:
    """A fit for people."""
    facts = made.facts
    size = f"{len(made.packed) / 1e6:.1f} MB"
    return f"learnt from {facts['views']} views of {facts['readers']} readers in {facts['seconds']:.1f} s ({facts['by']}); {size}"


@contextmanager
def _bar() -> Iterator[Watch]:
    if (report := progress_reporter()) is not None:
        yield lambda done, total: report(done / total if total else 0.0, "views")
        return
    with progress() as bar:
        task = bar.add_task("views", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total, description="learning" if done >= total else "views")
