"""``newsportal evaluate recommend``: measure how well recommendation methods predict readers' next views."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, Final

import typer

from newsportal.cli.options import AsJsonRows, SourcesFile, check_names, open_record
from newsportal.cli.output import progress, render
from newsportal.errors import NewsportalError
from newsportal.recommend.base import Item, Log, View

FIGURES: Final = {"recall": "recall@20", "ndcg": "NDCG@20", "hit": "hit@20", "ms_median": "ms", "ms_p95": "p95 ms", "fit_seconds": "fit s"}

METHOD_NAMES: Final = ("paper", "paper-days", "paper-refitted", "popular", "recent", "items", "items-decay", "vsknn", "best")
MIN_VIEWS: Final = 100  # fewest views for a meaningful comparison
WIDTH: Final = 300  # pixels of the longest bar


def recommend(
    data: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="A log of `recommend export`; default: the store's.")] = None,
    method: Annotated[list[str] | None, typer.Option("--method", "-m", help="Which to compare; repeatable; default: all.")] = None,
    kind: Annotated[str, typer.Option("--kind", help="window: what readers look at until the next cut; next: the next click.")] = "window",
    questions: Annotated[int, typer.Option("--questions", min=1, help="Questions a cut, at most.")] = 1000,
    sources: SourcesFile = None,
    html: Annotated[Path | None, typer.Option("--html", help="Also write an HTML report there.")] = None,
    as_json: AsJsonRows = False,
) -> None:
    """Recall, NDCG and hits of lists of 20, and milliseconds an answer, after learning from 0.5, 0.7 and 0.85 of a log."""
    names = list(method or METHOD_NAMES)
    check_names("method", names, METHOD_NAMES, "--method")
    if kind not in ("window", "next"):
        raise typer.BadParameter(f"{kind!r} is neither window nor next", param_hint="--kind")
    try:
        log = read(data) if data else _stored(sources)
        rows = list(_rows(log, names, kind, questions, as_json))
        if html is not None:
            html.write_text(page(rows), encoding="utf-8")
    except (NewsportalError, OSError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error


def read(file: Path) -> Log:
    """Return the views of a file; a story counts as published at its first view."""
    from newsportal.cli.recommend import open_views, read_views
    from newsportal.services.learning.files import guess_form

    with open_views(str(file)) as stream:
        views = list(read_views(stream, guess_form(file), str(file)))
    first: dict[str, datetime] = {}
    for view in views:
        first[view.story] = min(first.get(view.story, view.at), view.at)
    return Log(views, [Item(story, at) for story, at in first.items()])


def _stored(sources: Path | None) -> Log:
    from newsportal.services.recommending.parts import items

    with open_record(sources) as (_, store):
        views: list[View] = list(store.readers.views())
        return Log(views, list(items(store.readers, datetime.now(UTC))))


def _rows(log: Log, names: Sequence[str], kind: str, questions: int, as_json: bool) -> Iterator[dict[str, Any]]:
    from newsportal_lab.evaluate import ranking
    from newsportal_lab.evaluate.rankers import METHODS

    if (views := len(list(log.views))) < MIN_VIEWS:
        raise NewsportalError(f"{views} views are too few to compare anything: at least {MIN_VIEWS} are needed")
    with progress() as bar:
        task = bar.add_task("", total=len(ranking.CUTS) * len(names))
        for cut, split in zip(ranking.CUTS, ranking.splits(log, kind, max_questions=questions), strict=True):
            if not as_json:
                typer.echo(f"{cut:.0%} of the views known, {len(split.questions)} questions")
                typer.echo(f"{'':16}" + "".join(f"{heading:>11}" for heading in FIGURES.values()))
            for name in names:
                bar.update(task, description=name)
                start = perf_counter()
                model = METHODS[name](split.training, split.cut)
                seconds = round(perf_counter() - start, 2)
                measured = ranking.measure(model, split.questions).as_json()
                row = {"cut": cut, "kind": kind, "method": name, **measured, "fit_seconds": seconds}
                bar.advance(task)
                typer.echo(json.dumps(row) if as_json else f"{name:16}" + "".join(f"{row[figure]:11.3f}" for figure in FIGURES))
                yield row


def page(rows: Sequence[dict[str, Any]]) -> str:
    longest = max((row["ndcg"] for row in rows), default=0) or 1
    cuts = {cut: [row for row in rows if row["cut"] == cut] for cut in dict.fromkeys(row["cut"] for row in rows)}
    return render("recommend.html", __package__, cuts=cuts, figures=FIGURES, longest=longest, width=WIDTH)
