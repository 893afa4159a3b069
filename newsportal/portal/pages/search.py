"""Search: words in, stories out, narrowed by time, site, topic and category. Whatever is asked, there is an answer and no error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Literal

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from newsportal.errors import SearchError
from newsportal.portal.context import Visit
from newsportal.portal.pages.feeds import feed_addresses
from newsportal.portal.pages.lists import Chip
from newsportal.portal.render import address, render
from newsportal.search.base import MAX_QUERY_CHARS, Query, Results
from newsportal.text import CONTROL, clean

router = APIRouter()

PAGE = 20
MAX_PAGES = 500  # deeper pages cost the index more and are asked for by robots only
SHOWN_QUERY_CHARS = 300  # a query of 10 kB is answered, but not printed in every link
FACETS = ("topic", "site", "category", "day")
FACET_VALUES = 12
SUGGESTIONS = 8
SUGGESTIONS_KEPT = "public, max-age=60"
"""Titles change slowly: who types the same again within a minute need not ask again."""

EMPTY = Results(hits=(), total=0)
SPANS: Mapping[str, timedelta] = {
    "day": timedelta(days=1),
    "week": timedelta(days=7),
    "month": timedelta(days=31),
    "year": timedelta(days=366),
}


@dataclass(frozen=True, slots=True)
class Choice:
    """A link that narrows or widens the search."""

    label: str
    address: str
    chosen: bool = False
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Facet:
    label: str
    choices: list[Choice]


@dataclass(frozen=True, slots=True)
class Asked:
    """The search as asked, checked. What makes no sense is left out."""

    text: str
    when: str | None = None
    sort: Literal["relevance", "time"] = "relevance"
    page: int = 1
    topic: str | None = None
    site: str | None = None
    category: str | None = None
    day: str | None = None

    def address(self, **changes: object) -> str:
        """The address of this search with ``changes``; a changed filter starts at the first page."""
        now: dict[str, object] = {name: getattr(self, name) for name in ("when", *FACETS)}
        now |= {"sort": self.sort if self.sort != "relevance" else None, "page": None, **changes}
        return address("/search", q=self.text[:SHOWN_QUERY_CHARS], **now)

    def query(self, now: datetime, zone: tzinfo) -> Query:
        since = [now.astimezone(UTC) - SPANS[self.when]] if self.when else []
        first = _begins(self.day, zone) if self.day else None
        return Query(
            text=self.text,
            topic=self.topic,
            site=self.site,
            category=self.category,
            since=max([*since, first] if first else since, default=None),
            until=_begins(self.day, zone, 1) if self.day else None,
            sort=self.sort,
            offset=(self.page - 1) * PAGE,
            limit=PAGE,
            zone=zone,
        )


def _begins(day: str, zone: tzinfo, later: int = 0) -> datetime:
    """When a day, or one ``later``, begins in ``zone``."""
    return datetime.combine(date.fromisoformat(day) + timedelta(days=later), time.min, zone).astimezone(UTC)


def _day(said: str | None) -> str | None:
    """A day as the facet says it; the first and last of the calendar have no beginning or end in every zone."""
    try:
        return said if said and 1 < date.fromisoformat(said).year < 9999 and len(said) == 10 else None
    except ValueError:
        return None


def asked_of(visit: Visit) -> Asked:
    """The search in the query's parameters."""
    page, when = visit.text("page") or "", visit.text("when")
    return Asked(
        text=clean(visit.text("q", MAX_QUERY_CHARS) or ""),
        when=when if when in SPANS else None,
        sort="time" if visit.text("sort") == "time" else "relevance",
        page=min(int(page), MAX_PAGES) if page.isdecimal() and len(page) < 6 and int(page) > 0 else 1,
        topic=visit.text("topic"),
        site=visit.text("site"),
        category=visit.text("category"),
        day=_day(visit.text("day")),
    )


@router.get("/search")
def search(request: Request) -> Response:
    visit = Visit(request)
    asked = asked_of(visit)
    results, away = look(visit, asked)
    words = visit.clock.words
    return render(
        request,
        "search.html",
        query_text=asked.text[:SHOWN_QUERY_CHARS],
        kept=kept(asked),
        away=away,
        results=results,
        sorts=[
            Choice(words.gettext("By relevance"), asked.address(sort=None), asked.sort == "relevance"),
            Choice(words.gettext("By time"), asked.address(sort="time"), asked.sort == "time"),
        ],
        filters=[Chip(clean(value), asked.address(**{name: None})) for name in FACETS if (value := getattr(asked, name))],
        facets=facets(asked, results, visit) if asked.text and not away else [],
        later=asked.address(page=asked.page - 1) if asked.page > 1 else None,
        next=asked.address(page=asked.page + 1) if asked.page * PAGE < results.total and results.hits and asked.page < MAX_PAGES else None,
        feed=feed_addresses(f"{asked.text[:60]} · {visit.portal.site.title}", query=asked.text[:SHOWN_QUERY_CHARS]) if asked.text else None,
    )


@router.get("/search/suggest")
def suggest(request: Request) -> Response:
    """What completes ``?q=``, in the form of OpenSearch suggestions: the query, and a list. Never an error."""
    visit = Visit(request)
    typed = visit.text("q", SHOWN_QUERY_CHARS) or ""
    try:
        found = visit.portal.index.suggest(typed, SUGGESTIONS) if visit.portal.index else ()
    except SearchError:  # the page that shows hits tells of it
        found = ()
    return JSONResponse([typed, [clean(one) for one in found]], headers={"cache-control": SUGGESTIONS_KEPT})


def kept(asked: Asked) -> dict[str, str]:
    """What the form sends with other words. A name that no page can show (terminal escapes, NUL) is left out."""
    values = {name: getattr(asked, name) for name in ("when", *FACETS)} | {"sort": asked.sort if asked.sort == "time" else None}
    return {name: value for name, value in values.items() if value and not CONTROL.search(value)}


def look(visit: Visit, asked: Asked) -> tuple[Results, str | None]:
    """The results, and a sentence instead of them when search is away."""
    words = visit.clock.words
    if visit.portal.index is None:
        return EMPTY, words.gettext("This portal runs without a search index.")
    if not asked.text:
        return EMPTY, None
    try:
        return visit.portal.index.search(asked.query(visit.clock.now, visit.clock.zone)), None
    except SearchError:
        return EMPTY, words.gettext("Search is away for the moment; everything else works. Please try again in a minute.")


def facets(asked: Asked, results: Results, visit: Visit) -> list[Facet]:
    """Time first, then what the index counted."""
    said = visit.clock.words.gettext
    spans = {None: said("any time"), "day": said("24 hours"), "week": said("7 days"), "month": said("a month"), "year": said("a year")}
    labels = {"topic": said("Topic"), "site": said("Site"), "category": said("Category"), "day": said("Day")}
    times = Facet(said("Time"), [Choice(label, asked.address(when=key), asked.when == key) for key, label in spans.items()])
    counted = [Facet(labels[name], choices(asked, name, results.facets.get(name, {}))) for name in FACETS]
    return [times, *(facet for facet in counted if facet.choices)]


def choices(asked: Asked, name: str, counted: Mapping[str, int]) -> list[Choice]:
    """The most frequent values of the facet ``name``, the newest days. The one that is chosen offers to be dropped."""
    frequent = [(value, count) for value, count in counted.items() if value]
    now = getattr(asked, name)
    return [
        Choice(clean(value), asked.address(**{name: None if value == now else value}), value == now, count)
        for value, count in frequent[:FACET_VALUES]
    ]
