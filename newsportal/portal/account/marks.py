"""Marks of a signed-in reader: read and starred stories, with a feed, and saved searches."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import RedirectResponse

from newsportal.portal.access import KEEP, log, or_404
from newsportal.portal.context import Here, Visit
from newsportal.portal.language import _
from newsportal.portal.preferences import safe_next
from newsportal.portal.reading.feeds import FeedAddresses, answer, entries_of
from newsportal.portal.reading.search import chips, feed_of
from newsportal.portal.reading.search_query import SearchRequest, parse_search
from newsportal.portal.render import address, notify, redirect_with, render, topic_address
from newsportal.portal.request_body import Form
from newsportal.services.accounts import Accounts
from newsportal.services.accounts.marks import MAX_NAME, SearchNotSaved, TooManyStarred
from newsportal.store.lists import cursor, edge
from newsportal.store.results import Story

router = APIRouter(dependencies=KEEP)
open_router = APIRouter()

PAGE = 30
ACTIONS = ("read", "unread", "star", "unstar")
KEY_CHARS = 100


def mine(visit: Visit) -> tuple[Accounts, str]:
    """Return the accounts and the id of the signed-in person."""
    assert visit.signed_in is not None  # the routes need Right.KEEP
    return visit.portal.accounts, visit.signed_in.person.id


@router.post("/marks")
def mark(request: Request, sent: Form) -> Response:
    """Mark a story: ``star=ID`` (``unstar``, ``read``, ``unread``). Redirects to ``next``, or 204 for scripts; 404 for an unknown story."""
    [(action, story_id), *_rest] = [*((name, sent[name]) for name in ACTIONS if sent.get(name)), ("", "")]
    if not action:
        raise HTTPException(400)
    visit, back = Visit(request), safe_next(sent.get("next"))
    try:
        record(visit, action, story_id)
    except TooManyStarred:
        full = visit.say(_("That is as many starred stories as are kept; take the star off some first."))
        return redirect_with(request, back, full) if wants_page(request) else Response(full, 409, media_type="text/plain")
    return RedirectResponse(back, 303) if wants_page(request) else Response(status_code=204)


def wants_page(request: Request) -> bool:
    """Return whether a form was sent, not our script."""
    return "text/html" in request.headers.get("accept", "")


def record(visit: Visit, action: str, story_id: str) -> None:
    """Save a mark; of a folded story, on the story that contains it. Raises ``TooManyStarred``, and 404 for an unknown story."""
    accounts, person = mine(visit)
    found = or_404(visit.portal.store.listed([story_id]).get(story_id))
    now = visit.portal.now()
    if action in ("star", "unstar"):
        accounts.marks.star(person, found.id, action == "star", now=now)
    else:
        accounts.marks.set_read(person, found.id, action == "read", now=now)


@router.post("/marks/all")
def mark_all(request: Request, visit: Here, sent: Form) -> Response:
    """Mark all stories (of ``?topic=``) as read; offers to undo it."""
    topic = visit.text("topic") or ""
    accounts, person = mine(visit)
    if topic and topic not in visit.portal.topics():
        raise HTTPException(404)
    accounts.marks.catch_up(person, topic, now=visit.portal.now())
    undo = address("/marks/all/undo", topic=topic)
    return notify(request, safe_next(sent.get("next")), _("All these stories are marked as read."), undo=undo)


@router.post("/marks/all/undo")
def undo_all(request: Request, visit: Here) -> Response:
    accounts, person = mine(visit)
    topic = visit.text("topic") or ""
    accounts.marks.undo_catch_up(person, topic)
    return notify(request, topic_address(topic) if topic else "/latest", _("They are as they were before."))


@router.get("/starred")
def starred(request: Request, visit: Here) -> Response:
    accounts, person = mine(visit)
    before = edge(visit.text("before"))
    rows = accounts.marks.starred(person, before=before, limit=PAGE + 1)
    last = rows[PAGE - 1] if len(rows) > PAGE else None
    return render(
        request, "starred.html", stories=there(visit, [story_id for _, story_id in rows[:PAGE]]),
        next=address("/starred", before=cursor(*last)) if last else None, later="/starred" if before else None,
        feed=feed_addresses(visit, accounts.marks.feed_key(person)),
    )  # fmt: skip


def there(visit: Visit, ids: list[str]) -> list[Story]:
    """Return the stories in this order, without deleted ones."""
    found = visit.portal.store.listed(ids)
    return list({story.id: story for id in ids if (story := found.get(id)) is not None}.values())


def feed_addresses(visit: Visit, key: str) -> FeedAddresses:
    title = f"{visit.say('Starred')} · {visit.portal.site.title}"
    return FeedAddresses.below("/starred", title, key=key)


@router.post("/starred/key")
def new_key(request: Request, visit: Here) -> Response:
    """Replace the feed's secret URL; the former one stops working."""
    accounts, person = mine(visit)
    accounts.marks.feed_key(person, anew=True)
    log(request, "feed.renew", "starred")
    return notify(request, "/starred", _("The feed has a new address; the former one no longer works."))


@open_router.get("/starred/feed.{ending}")
def feed(visit: Here, ending: str) -> Response:
    """Return the starred stories of the owner of the secret ``?key=``, the last starred first."""
    accounts, key = visit.portal.accounts, visit.text("key", KEY_CHARS)
    person = accounts.marks.person_of_feed(key) if key else None
    owner = accounts.people.get(person) if person is not None else None
    if person is None or owner is None or owner.disabled:
        raise HTTPException(404)
    ids = [story_id for _, story_id in accounts.marks.starred(person, limit=entries_of(ending))]
    found = answer(visit, ending, feed_addresses(visit, "").title, "/starred", [story.head.id for story in there(visit, ids)])
    found.headers["cache-control"] = f"private, {found.headers['cache-control']}"
    found.headers["referrer-policy"] = "no-referrer"
    return found


MAX_UNDO = 1_500  # characters of a URL that undoes a removal: it travels in a cookie


@router.get("/searches")
def searches(request: Request, visit: Here) -> Response:
    accounts, person = mine(visit)
    lines = [
        {"search": search, "address": (asked := parse_search(search.asked)).address(), "text": asked.text,
         "filters": tuple(chip.label for chip in chips(asked, visit)), "feed": feed_of(asked, visit)}
        for search in accounts.searches.of(person)
    ]  # fmt: skip
    return render(request, "searches.html", lines=lines, most=MAX_NAME)


@router.post("/searches")
def keep(request: Request, sent: Form) -> Response:
    """Save the search ``asked`` (a query string) as ``name``, or as its words by default."""
    asked = parse_search(sent.get("asked", ""))
    if asked.empty:
        raise HTTPException(400)
    return _keep(request, asked, sent.get("name", "").strip() or named_by(asked), asked.address())


def named_by(asked: SearchRequest) -> str:
    """Return the default name of a search."""
    return asked.text or " · ".join(asked.filters.values())


def _keep(request: Request, asked: SearchRequest, name: str, back: str) -> Response:
    visit = Visit(request)
    accounts, person = mine(visit)
    try:
        kept = accounts.searches.keep(person, name[:MAX_NAME], asked.address("").removeprefix("?"), now=visit.portal.now())
    except SearchNotSaved:
        return notify(request, back, _("The search was not saved: the limit is reached. Remove one first."))
    log(request, "search.keep", kept.id, {"name": kept.name})
    return notify(request, back, _("The search was saved as “%(name)s”."), name=kept.name)


@router.post("/searches/rename")
def rename(request: Request, sent: Form) -> Response:
    accounts, person = mine(Visit(request))
    search_id, name = sent.get("search", ""), sent.get("name", "")
    try:
        if not accounts.searches.rename(person, search_id, name):
            raise HTTPException(404)
    except SearchNotSaved:
        return notify(request, "/searches", _("A search needs a name; the name was not changed."))
    log(request, "search.rename", search_id, {"name": name[:MAX_NAME]})
    return RedirectResponse("/searches", 303)


@router.post("/searches/remove")
def remove(request: Request, sent: Form) -> Response:
    accounts, person = mine(Visit(request))
    removed = or_404(accounts.searches.remove(person, sent.get("search", "")))
    log(request, "search.remove", removed.id, {"name": removed.name})
    undo = address("/searches/back", name=removed.name, asked=removed.asked)
    return notify(request, "/searches", _("“%(name)s” was removed."), name=removed.name, undo=undo if len(undo) < MAX_UNDO else None)


@router.post("/searches/back")
def back(request: Request, visit: Here) -> Response:
    """Save a removed search again."""
    asked = parse_search(visit.text("asked", MAX_UNDO) or "")
    if asked.empty:
        raise HTTPException(400)
    return _keep(request, asked, visit.text("name") or named_by(asked), "/searches")
