"""The front page: the top story, the hottest stories, a board per topic, and the latest, or ranked boards; and ``/settings``.

Also the portal as a web app: its manifest, its service worker, and ``/offline``, the list of pages saved in the browser.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from datetime import timedelta
from gettext import NullTranslations
from importlib import resources
from typing import Any, Final
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse

from newsportal.items.report import Run
from newsportal.portal.context import Visit, VisitDep
from newsportal.portal.language import LANGUAGES, TAGS, by_day
from newsportal.portal.monitor.runs import failures_of
from newsportal.portal.preferences import CHOICES, TOPICS, allowed_choices, last_visit, remember, remember_visit, safe_next
from newsportal.portal.reading.events import front_events
from newsportal.portal.reading.feeds import feed_addresses
from newsportal.portal.reading.for_you import recommend_some
from newsportal.portal.reading.front_cache import BOARD_STORIES, COUNTED, HOTTEST, LATEST, Board, Front
from newsportal.portal.reading.photos import card_of
from newsportal.portal.render import render, static_address
from newsportal.portal.safe_text import thumbnail
from newsportal.services.accounts import Right
from newsportal.store.gallery_tables import WallFilter
from newsportal.store.results import Story
from newsportal.text import clean

router = APIRouter()

BELOW_TOP_STORY = 3  # shown below a top story without a picture, to fill the column beside the hottest
PHOTOS = 5
FOR_YOU = 4  # a row on the widest screen
MAX_CRAWL_TIME = timedelta(hours=12)  # a crawl without an end that began before that has crashed


@router.get("/")
def home(request: Request, visit: VisitDep) -> Response:
    portal, clock = visit.portal, visit.clock
    by_rank = visit.preferences.boards == "ranked"
    front = portal.fronts.get(portal.topics(), dict(portal.tally().by_topic), clock.now, by_rank=by_rank)
    since, visit_cookie = last_visit(request, clock.now)
    last = next(iter(portal.store.runs(1)), None)
    response = render(
        request, "home.html", by_rank=by_rank, since=since, new=front.new(since), new_capped=front.new(since) >= COUNTED,
        topics=portal.topics(), feed=feed_addresses(portal.site.title),
        running=last if last and not last.ended and clock.now - last.started < MAX_CRAWL_TIME else None,
        last=last if last and last.ended else None, failures=failures_of(last) if last else [], notice=notice(last, clock.words),
        **{"boards": own_boards(visit, front), **(ranked_page(front) if by_rank else time_page(visit, front))},
    )  # fmt: skip
    if front.latest.stories:
        remember_visit(response, visit_cookie)
    return response


def time_page(visit: Visit, front: Front) -> dict[str, Any]:
    """Return the page in chronological order; each story is shown once, at its first place."""
    lead = top_story(front.hot, front.latest.stories)
    placed = {lead.id} if lead else set()

    def first(stories: Iterable[Story], most: int) -> list[Story]:
        new = [story for story in stories if story.id not in placed][:most]
        placed.update(story.id for story in new)
        return new

    hottest = first(front.hot, HOTTEST)
    below = first(front.latest.stories, BELOW_TOP_STORY) if lead and not thumbnail(lead.head.images) else []
    recommendations = [row for row in recommend_some(visit, n=2 * FOR_YOU) if row.story.id not in placed][:FOR_YOU]
    placed.update(row.story.id for row in recommendations)
    wall = visit.portal.store.galleries.wall(WallFilter(limit=2 * PHOTOS)).stories
    photos = [photo for photo in wall if photo.article.story_id not in placed][:PHOTOS]
    placed.update(photo.article.story_id for photo in photos)
    boards = [replace(board, stories=tuple(first(board.stories, BOARD_STORIES))) for board in own_boards(visit, front)]
    return {
        "lead": lead, "events": front_events(visit.portal), "hottest": hottest, "seconds": below,
        "photos": [card_of(visit.portal, photo, visit.clock.words) for photo in photos], "recommendations": recommendations,
        "boards": [board for board in boards if board.stories or not board.count],
        "days": by_day(first(front.latest.stories, LATEST), visit.clock, lambda story: story.head.moment), "more": front.latest.next,
    }  # fmt: skip


def own_boards(visit: Visit, front: Front) -> list[Board]:
    """Return the boards of the reader's topics, in the chosen order; the board of all topics stays first."""
    by_topic = {board.topic: board for board in front.boards}
    topics = visit.preferences.own([topic for topic in by_topic if topic is not None])
    return [*([by_topic[None]] if None in by_topic else []), *(by_topic[topic] for topic in topics)]


def ranked_page(front: Front) -> dict[str, Any]:
    """Return the page of ranked boards, without other parts, so that many boards fit on the screen."""
    lead = next(iter(front.latest.stories), None)
    return {"lead": lead, "hottest": [], "seconds": [], "photos": [], "recommendations": [], "days": [], "more": None}


def top_story(hot: Sequence[Story], latest: Sequence[Story]) -> Story | None:
    """Return the hottest story with a picture and several versions, else the hottest with a picture, else the hottest, else the newest."""
    reported = [story for story in hot if story.count > 1]
    pictured = [story for story in (*reported, *hot, *latest) if thumbnail(story.head.images)]
    return next(iter([*pictured, *reported, *latest]), None)


def notice(last: Run | None, words: NullTranslations) -> str | None:
    """Return a notice if the last crawl found nothing because its list pages failed (mostly without network)."""
    if last is not None and last.ended and last.total.list_failed and not last.total.entries:
        return words.gettext("The last crawl reached none of its sources; these are the stories stored before.")
    return None


@router.get("/settings")
def settings(request: Request, visit: VisitDep) -> Response:
    """Save preferences. ``topics`` with ``topic`` (several): the reader's topics in order; ``up``, ``down``: move one of them."""
    back = safe_next(visit.params.get("next"))
    values = dict(visit.params)
    if TOPICS in visit.params:
        topics = move_topic(visit.params.getlist("topic"), visit.text("up"), visit.text("down"))
        values[TOPICS] = "|".join(quote(topic, safe="") for topic in topics)
    if choices := allowed_choices(values):
        response = RedirectResponse(back if "next" in visit.params else "/settings", 303, headers={"cache-control": "no-store"})
        remember(response, choices)
        if visit.keeps_marks and visit.signed_in is not None:
            visit.portal.accounts.preferences.save(visit.signed_in.person.id, choices)
        return response
    selected, available = visit.preferences.topics, visit.portal.site.topics
    names = dict.fromkeys((*(name for name in selected if name in available), *available))
    offered = [(name, not selected or name in selected) for name in names]
    return render(request, "settings.html", groups=setting_groups(visit), back="/settings", own_topics=offered)


def move_topic(topics: list[str], up: str | None, down: str | None) -> list[str]:
    """Return ``topics`` with one of them moved up or down by one."""
    for name, step in ((up, -1), (down, 1)):
        if name in topics and 0 <= topics.index(name) + step < len(topics):
            place = topics.index(name)
            topics.insert(place + step, topics.pop(place))
    return topics


def setting_groups(visit: Visit) -> list[dict[str, Any]]:
    say = visit.say
    labels = {
        "auto": say("As the system"), "light": say("Light"), "dark": say("Dark"), "serif": say("Serif"), "sans": say("Sans serif"),
        "small": say("Small"), "medium": say("Medium"), "large": say("Large"), "original": say("As published"),
        "simplified": say("Simplified"), "traditional": say("Traditional"), "newest": say("Newest"), "ranked": say("Hottest"),
        **LANGUAGES,
    }  # fmt: skip
    headings = {
        "theme": say("Theme"), "font": say("Reading font"), "size": say("Text size"), "lang": say("Language"),
        "script": say("Chinese script of articles"), "boards": say("Boards of the front page"),
    }  # fmt: skip
    current = {**asdict(visit.preferences), "lang": visit.language}
    values = {**CHOICES, "size": ("small", "medium", "large")}
    return [
        {"key": key, "label": headings[key],
         "choices": [{"value": value, "label": labels[value], "chosen": value == current[key]} for value in values[key]]}
        for key in headings
    ]  # fmt: skip


open_router = APIRouter()

SHORT_CHARS: Final = 12  # characters below an icon
PAPER: Final = "#fcfbf8"  # as in portal.css
ICONS: Final = (("icon-192.png", "192x192", "any"), ("icon-512.png", "512x512", "any"), ("icon-maskable.png", "512x512", "maskable"))
SHARE: Final = {"action": "/sources/new", "method": "GET", "params": {"title": "title", "text": "text", "url": "url"}}


@open_router.get("/manifest.webmanifest")
def manifest(visit: VisitDep) -> Response:
    """Other apps can share URLs to it, if the visitor may add sources."""
    title = clean(visit.portal.site.title)
    content: dict[str, Any] = {
        "id": "/", "start_url": "/", "scope": "/", "name": title, "short_name": title[:SHORT_CHARS], "lang": TAGS[visit.language],
        "display": "standalone", "background_color": PAPER, "theme_color": PAPER,
        "icons": [{"src": static_address(name), "sizes": sizes, "type": "image/png", "purpose": use} for name, sizes, use in ICONS],
    }  # fmt: skip
    if visit.may(Right.EDIT):
        content["share_target"] = SHARE
    headers = {"cache-control": "private, no-cache", "vary": "Accept-Language, Cookie"}
    return JSONResponse(content, media_type="application/manifest+json", headers=headers)


@open_router.get("/service-worker.js")
def service_worker() -> Response:
    """Served at the root, because a service worker only controls pages at and below its own path."""
    script = resources.files("newsportal.portal").joinpath("static", "service-worker.js").read_bytes()
    return Response(script, media_type="text/javascript; charset=utf-8", headers={"cache-control": "no-cache"})


@router.get("/offline")
def offline(request: Request) -> Response:
    return render(request, "offline.html")
