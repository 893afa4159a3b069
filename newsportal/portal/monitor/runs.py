"""``/runs``: the reports of crawls; ``/monitor`` and the pages below it: articles collected, results of crawls, queues, and how the portal
is read (paper C, figures 3 and 4)."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, get_args

from fastapi import APIRouter, HTTPException, Request, Response

from newsportal.errors import NewsportalError
from newsportal.items.report import COUNTERS, Run
from newsportal.messages import Message
from newsportal.messages.reasons import CAUSES
from newsportal.portal.access import EDIT, WATCH, log_change, or_404
from newsportal.portal.context import Visit, VisitDep
from newsportal.portal.desk.source_fields import KINDS, source_path
from newsportal.portal.language import _
from newsportal.portal.monitor.figures import DAY_RANGES, FiguresCache, curve, running_crawls
from newsportal.portal.monitor.queues import Way
from newsportal.portal.monitor.system import monitor_links, run_log
from newsportal.portal.reading.story_lists import bars, width
from newsportal.portal.render import notify, render
from newsportal.portal.request_body import Form
from newsportal.portal.wording import display_name_function
from newsportal.recommend.formulas import ALPHA
from newsportal.sources.timing import SPIDERS

router = APIRouter(dependencies=WATCH)

SHOWN = 50
RUNS_READ = 500  # reports read, to show those that had something due

NAMES: Final = {**{spider: KINDS[kind] for kind, spider in SPIDERS.items()}, "metasearch": _("Search engines")}


@router.get("/runs")
def runs(request: Request, visit: VisitDep) -> Response:
    """``?all=1``: include runs that had nothing due, which are most of them if a crawl runs all day."""
    read, all_runs = visit.portal.store.runs(RUNS_READ), bool(visit.params.get("all"))
    matching = [run for run in read if all_runs or not run.idle]
    kinds = {name: visit.say(kind) for name, kind in NAMES.items()}
    return render(request, "runs.html", runs=matching[:SHOWN], idle=len(read) - len(matching), all_runs=all_runs, kinds=kinds)


@router.get("/runs/{run_id}")
def run(request: Request, visit: VisitDep, run_id: str) -> Response:
    run, names = or_404(visit.portal.store.run(run_id)), display_name_function(visit.portal, visit.clock.words)
    return render(
        request, "run.html", run=run, total=run.total, failures=failures_of(run), counters=COUNTERS, columns=columns(visit),
        rows=[*run.sources, run.total] if run.sources else [], display_name=names, **run_log(visit, run),
    )  # fmt: skip


def failures_of(run: Run) -> list[tuple[str, int]]:
    """Return reasons with their counts, articles and list pages together, the most frequent first."""
    counts = Counter(run.total.failed) + Counter(run.total.list_failed)
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def columns(visit: Visit) -> list[str]:
    """Return the headings of the table, in the order of ``report.COUNTERS``, and those of derived figures."""
    labels = {
        "list_pages": visit.say("list pages"), "not_modified": visit.say("unchanged"), "entries": visit.say("entries"),
        "known": visit.say("known"), "repeated": visit.say("repeated"), "new": visit.say("new"),
        "fetched": visit.say("fetched"), "parsed": visit.say("parsed"), "stored": visit.say("stored"),
        "folded": visit.say("folded"), "same": visit.say("same"),
    }  # fmt: skip
    derived = [visit.say("failed"), visit.say("precision"), visit.say("recall"), visit.say("time")]
    return [*(labels.get(key, key) for key in COUNTERS), *derived]


RUNS_SEARCHED: Final = 20  # reports searched for crawls in progress: each spider of a crawl writes one


@dataclass(frozen=True, slots=True)
class Training:
    """The last training: its time, the share that counts as liked, and its other figures."""

    trained: datetime
    alpha: float
    facts: tuple[tuple[str, Any], ...]


@router.get("/monitor")
def monitor(request: Request, visit: VisitDep) -> Response:
    """Articles collected, by day and source."""
    days, daily = days_of(visit), request.app.state.daily
    cache: FiguresCache = request.app.state.figures
    figures = cache.figures(visit.portal, daily, days) if daily is not None else None
    return monitor_page(
        request, visit, "/monitor", "figures", days=days, ranges=DAY_RANGES, figures=figures,
        bars=bars(figures.series) if figures else (), width=width(figures.series) if figures else 0,
        curve=curve(figures.growth) if figures else "",
        source_page=lambda key: source_path(key) if key in visit.portal.by_key else None,
    )  # fmt: skip


@router.get("/monitor/crawls")
def crawls(request: Request, visit: VisitDep) -> Response:
    """Results of crawls by source, and crawls in progress."""
    running = running_crawls(visit.portal.store.runs(RUNS_SEARCHED), visit.portal.now())
    return monitor_page(request, visit, "/monitor/crawls", "crawled", **crawled_of(request, visit), running_crawls=running)


@router.get("/monitor/failures")
def failures(request: Request, visit: VisitDep) -> Response:
    """Why pages failed, with remedies."""
    causes = {name: [visit.clock.says(Message(f"{kind}.{name}")) for kind in ("cause", "remedy")] for name in set(CAUSES.values())}
    return monitor_page(request, visit, "/monitor/failures", "failed_pages", **crawled_of(request, visit), causes=causes)


def crawled_of(request: Request, visit: Visit) -> dict[str, Any]:
    cache: FiguresCache = request.app.state.figures
    days = days_of(visit)
    return {"days": days, "ranges": DAY_RANGES, "crawled": cache.crawled(visit.portal, days)}


@router.get("/monitor/queues")
def queues(request: Request, visit: VisitDep) -> Response:
    """Waiting requests and workers."""
    queues = or_404(visit.portal.queues)
    settles = request.app.state.settle is not None and visit.may("edit")
    return monitor_page(request, visit, "/monitor/queues", "queues", queues=queues(), may_settle=settles)


@router.get("/monitor/reading")
def reading(request: Request, visit: VisitDep) -> Response:
    """Readership, and what the recommendation has learned."""
    fit, months = visit.portal.reading()
    learnt = training_of(*fit) if fit else None
    labels = {name: visit.say(text) for name, text in FIGURE_LABELS.items()}
    lines = [  # precision as in the paper's formula 4: recommended stories that were read to the share α, of all that were recommended
        {"name": f"{month.start:%Y-%m}", "month": month, "opened": month.opened / month.offered if month.offered else None,
         "precision": month.liked / month.offered if month.offered else None}
        for month in months
    ]  # fmt: skip
    alpha = learnt.alpha if learnt else ALPHA
    return monitor_page(request, visit, "/monitor/reading", "months", lines=lines, fit=learnt, alpha=alpha, labels=labels)


def monitor_page(request: Request, visit: Visit, path: str, name: str, **values: Any) -> Response:
    """Render a page of the monitor, from the template ``parts/NAME.html``."""
    values |= {"links": monitor_links(visit), "display_name": display_name_function(visit.portal, visit.clock.words)}
    return render(request, "monitor.html", part=f"parts/{name}.html", current_path=path, **values)


def days_of(visit: Visit) -> int:
    days = visit.integer("days")
    return days if days in DAY_RANGES else DAY_RANGES[1]


@router.post("/monitor/aside", dependencies=EDIT)
def settle_requests(request: Request, fields: Form) -> Response:
    """Retry or drop the requests that were set aside."""
    way, settle = fields.get("action", ""), request.app.state.settle
    if settle is None or way not in get_args(Way):
        raise HTTPException(404 if settle is None else 400)
    try:
        number = settle(way)
    except NewsportalError as error:
        return notify(request, "/monitor/queues", _("The queue of requests is unavailable: %(why)s"), why=error)
    log_change(request, f"queue.{way}", "", {"requests": number})
    text = _("%(number)s {request|requests} waiting again.") if way == "again" else _("%(number)s {request|requests} dropped.")
    return notify(request, "/monitor/queues", text, number=number)


FIGURE_LABELS = {
    "views": _("views used for training"), "readers": _("readers"), "stories": _("stories that may be recommended"),
    "by": _("computed by"), "seconds": _("duration in seconds"), "let_go": _("expired views and recommendations deleted"),
}  # fmt: skip
"""Figures of a training in the order of the page; unknown figures keep their keys."""


def training_of(trained: datetime, facts: Mapping[str, Any]) -> Training:
    """Return the figures of a training, the most important first; the paper's α if it has none."""
    alpha = facts.get("alpha")
    plain = [(name, value) for name, value in facts.items() if isinstance(value, str | int | float) and name not in ("alpha", "lambda")]
    order = list(FIGURE_LABELS)
    plain.sort(key=lambda fact: (order.index(fact[0]) if fact[0] in order else len(order), fact[0]))
    return Training(trained, alpha if isinstance(alpha, float) else ALPHA, tuple(plain))
