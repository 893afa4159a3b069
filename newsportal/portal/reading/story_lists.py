"""Lists of stories: all (``/latest``) and by topic (``/topic/旅游``), with the topic's figures; newest or hottest first, filtered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final

from fastapi import APIRouter, Response
from fastapi.responses import RedirectResponse

from newsportal.portal.access import or_404
from newsportal.portal.context import Visit, VisitDep
from newsportal.portal.language import by_day
from newsportal.portal.reading.feeds import FILTERS, feed_addresses
from newsportal.portal.render import address, render, topic_address
from newsportal.portal.wording import display_name_function
from newsportal.search.overview import Overview
from newsportal.store.results import Order, Story, StoryFilter, StoryPage
from newsportal.text import clean

STEP: Final = 20
GAP: Final = 4
HEIGHT: Final = 96
MIN_HEIGHT: Final = 2  # minimum height of a day that is not empty


@dataclass(frozen=True, slots=True)
class Bar:
    """A day; ``x``, ``y`` and ``height`` in units of the drawing."""

    day: date
    count: int
    x: int
    y: int
    height: int


def bars(days: Sequence[tuple[date, int]]) -> tuple[Bar, ...]:
    most = max((count for _, count in days), default=0)
    heights = (max(MIN_HEIGHT, round(HEIGHT * count / most)) if count else 0 for _, count in days)
    placed = zip(range(0, len(days) * STEP, STEP), days, heights, strict=True)
    return tuple(Bar(day, count, x, HEIGHT - tall, tall) for x, (day, count), tall in placed)


def width(days: Sequence[tuple[date, int]]) -> int:
    return max(0, len(days) * STEP - GAP)


router = APIRouter()

PAGE = 30
MAX_PAGES_READ = 20  # pages of a list that are searched for unread stories: the last few days of a large portal
MAX_SHARES = 8  # sites and categories shown on a topic's page: the most frequent


@dataclass(frozen=True, slots=True)
class Choice:
    """A link that narrows or widens a list or a search; for an active filter, one that removes it."""

    label: str
    address: str
    chosen: bool = False
    count: int | None = None


@dataclass(frozen=True, slots=True)
class TopicFigures:
    whole: Overview
    bars: tuple[Bar, ...]
    width: int
    sites: tuple[Choice, ...]
    categories: tuple[Choice, ...]


@router.get("/latest")
def latest(visit: VisitDep) -> Response:
    return listing(visit, "/latest", None, visit.say("Latest"))


@router.get("/topic/{name:path}")
def topic(visit: VisitDep, name: str) -> Response:
    if name not in visit.portal.topics():
        return RedirectResponse(topic_address(or_404(visit.portal.renamed_topic(name))), 302)
    return listing(visit, topic_address(name), name, clean(name))


def unread_page(visit: Visit, selection: StoryFilter) -> StoryPage:
    """Return the next ``PAGE`` or more unread stories of the list; reads at most ``MAX_PAGES_READ`` pages, not the archive."""
    unread: list[Story] = []
    for _ in range(MAX_PAGES_READ):
        page = visit.portal.store.stories(selection)
        marked = visit.marks_on([story.id for story in page.stories])
        unread += [story for story in page.stories if not marked.read(story)]
        if page.next is None or len(unread) >= PAGE:
            return StoryPage(tuple(unread), page.next)
        selection = replace(selection, before=page.next)
    return StoryPage(tuple(unread), selection.before)


def topic_figures(stats: Overview, path: str) -> TopicFigures:
    def shares(name: str, counts: Mapping[str, int]) -> tuple[Choice, ...]:
        frequent = list(counts.items())[:MAX_SHARES]
        return tuple(Choice(clean(value), address(path, **{name: value}), count=count) for value, count in frequent if clean(value))

    return TopicFigures(stats, bars(stats.days), width(stats.days), shares("site", stats.sites), shares("category", stats.categories))


def listing(visit: Visit, path: str, topic: str | None, heading: str) -> Response:
    """Show the list at ``path``, filtered by the query parameters. A filter without matches gives an empty list, not an error."""
    filters = {name: visit.text(name) for name in FILTERS}
    order: Order = "hottest" if visit.text("order") == "hottest" else "newest"
    before = visit.text("before")
    selection = StoryFilter(topic, filters["category"], filters["source"], filters["site"], order=order, before=before, limit=PAGE)
    unread = visit.keeps_marks and visit.text("show") == "unread"
    page = unread_page(visit, selection) if unread else visit.portal.store.stories(selection)
    overview = visit.portal.overview(topic) if topic and not before and not any(filters.values()) else None
    show = "unread" if unread else None
    params: dict[str, Any] = {"order": "hottest" if order == "hottest" else None, **filters, "show": show}
    source = display_name_function(visit.portal, visit.clock.words)
    labels = {name: source(value) if name == "source" else value for name, value in filters.items() if value}
    title = " · ".join(part for part in (topic, *labels.values(), visit.portal.site.title) if part)
    return render(
        visit.request, "list.html", heading=heading, topic=topic, topics=visit.portal.topics(),
        count=visit.portal.tally().by_topic.get(topic, 0) if topic and not any(filters.values()) else None, order=order,
        newest=address(path, **filters, show=show), hottest=address(path, order="hottest", **filters, show=show), unread=unread,
        toggle_unread=address(path, **{**params, "show": None if unread else "unread"}), current_url=address(path, **params),
        filters=[Choice(clean(value), address(path, **{**params, name: None})) for name, value in labels.items()],
        overview=topic_figures(overview, path) if overview and overview.reports else None,
        days=by_day(page.stories, visit.clock, lambda story: story.head.moment) if order == "newest" else [], stories=page.stories,
        next=address(path, **params, before=page.next) if page.next else None, first_page=address(path, **params) if before else None,
        feed=feed_addresses(title, topic, {**filters, "order": params["order"]}),
        refusals=visit.refusals([topic])[topic] if topic and visit.may("edit") else (),
    )  # fmt: skip
