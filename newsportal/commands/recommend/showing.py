"""``newsportal recommend show`` and ``for``: what was learnt, and what a reader gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Final

import numpy as np
import typer

from newsportal.commands.corpus.common import AsJson, SourcesFile, opened, print_json, print_rows, shown
from newsportal.recommend.decay import weight
from newsportal.recommend.ratings import ALPHA
from newsportal.recommending.serving import Recommender, Suggestion
from newsportal.store.reader_months import Month
from newsportal.text import clean

HOURS: Final = 48
"""Hours after publication that the plot shows."""

STEP: Final = 2
"""Hours a line of the plot."""

WIDTH: Final = 50

BY: Final = {
    "neighbours": "readers who looked at the same",
    "content": "like what was looked at",
    "popular": "looked at much",
    "fresh": "new",
    "explore": "to find out",
}
"""Slugs of ``Recommendation.by`` in words; others stand as they are."""


def show(
    sources: SourcesFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Everything as one line of JSON.")] = False,
) -> None:
    """Show what was learnt: figures of the latest fit, reading by month, and how interest fades, beside the curve that was fitted to it."""
    with opened(sources) as (_, store):
        fits = store.readers.fits()
        views, readers = store.readers.counts()
        made, facts = fits[0] if fits else (None, {})
        months = store.readers.months(alpha=float(facts.get("alpha", ALPHA)))
        ages = store.readers.ages(hours=HOURS)
    if as_json:
        by_month = [_month(month) for month in months]
        print_json({"made": made, "views": views, "readers": readers, "facts": facts, "ages": ages, "months": by_month})
        return
    typer.echo(f"{views} views of {readers} readers")
    if made is None:
        typer.echo("nothing was learnt yet; `newsportal recommend fit` does it, and `newsportal up` every night")
    else:
        typer.echo(f"learnt {shown(made)}")
        for name, value in facts.items():
            typer.echo(f"  {name}: {said(value)}")
    if months:
        typer.echo()
        print_rows([_month(month) | {"month": f"{month.start:%Y-%m}"} for month in months], ("month", *COLUMNS), False)
    if sum(ages):
        typer.echo()
        for line in plot(ages, facts.get("lambda")):
            typer.echo(line)


COLUMNS: Final = ("views", "pictures", "readers", "offered", "opened", "liked", "precision")


def _month(month: Month) -> dict[str, Any]:
    precision = month.liked / month.offered if month.offered else None
    row = {name: getattr(month, name) for name in ("views", "pictures", "readers", "offered", "opened", "liked")}
    return {"start": month.start, **row, "precision": precision}


def said(value: Any) -> str:
    """A figure for people."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {said(inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(said, value))
    return f"{value:.4g}" if isinstance(value, float) else clean(str(value))


def plot(ages: Sequence[int], rate: float | None) -> list[str]:
    """Views by hours since the story was published, as bars; a ``|`` where the curve W(t) with this λ has them."""
    steps = [sum(ages[start : start + STEP]) for start in range(0, len(ages), STEP)]
    middles = np.arange(0, len(ages), STEP, dtype=np.float64) + STEP / 2
    curve = weight(middles, rate).tolist() if rate else [0.0] * len(steps)
    most, top = max(steps), max(curve)
    lines = [f"views by hours since publication{f'; | is W(t), λ = {rate:.3g}' if rate else ''}"]
    for place, (views, height) in enumerate(zip(steps, curve, strict=True)):
        bar = ("█" * round(WIDTH * views / most)).ljust(WIDTH + 1)
        at = round(WIDTH * height / top) if top else 0
        lines.append(f"{place * STEP:3d} {bar[:at]}|{bar[at + 1 :]} {views}" if rate else f"{place * STEP:3d} {bar} {views}")
    return lines


def for_(
    reader: Annotated[str | None, typer.Argument(metavar="[READER]", help="A reader, as the cookie or an imported log names him.")] = None,
    new: Annotated[bool, typer.Option("--new", help="A reader of whom nothing is known.")] = False,
    number: Annotated[int, typer.Option("--n", "-n", min=1, max=1000, help="How many stories.")] = 20,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Tell what a reader is recommended now, and why. Nothing is recorded by asking."""
    if (reader is None) != new:
        raise typer.BadParameter("name a reader, or say --new", param_hint="READER")
    with opened(sources) as (known, store):
        found = Recommender(store, days=known.recommendation.days).recommended(reader, datetime.now(UTC), number)
    for place, suggestion in enumerate(found, 1):
        if as_json:
            print_json(_row(suggestion))
        else:
            typer.echo(f"{place:3d}. {clean(suggestion.story.head.title)}\n     {suggestion.story.id}, {_why(suggestion)}")
    if not found and not as_json:
        typer.echo("nothing to recommend: no story of the last days is stored that this reader has not seen")


def _row(suggestion: Suggestion) -> dict[str, Any]:
    story, recommendation, because = suggestion
    return {
        "story": story.id,
        "title": story.head.title,
        "score": recommendation.score,
        "by": recommendation.by,
        "because": because.id if because else None,
        "because_title": because.head.title if because else None,
    }


def _why(suggestion: Suggestion) -> str:
    _, recommendation, because = suggestion
    why = BY.get(recommendation.by, recommendation.by)
    return f"{why}, because of 《{clean(because.head.title)}》" if because else why
