"""The run reports: what each crawl met, in a table and in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from gettext import NullTranslations
from typing import Final

from fastapi import APIRouter, HTTPException, Request, Response

from newsportal.accounts import Right
from newsportal.messages import Message
from newsportal.portal.access import needs
from newsportal.portal.context import Visit
from newsportal.portal.language import _
from newsportal.portal.pages.system import run_log
from newsportal.portal.render import render
from newsportal.portal.source_fields import KINDS
from newsportal.report import COUNTERS, Run, SourceReport

router = APIRouter(dependencies=[needs(Right.WATCH)])

SHOWN = 50
LOOKED = 500
"""Of so many, those are shown for which something was due."""

SPIDERS: Final[Mapping[str, str]] = {
    "rss": KINDS["feeds"],
    "sitemap": KINDS["sitemaps"],
    "hub": KINDS["regions"],
    "forum": KINDS["forums"],
    "gallery": KINDS["galleries"],
    "metasearch": _("Search engines"),
}
"""What a spider visits."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table: the counters in their order, then all failures, the two rates, and how many seconds it took."""

    name: str
    values: tuple[int, ...]
    failed: int
    precision: float | None
    recall: float | None
    seconds: float
    notes: tuple[Message, ...] = ()
    total: bool = False


@router.get("/runs")
def runs(request: Request) -> Response:
    """``?all=1``: also those for which nothing was due, which is most of them where a crawl goes on all day."""
    visit = Visit(request)
    read, whole = visit.portal.store.runs(LOOKED), bool(visit.asked.get("all"))
    found = [run for run in read if whole or not run.idle]
    kinds = {name: visit.clock.words.gettext(kind) for name, kind in SPIDERS.items()}
    return render(request, "runs.html", runs=found[:SHOWN], idle=len(read) - len(found), whole=whole, kinds=kinds)


@router.get("/runs/{run_id}")
def run(request: Request, run_id: str) -> Response:
    visit = Visit(request)
    found = visit.portal.store.run(run_id)
    if found is None:
        raise HTTPException(404)
    words = visit.clock.words
    total = row_of(found.total, words.gettext("total"), total=True)
    return render(
        request,
        "run.html",
        run=found,
        total=found.total,
        failures=failures_of(found),
        columns=columns(words),
        rows=[*(row_of(source, source.source) for source in found.sources), *([total] if found.sources else [])],
        **run_log(visit, found),
    )


def row_of(report: SourceReport, name: str, *, total: bool = False) -> Row:
    failed = report.failures + sum(report.list_failed.values())
    notes = () if total else report.notes
    return Row(name, tuple(getattr(report, key) for key in COUNTERS), failed, report.precision, report.recall, report.seconds, notes, total)


def failures_of(run: Run) -> list[tuple[str, int]]:
    """Reasons with their counts, articles and list pages together, the most frequent first."""
    total = run.total
    counted: dict[str, int] = dict(total.failed)
    for reason, count in total.list_failed.items():
        counted[reason] = counted.get(reason, 0) + count
    return sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))


def columns(words: NullTranslations) -> list[str]:
    """The heads of the table, in the order of ``report.COUNTERS`` and the figures derived from them."""
    named = {
        "list_pages": words.gettext("list pages"),
        "not_modified": words.gettext("unchanged"),
        "entries": words.gettext("entries"),
        "known": words.gettext("known"),
        "repeated": words.gettext("repeated"),
        "new": words.gettext("new"),
        "fetched": words.gettext("fetched"),
        "parsed": words.gettext("parsed"),
        "stored": words.gettext("stored"),
        "folded": words.gettext("folded"),
        "same": words.gettext("same"),
    }
    derived = [words.gettext("failed"), words.gettext("precision"), words.gettext("recall"), words.gettext("time")]
    return [*(named.get(key, key) for key in COUNTERS), *derived]
