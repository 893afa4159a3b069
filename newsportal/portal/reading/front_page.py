"""The front page: the top story, the hottest, a board a topic, and everything newest first, or ranked boards; and ``/settings``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from gettext import NullTranslations
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from newsportal.items.report import Run
from newsportal.portal.context import Here, Visit
from newsportal.portal.language import LANGUAGES, by_day
from newsportal.portal.monitor.runs import failures_of
from newsportal.portal.preferences import CHOICES, last_visit, remember, remember_visit, safe_next
from newsportal.portal.reading.events import front_events
from newsportal.portal.reading.feeds import feed_addresses
from newsportal.portal.reading.for_you import further
from newsportal.portal.reading.front_cache import COUNTED, HOTTEST, Front
from newsportal.portal.reading.photos import card_of
from newsportal.portal.render import render
from newsportal.portal.safe_text import thumbnail
from newsportal.store.gallery_tables import WallFilter
from newsportal.store.results import Story

router = APIRouter()

SECONDS = 3
PHOTOS = 5
FOR_YOU = 4  # a row of the widest page
RUNNING_FOR = timedelta(hours=12)  # a crawl without an end that began before that was killed


@router.get("/")
def home(request: Request, visit: Here) -> Response:
    portal, clock = visit.portal, visit.clock
    by_rank = visit.chosen.boards == "ranked"
    found = portal.fronts.get(portal.topics(), dict(portal.tally().by_topic), clock.now, by_rank=by_rank)
    since, visit_cookie = last_visit(request, clock.now)
    last = next(iter(portal.store.runs(1)), None)
    answer = render(
        request, "home.html", by_rank=by_rank, since=since, new=found.new(since), many=found.new(since) >= COUNTED, boards=found.boards,
        topics=portal.topics(), feed=feed_addresses(portal.site.title),
        running=last if last and not last.ended and clock.now - last.started < RUNNING_FOR else None,
        last=last if last and last.ended else None, failures=failures_of(last) if last else [], notice=notice(last, clock.words),
        **(ranks(found) if by_rank else stories(visit, found)),
    )  # fmt: skip
    if found.latest.stories:
        remember_visit(answer, visit_cookie)
    return answer


def stories(visit: Visit, found: Front) -> dict[str, Any]:
    """What stands around the boards where they are in the order of time."""
    lead = top_story(found.hot, found.latest.stories)
    hottest = [story for story in found.hot if story != lead][:HOTTEST]
    wall = visit.portal.store.galleries.wall(WallFilter(limit=PHOTOS)).stories
    return {
        "lead": lead,
        "events": front_events(visit.portal),
        "hottest": hottest,
        "seconds": seconds(lead, hottest, found.latest.stories),
        "photos": [card_of(visit.portal, story, visit.clock.words) for story in wall],
        "suggested": further(visit, n=FOR_YOU),
        "days": by_day(found.latest.stories, visit.clock, lambda story: story.head.moment),
        "more": found.latest.next,
    }


def ranks(found: Front) -> dict[str, Any]:
    """Ranked boards stand alone: who chose them wants to see many of them at once."""
    lead = next(iter(found.latest.stories), None)
    return {"lead": lead, "hottest": [], "seconds": [], "photos": [], "suggested": [], "days": [], "more": None}


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
    if last is not None and last.ended and last.total.list_failed and not last.total.entries:
        return words.gettext("The last crawl reached none of its sources; these are the stories stored before.")
    return None


@router.get("/settings")
def settings(request: Request, visit: Here) -> Response:
    back = safe_next(visit.asked.get("next"))
    if any(visit.asked.get(key) in allowed for key, allowed in CHOICES.items()):
        answer = RedirectResponse(back if "next" in visit.asked else "/settings", 303, headers={"cache-control": "no-store"})
        remember(answer, dict(visit.asked))
        return answer
    return render(request, "settings.html", groups=groups(visit), back="/settings")


def groups(visit: Visit) -> list[dict[str, Any]]:
    say = visit.say
    labels = {
        "auto": say("As the system"), "light": say("Light"), "dark": say("Dark"), "serif": say("Serif"), "sans": say("Sans serif"),
        "small": say("Small"), "medium": say("Medium"), "large": say("Large"), "original": say("As published"),
        "simplified": say("Simplified"), "traditional": say("Traditional"), "newest": say("Time line"), "ranked": say("Ranking"),
        **LANGUAGES,
    }  # fmt: skip
    headings = {
        "theme": say("Theme"), "font": say("Reading font"), "size": say("Text size"), "lang": say("Language"),
        "script": say("Chinese script of articles"), "boards": say("Boards of the front page"),
    }  # fmt: skip
    now = {**asdict(visit.chosen), "lang": visit.language}
    shown = {**CHOICES, "size": ("small", "medium", "large")}
    return [
        {"key": key, "label": headings[key],
         "choices": [{"value": value, "label": labels[value], "chosen": value == now[key]} for value in shown[key]]}
        for key in headings
    ]  # fmt: skip
