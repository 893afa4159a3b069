"""``/desk``: the start page of editors. A function for each kind of task returns how many there are; and the latest crawl."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from fastapi import APIRouter, Request, Response

from newsportal.items.report import merge_runs
from newsportal.portal.access import WATCH, may
from newsportal.portal.context import Visit, VisitDep
from newsportal.portal.desk.articles import FILTERS
from newsportal.portal.desk.sources import health_texts
from newsportal.portal.monitor.process_metrics import measure_disk as disk_of
from newsportal.portal.render import render
from newsportal.portal.wording import display_name_function
from newsportal.services.accounts import Right
from newsportal.services.jobs.records import job_of
from newsportal.store.lists import ArticleFilter

RECENT: Final = timedelta(days=7)  # older articles and messages are not counted as tasks
MAX_COUNTED: Final = 99  # maximum number of articles that are counted; a plus stands for more


@dataclass(frozen=True, slots=True)
class Task:
    """``words`` follow the number; ``path`` is the page for the task. ``bad``: something is broken, rather than waiting. ``unit`` follows
    the number directly: ``+`` means that there are more."""

    number: int
    words: str
    path: str
    bad: bool = False
    unit: str = ""


def mistakes(visit: Visit) -> Task:
    number = len(visit.portal.file_errors)
    path = "/sources/file" if may(visit.request, Right.ADMINISTER) else "/sources"
    return Task(number, visit.say("{mistake|mistakes} in sources.yaml", num=number), path, bad=True)


def sources(visit: Visit) -> Task:
    number = sum(row.health.bad for row in visit.portal.health())
    return Task(number, visit.say("failing {source|sources}", num=number), "/sources", bad=True)


def disk(visit: Visit) -> Task | None:
    try:
        usage = disk_of(visit.portal.config)
    except OSError:  # the disk does not respond: /monitor/system reports it
        return None
    words = visit.say("of the disk is free")
    return Task(round(100 * usage.free / usage.total), words, "/monitor/system", bad=True, unit="%") if usage.low else None


def published(visit: Visit) -> Task:
    number = sum(counts.get("failed", 0) for counts in visit.portal.store.outbox.counts().values())
    words = visit.say("{article|articles} could not be published", num=number)
    return Task(number, words, "/publishing", bad=True)


def alerts(visit: Visit) -> Task | None:
    """Alerts of the signed-in person only."""
    if visit.signed_in is None:
        return None
    number = visit.portal.accounts.alerts.count_failed(visit.signed_in.person.id, visit.portal.now() - RECENT)
    words = visit.say("of your alerts could not be sent", num=number)
    return Task(number, words, "/alerts", bad=True)


def unsure(visit: Visit) -> Task:
    number, unit = _count_articles(visit, FILTERS["unsure"][1])
    words = visit.say("{article|articles} with an uncertain category this week", num=number)
    return Task(number, words, "/articles?show=unsure", unit=unit)


def undated(visit: Visit) -> Task:
    number, unit = _count_articles(visit, FILTERS["undated"][1])
    words = visit.say("{article|articles} without a date this week", num=number)
    return Task(number, words, "/articles?show=undated", unit=unit)


def suggested(visit: Visit) -> Task:
    number = len(visit.request.app.state.suggestion_cache.suggestions())
    return Task(number, visit.say("{site could become a source|sites could become sources}", num=number), "/suggestions")


def _count_articles(visit: Visit, which: ArticleFilter) -> tuple[int, str]:
    """Return the number of recent articles, and a plus if there are more than are counted; 0 without the right to edit."""
    if not may(visit.request, Right.EDIT):
        return 0, ""
    page = visit.portal.store.select_articles(replace(which, since=visit.portal.now() - RECENT, limit=MAX_COUNTED))
    return len(page.articles), "+" if page.next is not None else ""


TASKS: Final[tuple[Callable[[Visit], Task | None], ...]] = (mistakes, sources, disk, published, alerts, unsure, undated, suggested)
"""In display order: what is broken first. To add a kind of task, add a function here."""


def tasks(visit: Visit) -> list[Task]:
    """Return the tasks to show: something waits, or a share is too low (it may be 0%)."""
    return [task for find in TASKS if (task := find(visit)) is not None and (task.number or task.unit == "%")]


NAMED_SOURCES: Final = 5  # failing sources named on the page; the others are on ``/sources``
RUNS_READ = 50  # the last of this many reports that had something due is shown

router = APIRouter(dependencies=WATCH)


@router.get("/desk")
def desk(request: Request, visit: VisitDep) -> Response:
    runs = visit.portal.store.runs(RUNS_READ)
    last = next((run for run in runs if not run.idle), next(iter(runs), None))
    crawl = merge_runs([run for run in runs if job_of(run) == job_of(last)]) if last else None
    failing = [row for row in visit.portal.health() if row.health.bad]
    keys, name = visit.portal.by_key, display_name_function(visit.portal, visit.clock.words)  # a feed and a channel may have the same name
    named = [(row, row.source.key) for row in failing[:NAMED_SOURCES]]
    troubles = [{"source": row.source, "name": name(key), "editable": key in keys, **health_texts(row, visit)} for row, key in named]
    return render(request, "desk_start.html", tasks=tasks(visit), last=crawl, failing_sources=troubles, failing_count=len(failing))
