"""The front page: the top story, what is hottest, a board a topic, and everything newest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from gettext import NullTranslations

from fastapi import APIRouter, Request, Response

from newsportal.portal.context import Visit
from newsportal.portal.moments import by_day
from newsportal.portal.pages.feeds import feed_addresses
from newsportal.portal.pages.photos import card_of
from newsportal.portal.pages.runs import failures_of
from newsportal.portal.reading import thumbnail
from newsportal.portal.recommending import further
from newsportal.portal.render import render
from newsportal.report import Run
from newsportal.storage.base import Store, Story, StoryFilter
from newsportal.storage.galleries import WallFilter

router = APIRouter()

BOARD_STORIES = 5
MAX_BOARDS = 12  # more topics than this are reached through the bar on top; a board is a query
LATEST = 20
HOTTEST = 6
SECONDS = 3
PHOTOS = 5
FOR_YOU = 4  # a row of the widest page
HOT_FOR = timedelta(days=2)  # a story reported everywhere the day before yesterday is no longer the news
RUNNING_FOR = timedelta(hours=12)  # a crawl without an end that began before that was killed


@dataclass(frozen=True, slots=True)
class Board:
    """A topic on the front page. ``count`` is the number of all its stories."""

    topic: str
    count: int
    stories: tuple[Story, ...]


@router.get("/")
def home(request: Request) -> Response:
    visit = Visit(request)
    portal, clock = visit.portal, visit.clock
    counted = dict(portal.tally().by_topic)
    latest = portal.store.stories(StoryFilter(limit=LATEST))
    hot = portal.store.stories(StoryFilter(order="hottest", since=clock.now - HOT_FOR, limit=HOTTEST + 1)).stories
    lead = top_story(hot, latest.stories)
    hottest = [story for story in hot if story != lead][:HOTTEST]
    last = next(iter(portal.store.runs(1)), None)
    return render(
        request,
        "home.html",
        lead=lead,
        hottest=hottest,
        seconds=seconds(lead, hottest, latest.stories),
        photos=[card_of(portal, story, clock.words) for story in portal.store.galleries.wall(WallFilter(limit=PHOTOS)).stories],
        suggested=further(visit, n=FOR_YOU),
        boards=boards(portal.store, portal.topics(), counted),
        days=by_day(latest.stories, clock, lambda story: story.head.moment),
        more=latest.next,
        topics=portal.topics(),
        feed=feed_addresses(portal.site.title),
        running=last if last and not last.ended and clock.now - last.started < RUNNING_FOR else None,
        last=last if last and last.ended else None,
        failures=failures_of(last) if last else [],
        notice=notice(last, clock.words),
    )


def boards(store: Store, topics: Sequence[str], counted: dict[str, int]) -> list[Board]:
    """A board for each of the first topics."""
    return [
        Board(topic, counted.get(topic, 0), store.stories(StoryFilter(topic=topic, limit=BOARD_STORIES)).stories)
        for topic in topics[:MAX_BOARDS]
    ]


def top_story(hot: Sequence[Story], latest: Sequence[Story]) -> Story | None:
    """The hottest story that has a picture and that several brought, else the hottest, else the newest."""
    reported = [story for story in hot if story.count > 1]
    pictured = [story for story in reported if thumbnail(story.head.images)]
    return next(iter([*pictured, *reported, *(story for story in latest if thumbnail(story.head.images)), *latest]), None)


def seconds(lead: Story | None, hottest: Sequence[Story], latest: Sequence[Story]) -> list[Story]:
    """What stands below a top story without a picture, so that the column is as long as the hottest beside it."""
    if lead is None or thumbnail(lead.head.images):
        return []
    shown = {lead.id, *(story.id for story in hottest)}
    return [story for story in latest if story.id not in shown][:SECONDS]


def notice(last: Run | None, words: NullTranslations) -> str | None:
    """A line above the stories when the last crawl brought nothing because its list pages failed (no network, mostly)."""
    if last is None or not last.ended:
        return None
    total = last.total
    if total.list_failed and not total.entries:
        return words.gettext("The last crawl reached none of its sources; these are the stories stored before.")
    return None
