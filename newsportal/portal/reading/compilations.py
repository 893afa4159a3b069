"""Pages compiled from hundreds of stories: ``/briefing`` (the last 24 hours) and ``/briefing/2026-05-20``, the main events in sentences of
their articles; ``/rising``, words, names and events more frequent than their past predicts; ``/boards``, the hot lists of sources.yaml."""

from dataclasses import replace
from datetime import UTC, date, datetime
from hashlib import blake2b
from typing import Final

from fastapi import APIRouter, HTTPException, Request, Response
from markupsafe import Markup

from newsportal.events.summaries import shorten
from newsportal.portal.access import or_404, require
from newsportal.portal.context import Visit, VisitDep
from newsportal.portal.preferences import last_visit, remember_visit
from newsportal.portal.reading.feed_formats import FORMATS, FeedItem
from newsportal.portal.reading.feeds import FeedAddresses, base_address, feed_response
from newsportal.portal.reading.story_lists import bars, width
from newsportal.portal.render import address, render
from newsportal.services.boards import HotBoard, RisingBoard, compile_board, compile_boards
from newsportal.services.briefing import DAY, Briefing, compile_briefing, day_range, passages
from newsportal.store.boards import Standing
from newsportal.store.lists import ArticleFilter
from newsportal.text import clean

router = APIRouter()

DAYS = 7  # of the feed
COOKIE = "briefed"


@router.get("/briefing")
def today(request: Request, visit: VisitDep) -> Response:
    now = visit.clock.now
    return page(request, visit, None, now - DAY, now)


@router.get("/briefing/feed.{ending}")
def feed(visit: VisitDep, ending: str) -> Response:
    """A feed with one entry per day, optionally of ``?topic=`` only."""
    require(ending in FORMATS)
    topic, base = topic_of(visit), base_address(visit.request)
    today, zone = visit.clock.local(visit.clock.now).date(), visit.portal.site.zone
    days = (today - back * DAY for back in range(1, DAYS + 1))
    entries = [entry(visit, briefing, day, base) for day in days if (briefing := briefing_of(visit, *day_range(day, zone), topic)).events]
    title = " · ".join(part for part in (topic and clean(topic), visit.say("Briefing"), visit.portal.site.title) if part)
    return feed_response(visit, ending, title, address("/briefing", topic=topic), entries)


@router.get("/briefing/{day}")
def one_day(request: Request, visit: VisitDep, day: str) -> Response:
    parsed = day_of(visit, day)
    return page(request, visit, parsed, *day_range(parsed, visit.portal.site.zone))


def day_of(visit: Visit, text: str) -> date:
    """Parse a day. Raises 404 if it is invalid, in the future, or before the first story."""
    try:
        day = date.fromisoformat(text)
        day - 2 * DAY  # the two days before it are needed, too
    except (ValueError, OverflowError) as error:
        raise HTTPException(404) from error
    require(len(text) == 10 and day <= visit.clock.local(visit.clock.now).date() and has_stories(visit, day))
    return day


def has_stories(visit: Visit, day: date) -> bool:
    """Return whether the portal has stories of this day or an earlier one."""
    return bool(visit.portal.store.select_articles(ArticleFilter(until=day_range(day, visit.portal.site.zone)[1], limit=1)).articles)


def topic_of(visit: Visit) -> str | None:
    topic = visit.text("topic")
    return or_404(visit.portal.renamed_topic(topic)) if topic else None


def briefing_of(visit: Visit, since: datetime, until: datetime, topic: str | None) -> Briefing:
    """Return the briefing of a time span, cached for some minutes."""
    store, span = visit.portal.store, (until - since).total_seconds()
    return visit.cached_compilation(lambda: compile_briefing(store, since, until, topic=topic), until, "briefing", span, topic)


def page(request: Request, visit: Visit, day: date | None, since: datetime, until: datetime) -> Response:
    topic = topic_of(visit)
    briefing = briefing_of(visit, since, until, topic)
    previous, cookie = last_visit(request, visit.clock.now, COOKIE)
    today = visit.clock.local(visit.clock.now).date()
    name, before = address("/briefing", topic=topic), (day or today) - DAY
    response = render(
        request, "briefing.html", briefing=briefing, day=day, topic=topic, topics=visit.portal.topics(), passages=passages,
        last_visit=previous, new=sum(event.last > previous for event in briefing.events) if previous else 0,
        earlier=address(f"/briefing/{before}", topic=topic) if has_stories(visit, before) else None,
        later=(address(f"/briefing/{day + DAY}", topic=topic) if day < today else name) if day else None,
        feed=replace(FeedAddresses.below("/briefing", visit.say("Briefing"), topic=topic), csv="", jsonl=""),  # a briefing is no list
    )  # fmt: skip
    if day is None:
        remember_visit(response, cookie, COOKIE)
    return response


def entry(visit: Visit, briefing: Briefing, day: date, base: str) -> FeedItem:
    url = f"{base}{address(f'/briefing/{day}', topic=briefing.topic)}"
    parts = []
    for event in briefing.events:
        parts.append(Markup("<h2>{}</h2>").format(clean(event.title)))
        for quote in passages(event.quotes):
            link = Markup('<a href="{}">{}</a>').format(f"{base}/story/{quote.story}", clean(quote.site))
            parts.append(Markup("<p>{} {}</p>").format(quote.text, link))
    id = blake2b(f"{briefing.topic or ''}\n{day}".encode(), digest_size=16).hexdigest()
    ended = briefing.until.astimezone(UTC)
    title = f"{visit.say('Briefing')} {day}"
    summary = shorten("；".join(clean(event.title) for event in briefing.events), 300)
    return FeedItem(
        f"urn:newsportal:briefing:{id}", title, url, url, ended, ended, summary, str(Markup("\n").join(parts)),
        visit.portal.site.title,
    )  # fmt: skip


SPANS: Final = ("1", "7")  # days of a board, as in `?days=`; the first is the default


@router.get("/rising")
def rising(request: Request, visit: VisitDep) -> Response:
    """``?at=2026-05-20``: the board of that day, from stories fetched by its end."""
    span, at, topic = visit.text("days"), visit.text("at"), topic_of(visit)
    days = span if span in SPANS else SPANS[0]
    day = day_of(visit, at) if at else None
    today = visit.clock.local(visit.clock.now).date()
    try:
        until = min(day_range(day, visit.portal.site.zone)[1], visit.clock.now) if day else visit.clock.now
        board = board_of(visit, until, int(days), topic)
    except OverflowError as error:
        raise HTTPException(404) from error
    last = day or today
    filters = {"days": days if days != SPANS[0] else None, "topic": topic}
    return render(
        request, "rising.html", board=board, days=days, day=day, topic=topic, topics=visit.portal.topics(), width=width,
        bars=lambda counts: bars([(last - (len(counts) - place) * DAY, count) for place, count in enumerate(counts, 1)]),
        link=lambda **other: address("/rising", **{**filters, "at": day, **other}),
        earlier=address("/rising", **filters, at=last - DAY) if has_stories(visit, last - DAY) else None,
        later=address("/rising", **filters, at=day + DAY if day < today else None) if day else None,
    )  # fmt: skip


def board_of(visit: Visit, until: datetime, days: int, topic: str | None) -> RisingBoard:
    """Return the board of the days before ``until``, cached for some minutes. Raises ``OverflowError`` at the limits of ``datetime``."""
    return visit.cached_compilation(lambda: compile_board(visit.portal.store, until, days, topic=topic), until, "rising", days, topic)


WIDTH, HEIGHT = 120, 24  # of the drawing of a curve
BOTTOM: Final = 50  # the rank at the bottom of a drawing; lower ranks are drawn there, too


@router.get("/boards")
def boards(request: Request, visit: VisitDep) -> Response:
    """``?list=NAME``: this list only."""
    boards = boards_of(visit)
    name = visit.text("list")
    selected = [board for board in boards if name in (None, "", board.name, board.key)]
    return render(request, "boards.html", boards=boards, selected=selected or boards, curve=curve, width=WIDTH, height=HEIGHT)


def boards_of(visit: Visit) -> list[HotBoard]:
    """Return all lists, cached for some minutes."""
    portal, now = visit.portal, visit.clock.now
    return visit.cached_compilation(lambda: compile_boards(portal.store, portal.config, now), now, "boards")


def curve(standing: Standing) -> str:
    """Return the points of a polyline, by time: the first rank is at the top."""
    if len(standing.curve) < 2:
        return ""
    first, last = standing.curve[0][0], standing.curve[-1][0]
    span = (last - first).total_seconds() or 1.0
    points = ((WIDTH * (at - first).total_seconds() / span, HEIGHT * (min(rank, BOTTOM) - 1) / (BOTTOM - 1)) for at, rank in standing.curve)
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
