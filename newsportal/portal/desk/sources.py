"""``/sources``: the sources with their health, those that need attention first; with search, filters and actions. ``/schedule``: paper B's
table of hours: the entries expected from each source in every hour of the day, its next visit, and why. ``/suggestions``: sites that could
become sources, counted hourly over a sample of articles; ``/opml``: the feeds of sources.yaml."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby, islice
from typing import Any, Final, Literal

from fastapi import APIRouter, Request, Response

from newsportal.messages import Message
from newsportal.portal.access import EDIT, WATCH
from newsportal.portal.context import Portal, PortalDep, Visit, VisitDep
from newsportal.portal.desk.source_fields import FAMILIES, KINDS, parse_number
from newsportal.portal.desk.sources_yaml import apply_change, config_of, source_entry
from newsportal.portal.language import _
from newsportal.portal.render import address, render
from newsportal.portal.request_body import Form
from newsportal.portal.ttl_cache import CostlyValue
from newsportal.services.discovery.opml import Outline, write
from newsportal.services.discovery.suggestions import SiteCounter, Suggestion
from newsportal.sources import Source, Sources, mask
from newsportal.sources.changing import set_entry
from newsportal.sources.places import Place
from newsportal.sources.timing import ORDER, SourceHealth, SourceSchedule, VisitedSource, rules, timetable, visited_sources
from newsportal.sources.values import DAY
from newsportal.store.store import Store

router = APIRouter()

SHOWN = 100  # rows per page: more take longer to read than to search
HEIGHT, STEP = 16, 4  # of a day in the chart of entries, in units of the drawing
NEVER: Final = datetime.min.replace(tzinfo=UTC)

Sort = Literal["health", "name", "kind", "last", "new"]

SORTS: Final[Mapping[Sort, Callable[[SourceHealth], Any]]] = {
    "health": lambda judged: 0,  # unchanged: those that need attention first
    "name": lambda judged: judged.source.name,
    "kind": lambda judged: (list(FAMILIES).index(_family(judged)) if _family(judged) in FAMILIES else len(FAMILIES), judged.source.name),
    "last": lambda judged: judged.health.figures.last_success or NEVER,
    "new": lambda judged: -sum(judged.days),
}


@dataclass(frozen=True, slots=True)
class Filter:
    """Filters sources by words, state of health, and prefix of the key."""

    words: str | None = None
    state: str | None = None
    kind: str | None = None

    def matches(self, judged: SourceHealth, portal: Portal) -> bool:
        """Return whether the source matches. Words are searched in name, key, URLs, topics and category; all must occur."""
        if self.state not in (None, judged.health.state) or self.kind not in (None, _family(judged)):
            return False
        if not self.words:
            return True
        source = portal.by_key.get(judged.source.key)
        labels = (*getattr(source, "topics", ()), getattr(source, "category", None) or "")
        text = " ".join((judged.source.key, judged.source.name, source_urls(source), *labels)).lower()
        return all(word in text for word in self.words.lower().split())


@router.get("/sources", dependencies=WATCH)
def sources(request: Request, visit: VisitDep) -> Response:
    health = visit.portal.health()
    counts = Counter(judged.health.state for judged in health)
    families = Counter(map(_family, health))
    query = Filter(visit.text("q"), visit.text("state"), visit.text("kind"))
    matching = [judged for judged in health if query.matches(judged, visit.portal)]
    sort: Sort = next((name for name in SORTS if name == visit.text("sort")), "health")
    matching.sort(key=SORTS[sort])
    last = max(1, -(-len(matching) // SHOWN))
    page = min(max(1, visit.integer("page")), last)
    return render(
        request, "sources.html", rows=[_row(judged, visit) for judged in matching[(page - 1) * SHOWN : page * SHOWN]],
        states=[(state, visit.clock.says(Message(f"state.{state}")), counts[state]) for state in ORDER if counts[state]],
        kinds=[(family, visit.say(KINDS[FAMILIES[family]]), families[family]) for family in FAMILIES if families[family]],
        state_filter=query.state, kind=query.kind, query=query.words, sort=sort, page=page, last=last, number=len(matching),
        total=len(health), width=STEP * max((len(judged.days) for judged in health), default=0), height=HEIGHT,
    )  # fmt: skip


def _family(judged: SourceHealth) -> str:
    return judged.source.key.partition(":")[0]


def source_urls(source: Source | None) -> str:
    """Return the URLs that are fetched for a source, without their secrets."""
    url = getattr(source, "url", None)
    urls: Sequence[str] = getattr(source, "seeds", ()) or ((url,) if url else getattr(source, "addresses", ()))
    return mask(" ".join(urls))


def _row(judged: SourceHealth, visit: Visit) -> dict[str, object]:
    """Return a row of the list: ``line`` is the path of the chart of recent entries; ``editable``: the source has an entry in the file."""
    source = visit.portal.by_key.get(judged.source.key)
    kind = KINDS.get(FAMILIES.get(_family(judged), ""), "")
    return {
        "source_health": judged, **health_texts(judged, visit), "line": bar_chart_path(judged.days), "total": sum(judged.days),
        "kind": visit.say(kind) if kind else _family(judged), "address": source_urls(source), "editable": source is not None,
    }  # fmt: skip


def health_texts(judged: SourceHealth, visit: Visit) -> dict[str, str | None]:
    """Return the state of a source, the reason and the remedy, in the reader's language."""
    says, health, remedy = visit.clock.says, judged.health, judged.health.remedy()
    return {"state": says(Message(f"state.{health.state}")), "reason": says(health.reason()), "remedy": says(remedy) if remedy else None}


def bar_chart_path(days: Sequence[int]) -> str:
    """Return an SVG path of bars, one per day, scaled to the largest; days without entries have none."""
    most = max(days, default=0)
    heights = [max(1, round(HEIGHT * number / most)) if number else 0 for number in days] if most else []
    return "".join(f"M{place * STEP} {HEIGHT}v-{height}h{STEP - 1}v{height}z" for place, height in enumerate(heights) if height)


PLANNED: Final = 50  # sources per page: each needs its visits of two weeks
HOURS: Final = 24
CELL_WIDTH, CELL_HEIGHT = 18, 22  # of an hour in the drawing, in its units
STEPS: Final = (0.05, 0.25, 0.5, 1.0, 2.0, 4.0)
"""Expected entries per hour at which a cell gets darker; four and more is the darkest, as in the command's bars."""

POLICIES: Final = {
    "learnt": _("learned from its visits"),
    "fixed": _("a fixed interval"),
    "hours": _("adaptive hours"),
    "weight": _("by its weight"),
}


@dataclass(frozen=True, slots=True)
class Cell:
    """An hour of the day: ``x`` its position in the drawing, ``shade`` from 0 to 6, ``on``: whether visits are allowed in it."""

    hour: int
    x: int
    shade: int
    on: bool
    expected: float | None


@router.get("/schedule", dependencies=WATCH)
def schedule(request: Request) -> Response:
    visit, sources = Visit(request), config_of(request)
    query = (visit.text("q") or "").lower()
    matching = [source for source in visited_sources(sources) if query in source.key.lower()]
    last = max(1, -(-len(matching) // PLANNED))
    page = min(max(1, visit.integer("page")), last)
    part = matching[(page - 1) * PLANNED : page * PLANNED]
    now = visit.portal.now().astimezone(visit.portal.site.zone)
    plan = zip(part, timetable(sources, visit.portal.store, part, now), strict=True)
    rows = [_planned_row(source, planned, visit, now) for source, planned in plan]
    return render(
        request, "schedule.html", rows=sorted(rows, key=lambda row: row["planned"].next), query=visit.text("q"), page=page, last=last,
        hours=range(HOURS), now_hour=now.hour, width=CELL_WIDTH, height=CELL_HEIGHT, policy=POLICIES[sources.schedule.policy],
        schedule=sources.schedule,
    )  # fmt: skip


@router.post("/schedule/{key}", dependencies=EDIT)
def reschedule(request: Request, key: str, fields: Form) -> Response:
    """Give a source its own interval or hours, or return it to the schedule."""
    entry = source_entry(request, key)
    back = address("/schedule", q=fields.get("q", ""), page=fields.get("page", ""))
    values: dict[str, Any] = {"interval": parse_number(minutes) if (minutes := fields.get("interval", "").strip()) else None}
    if hasattr(entry.source, "hours"):
        values["hours"] = fields.get("hours", "").strip() or None
    change, text = set_entry(entry.kind, entry.source.name, values), _("The schedule of %(name)s was changed.")
    return apply_change(request, change, "source.schedule", key, back, text, values, name=entry.source.name)


def _planned_row(item: VisitedSource, planned: SourceSchedule, visit: Visit, now: datetime) -> dict[str, Any]:
    source = item.source
    settings = rules(config_of(visit.request), source)
    allowed = frozenset(planned.hours_on) if planned.hours_on is not None else settings.hours or frozenset(DAY)
    hours, family = getattr(source, "hours", None), planned.key.partition(":")[0]
    editable = planned.key in visit.portal.by_key
    return {
        "planned": planned, "reason": visit.clock.says(planned.reason), "name": getattr(source, "name", planned.key.partition(":")[2]),
        "kind": visit.say(KINDS[FAMILIES[family]]) if family in FAMILIES else family, "policy": visit.say(POLICIES[planned.policy]),
        "cells": cells(planned.expected, allowed, now.hour), "editable": editable,
        "interval": f"{source.interval:g}" if getattr(source, "interval", None) else "",
        "hours": hour_ranges(hours) if hours and len(hours) < HOURS else "", "has_hours": hours is not None,
        "total": sum(planned.expected) if planned.expected is not None else None,
    }  # fmt: skip


def cells(expected: Sequence[float] | None, allowed: frozenset[int], first: int) -> tuple[Cell, ...]:
    """Return the hours of the day from 0 to 23; ``expected`` begins with the hour ``first``."""
    by_hour = {(first + place) % HOURS: number for place, number in enumerate(expected or ())}
    shades = {hour: sum(number >= step for step in STEPS) for hour, number in by_hour.items()}
    return tuple(Cell(hour, hour * CELL_WIDTH, shades.get(hour, 0), hour in allowed, by_hour.get(hour)) for hour in range(HOURS))


def hour_ranges(hours: Sequence[int]) -> str:
    """Return ``6-9,18-23`` for sorted hours."""
    runs = [[hour for _, hour in run] for _, run in groupby(enumerate(hours), lambda placed: placed[1] - placed[0])]
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


SAMPLE = 2_000  # articles. Their ids are hashes, so the first ones are a random sample; counting them takes about half a second
SECONDS = 3600.0
SUGGESTED = 30


class SuggestionCache:
    """Suggestions of sources, at most ``SECONDS`` old. Thread-safe; one thread at a time counts."""

    def __init__(self, store: Store, sources: Sources) -> None:
        self._store = store
        self._visited: tuple[str, ...] | None = None
        self.follow(sources)

    def follow(self, sources: Sources) -> None:
        """Use a changed ``sources.yaml``: sites that it visits are not suggested."""
        visited = tuple(url for source in sources.all() if isinstance(source, Place) for url in source.addresses)
        if visited != self._visited:
            self._visited = visited
            self._suggestions = CostlyValue(lambda: self._count(visited), "suggestions", SECONDS, spare=0)

    def suggestions(self) -> list[Suggestion]:
        """Return the suggestions. Raises ``StoreError``."""
        return self._suggestions.get()

    def _count(self, visited: Sequence[str]) -> list[Suggestion]:
        counter = SiteCounter(visited)
        for article in islice(self._store.all_articles(), SAMPLE):
            counter.add(article)
        return counter.suggestions(SUGGESTED)


@router.get("/suggestions", dependencies=WATCH)
def suggestions(request: Request) -> Response:
    cache: SuggestionCache = request.app.state.suggestion_cache
    return render(request, "suggestions.html", suggestions=cache.suggestions())


@router.get("/opml")
def opml(portal: PortalDep) -> Response:
    """The enabled feeds of sources.yaml, except those whose URL contains a password or token."""
    public = (feed for feed in portal.config.feeds if feed.enabled and not portal.config.is_secret(feed.url))
    feeds = (Outline(feed.url, feed.name, feed.category) for feed in public)
    headers = {"content-disposition": 'attachment; filename="newsportal.opml"'}
    return Response(write(portal.site.title, feeds, portal.now()), media_type="text/x-opml", headers=headers)
