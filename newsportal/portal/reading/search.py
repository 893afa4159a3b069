"""Search pages: results with filters by time, kind, site, topic and category. Any query gets a page, never an error."""

from collections.abc import Mapping
from dataclasses import dataclass

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from newsportal.errors import SearchError
from newsportal.portal.context import Visit, VisitDep
from newsportal.portal.language import _
from newsportal.portal.reading.feeds import FeedAddresses
from newsportal.portal.reading.search_query import FACETS, MAX_PAGES, PAGE, SHOWN_QUERY_CHARS, SearchRequest, search_from, search_index
from newsportal.portal.reading.story_lists import Choice
from newsportal.portal.render import render
from newsportal.search.base import Results
from newsportal.search.match import wrong_dates
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
def search(request: Request, visit: VisitDep) -> Response:
    search = search_from(visit.text)
    results, away = run_search(visit, search)
    has_more = search.page * PAGE < results.total and results.hits and search.page < MAX_PAGES
    return render(
        request, "search.html", query_text=search.text[:SHOWN_QUERY_CHARS], search=search, hidden_fields=fields_of(search), results=results,
        hidden_fields_without_days=fields_of(search, {"since": None, "until": None}) | {"q": search.text[:SHOWN_QUERY_CHARS]},
        search_error=away, wrong_dates=wrong_dates(search.text), sorts=sorts(search, visit), filters=chips(search, visit),
        facets=facets(search, results, visit) if not search.empty and not away else [],
        proposals=proposals(search, results, visit) if not search.empty and not away and not results.total else [],
        previous=search.address(page=search.page - 1) if search.page > 1 else None,
        next=search.address(page=search.page + 1) if has_more else None, feed=feed_of(search, visit) if not search.empty else None,
    )  # fmt: skip


@router.get("/search/suggest")
def suggest(visit: VisitDep) -> Response:
    """Completions of ``?q=`` in the format of OpenSearch suggestions: the query and a list. Never an error."""
    typed = visit.text("q", SHOWN_QUERY_CHARS) or ""
    return JSONResponse([typed, suggested(visit, typed, SUGGESTIONS)], headers={"cache-control": SUGGESTIONS_KEPT})


def suggested(visit: Visit, typed: str, limit: int) -> list[str]:
    """Return completions of ``typed``; none while search is unavailable, which the page of results reports."""
    try:
        return [clean(completion) for completion in visit.portal.index.suggest(typed, limit)] if visit.portal.index else []
    except SearchError:
        return []


def fields_of(search: SearchRequest, changes: Mapping[str, object] | None = None) -> dict[str, str]:
    """Return the hidden fields of a search form. Values that HTML cannot contain (terminal escapes, NUL) are left out."""
    values = {name: value for name, value in search.parameters(**(changes or {})).items() if name != "q"}
    return {name: str(value) for name, value in values.items() if value and not CONTROL.search(str(value))}


def feed_of(search: SearchRequest, visit: Visit) -> FeedAddresses:
    """Return the feeds of this search with its filters, newest first whatever the order of the page; the files have its order."""
    title = " · ".join(clean(part)[:60] for part in (search.text, *search.filters.values()) if part)
    parameters = search.parameters(sort=search.sort if search.text else None, folds=None)
    return FeedAddresses.below("/search", f"{title} · {visit.portal.site.title}", **parameters)


def run_search(visit: Visit, search: SearchRequest) -> tuple[Results, str | None]:
    """Return the results, and a message if search is unavailable."""
    if visit.portal.index is None:
        return EMPTY, visit.say("This portal runs without a search index.")
    if search.empty:
        return EMPTY, None
    try:
        return search_index(visit.portal, visit.portal.index, search.query(visit.clock.now, visit.clock.zone)), None
    except SearchError:
        return EMPTY, visit.say("Search is unavailable at the moment; everything else works. Please try again in a minute.")


def sorts(search: SearchRequest, visit: Visit) -> list[Choice]:
    """Without words, relevance is not offered."""
    by_time = Choice(visit.say("By time"), search.address(sort="time" if search.text else None), search.sort == "time" or not search.text)
    return [Choice(visit.say("By relevance"), search.address(sort=None), not by_time.chosen), by_time] if search.text else [by_time]


def choice_labels(visit: Visit) -> dict[str, dict[str | None, str]]:
    """Return the labels of choices that no index counts."""
    say = visit.say
    return {
        "when": {None: say("any time"), "day": say("24 hours"), "week": say("7 days"), "month": say("a month"), "year": say("a year")},
        "kind": {None: say("All kinds"), **kinds(visit)},
        "folds": {None: say("one hit per story"), "open": say("every version")},
    }


def kinds(visit: Visit) -> dict[str | None, str]:
    labels: dict[str | None, str] = {"article": visit.say("Articles")}
    if any(map(is_thread, visit.portal.tally().by_source)):
        labels["thread"] = visit.say("Forum threads")
    return labels | ({"photos": visit.say("Photo stories")} if visit.has_photos else {})


def chips(search: SearchRequest, visit: Visit) -> list[Choice]:
    """Return the active filters, each with a link that removes it."""
    labels = choice_labels(visit)
    days = {"since": visit.say("from %(day)s on"), "until": visit.say("up to %(day)s")}
    return [
        Choice(
            days[name] % {"day": value} if name in days else labels.get(name, {}).get(value) or clean(value), search.address(**{name: None})
        )
        for name, value in search.filters.items()
        if name != "when"
    ]


def facets(search: SearchRequest, results: Results, visit: Visit) -> list[Facet]:
    """Return the facets: time, then those counted by the index, then how versions are shown."""
    texts = choice_labels(visit)
    labels = {"topic": visit.say("Topic"), "site": visit.say("Site"), "category": visit.say("Category"), "day": visit.say("Day")}
    leading = [Facet(visit.say("Time"), all_choices(search, "when", texts["when"]))]
    if len(kinds(visit)) > 1:
        leading.append(Facet(visit.say("Kind"), all_choices(search, "kind", texts["kind"])))
    by_index = [Facet(labels[name], choices(search, name, results.facets.get(name, {}))) for name in FACETS]
    folds = Facet(visit.say("Versions"), all_choices(search, "folds", texts["folds"]))
    return [*leading, *(facet for facet in by_index if facet.choices), folds]


def all_choices(search: SearchRequest, name: str, labels: Mapping[str | None, str]) -> list[Choice]:
    return [Choice(label, search.address(**{name: key}), getattr(search, name) == key) for key, label in labels.items()]


def choices(search: SearchRequest, name: str, counts: Mapping[str, int]) -> list[Choice]:
    """Return the most frequent values of the facet ``name``, for days the newest. The chosen one links to its removal."""
    frequent = [(value, count) for value, count in counts.items() if value]
    current = getattr(search, name)
    return [
        Choice(clean(value), search.address(**{name: None if value == current else value}), value == current, count)
        for value, count in frequent[:FACET_VALUES]
    ]


def proposals(search: SearchRequest, results: Results, visit: Visit) -> list[Choice]:
    """Return other searches when nothing was found: the same without filters, each word by itself, and completions."""
    others = []
    if search.text and search.filters:
        others.append(Choice(visit.say(_("“%(query)s” without filters"), query=search.text[:60]), SearchRequest(search.text).address()))
    words = [word for word in results.words if len(word) > 1] if len(results.words) > 1 else []
    beginning = search.text[: max(2, len(search.text) // 2)]
    words += suggested(visit, beginning, PROPOSALS) if search.text else []
    others += [Choice(word, SearchRequest(word).address()) for word in dict.fromkeys(words) if word != search.text]
    return others[:PROPOSALS]
