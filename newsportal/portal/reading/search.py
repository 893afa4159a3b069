"""Search pages: results with filters by time, kind, site, topic and category. Any query gets a page, never an error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from newsportal.errors import SearchError
from newsportal.portal.context import Here, Visit
from newsportal.portal.language import _
from newsportal.portal.reading.feeds import FeedAddresses
from newsportal.portal.reading.search_query import FACETS, MAX_PAGES, PAGE, SHOWN_QUERY_CHARS, SearchRequest, search_from, search_index
from newsportal.portal.reading.story_lists import Chip, Choice
from newsportal.portal.render import render
from newsportal.search.base import Results
from newsportal.store.results import is_thread
from newsportal.text import CONTROL, clean

router = APIRouter()

FACET_VALUES = 12
SUGGESTIONS = 8
PROPOSALS = 6
SUGGESTIONS_KEPT = "public, max-age=60"  # titles change slowly, so repeated typing within a minute needs no request
EMPTY = Results(hits=(), total=0)


@dataclass(frozen=True, slots=True)
class Facet:
    label: str
    choices: list[Choice]


@router.get("/search")
def search(request: Request, visit: Here) -> Response:
    asked = search_from(visit.text)
    results, away = run_search(visit, asked)
    return render(
        request, "search.html", query_text=asked.text[:SHOWN_QUERY_CHARS], asked=asked, kept=fields_of(asked),
        kept_but_days=fields_of(asked, {"since": None, "until": None}) | {"q": asked.text[:SHOWN_QUERY_CHARS]}, away=away, results=results,
        sorts=sorts(asked, visit), filters=chips(asked, visit),
        facets=facets(asked, results, visit) if not asked.empty and not away else [],
        proposals=proposals(asked, results, visit) if not asked.empty and not away and not results.total else [],
        later=asked.address(page=asked.page - 1) if asked.page > 1 else None,
        next=asked.address(page=asked.page + 1) if asked.page * PAGE < results.total and results.hits and asked.page < MAX_PAGES else None,
        feed=feed_of(asked, visit) if not asked.empty else None,
    )  # fmt: skip


@router.get("/search/suggest")
def suggest(visit: Here) -> Response:
    """Completions of ``?q=`` in the format of OpenSearch suggestions: the query and a list. Never an error."""
    typed = visit.text("q", SHOWN_QUERY_CHARS) or ""
    return JSONResponse([typed, suggested(visit, typed, SUGGESTIONS)], headers={"cache-control": SUGGESTIONS_KEPT})


def suggested(visit: Visit, typed: str, limit: int) -> list[str]:
    """Return completions of ``typed``; none while search is unavailable, which the page of results reports."""
    try:
        return [clean(one) for one in visit.portal.index.suggest(typed, limit)] if visit.portal.index else []
    except SearchError:
        return []


def fields_of(asked: SearchRequest, changes: Mapping[str, object] | None = None) -> dict[str, str]:
    """Return the hidden fields of a search form. Values that HTML cannot contain (terminal escapes, NUL) are left out."""
    values = {name: value for name, value in asked.parameters(**(changes or {})).items() if name != "q"}
    return {name: str(value) for name, value in values.items() if value and not CONTROL.search(str(value))}


def feed_of(asked: SearchRequest, visit: Visit) -> FeedAddresses:
    """Return the feeds of this search with its filters, newest first whatever the order of the page."""
    title = " · ".join(clean(part)[:60] for part in (asked.text, *asked.filters.values()) if part)
    return FeedAddresses.below("/search", f"{title} · {visit.portal.site.title}", **asked.parameters(sort=None, folds=None))


def run_search(visit: Visit, asked: SearchRequest) -> tuple[Results, str | None]:
    """Return the results, and a message if search is unavailable."""
    if visit.portal.index is None:
        return EMPTY, visit.say("This portal runs without a search index.")
    if asked.empty:
        return EMPTY, None
    try:
        return search_index(visit.portal, visit.portal.index, asked.query(visit.clock.now, visit.clock.zone)), None
    except SearchError:
        return EMPTY, visit.say("Search is unavailable at the moment; everything else works. Please try again in a minute.")


def sorts(asked: SearchRequest, visit: Visit) -> list[Choice]:
    """Without words, relevance is not offered."""
    by_time = Choice(visit.say("By time"), asked.address(sort="time" if asked.text else None), asked.sort == "time" or not asked.text)
    return [Choice(visit.say("By relevance"), asked.address(sort=None), not by_time.chosen), by_time] if asked.text else [by_time]


def choice_labels(visit: Visit) -> dict[str, dict[str | None, str]]:
    """Return the labels of choices that no index counts."""
    say = visit.say
    return {
        "when": {None: say("any time"), "day": say("24 hours"), "week": say("7 days"), "month": say("a month"), "year": say("a year")},
        "kind": {None: say("All kinds"), **kinds(visit)},
        "folds": {None: say("one hit per story"), "open": say("every version")},
    }


def kinds(visit: Visit) -> dict[str | None, str]:
    """Return the kinds of documents in the store."""
    found: dict[str | None, str] = {"article": visit.say("Articles")}
    if any(map(is_thread, visit.portal.tally().by_source)):
        found["thread"] = visit.say("Forum threads")
    return found | ({"photos": visit.say("Photo stories")} if visit.has_photos else {})


def chips(asked: SearchRequest, visit: Visit) -> list[Chip]:
    """Return the active filters, each with a link that removes it."""
    named = choice_labels(visit)
    shown = {"since": visit.say("from %(day)s on"), "until": visit.say("up to %(day)s")}
    return [
        Chip(
            shown[name] % {"day": value} if name in shown else named.get(name, {}).get(value) or clean(value), asked.address(**{name: None})
        )
        for name, value in asked.filters.items()
        if name != "when"
    ]


def facets(asked: SearchRequest, results: Results, visit: Visit) -> list[Facet]:
    """Return the facets: time, then those counted by the index, then how versions are shown."""
    named = choice_labels(visit)
    labels = {"topic": visit.say("Topic"), "site": visit.say("Site"), "category": visit.say("Category"), "day": visit.say("Day")}
    listed = [Facet(visit.say("Time"), all_choices(asked, "when", named["when"]))]
    if len(kinds(visit)) > 1:
        listed.append(Facet(visit.say("Kind"), all_choices(asked, "kind", named["kind"])))
    counted = [Facet(labels[name], choices(asked, name, results.facets.get(name, {}))) for name in FACETS]
    folds = Facet(visit.say("Versions"), all_choices(asked, "folds", named["folds"]))
    return [*listed, *(facet for facet in counted if facet.choices), folds]


def all_choices(asked: SearchRequest, name: str, labels: Mapping[str | None, str]) -> list[Choice]:
    return [Choice(label, asked.address(**{name: key}), getattr(asked, name) == key) for key, label in labels.items()]


def choices(asked: SearchRequest, name: str, counted: Mapping[str, int]) -> list[Choice]:
    """Return the most frequent values of the facet ``name``, for days the newest. The chosen one links to its removal."""
    frequent = [(value, count) for value, count in counted.items() if value]
    now = getattr(asked, name)
    return [
        Choice(clean(value), asked.address(**{name: None if value == now else value}), value == now, count)
        for value, count in frequent[:FACET_VALUES]
    ]


def proposals(asked: SearchRequest, results: Results, visit: Visit) -> list[Choice]:
    """Return other searches when nothing was found: the same without filters, each word by itself, and completions."""
    found = []
    if asked.text and asked.filters:
        found.append(Choice(visit.say(_("“%(query)s” without filters"), query=asked.text[:60]), SearchRequest(asked.text).address()))
    words = [word for word in results.words if len(word) > 1] if len(results.words) > 1 else []
    beginning = asked.text[: max(2, len(asked.text) // 2)]
    words += suggested(visit, beginning, PROPOSALS) if asked.text else []
    found += [Choice(word, SearchRequest(word).address()) for word in dict.fromkeys(words) if word != asked.text]
    return found[:PROPOSALS]
