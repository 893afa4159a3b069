"""Marks of a signed-in reader: read and starred stories, with a feed, and saved searches."""

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import RedirectResponse

from newsportal.portal.access import KEEP, log_change, or_404, require
from newsportal.portal.context import Visit, VisitDep
from newsportal.portal.language import _
from newsportal.portal.preferences import safe_next
from newsportal.portal.reading.compilations import topic_of
from newsportal.portal.reading.feeds import FeedAddresses, list_response, max_stories
from newsportal.portal.reading.search import chips, feed_of
from newsportal.portal.reading.search_query import parse_search
from newsportal.portal.render import address, notify, redirect_with, render, topic_address
from newsportal.portal.request_body import Form
from newsportal.services.accounts import Accounts
from newsportal.services.accounts.marks import MAX_NAME, SearchNotSaved, TooManyStarred
from newsportal.store.lists import cursor, parse_cursor
from newsportal.store.results import Story

router = APIRouter(dependencies=KEEP)
open_router = APIRouter()

PAGE_STORIES = 30
ACTIONS = ("read", "unread", "star", "unstar")
KEY_CHARS = 100


def accounts_and_person(visit: Visit) -> tuple[Accounts, str]:
    assert visit.signed_in is not None  # the routes need Right.KEEP
    return visit.portal.accounts, visit.signed_in.person.id


@router.post("/marks")
def mark_story(request: Request, fields: Form) -> Response:
    """Mark a story: ``star=ID`` (``unstar``, ``read``, ``unread``). Redirects to ``next``, or 204 for scripts; 404 for an unknown story."""
    [(action, story_id), *_rest] = [*((name, fields[name]) for name in ACTIONS if fields.get(name)), ("", "")]
    require(action, 400)
    visit, back = Visit(request), safe_next(fields.get("next"))
    try:
        record(visit, action, story_id)
    except TooManyStarred:
        full = visit.say(_("The maximum number of starred stories is reached; unstar some first."))
        return redirect_with(request, back, full) if wants_page(request) else Response(full, 409, media_type="text/plain")
    return RedirectResponse(back, 303) if wants_page(request) else Response(status_code=204)


def wants_page(request: Request) -> bool:
    """Return whether a form was sent, not our script."""
    return "text/html" in request.headers.get("accept", "")


def record(visit: Visit, action: str, story_id: str) -> None:
    """Save a mark; of a folded story, on the story that contains it. Raises ``TooManyStarred``, and 404 for an unknown story."""
    accounts, person = accounts_and_person(visit)
    story = or_404(visit.portal.store.by_id([story_id]).get(story_id))
    now = visit.portal.now()
    if action in ("star", "unstar"):
        accounts.marks.star(person, story.id, action == "star", now=now)
    else:
        accounts.marks.set_read(person, story.id, action == "read", now=now)


@router.post("/marks/all")
def mark_all(request: Request, visit: VisitDep, fields: Form) -> Response:
    """Mark all stories (of ``?topic=``) as read; offers to undo it."""
    topic = topic_of(visit) or ""
    accounts, person = accounts_and_person(visit)
    accounts.marks.mark_all_read(person, topic, now=visit.portal.now())
    undo = address("/marks/all/undo", topic=topic)
    return notify(request, safe_next(fields.get("next")), _("All these stories are marked as read."), undo=undo)


@router.post("/marks/all/undo")
def undo_all(request: Request, visit: VisitDep) -> Response:
    accounts, person = accounts_and_person(visit)
    topic = visit.text("topic") or ""
    accounts.marks.undo_mark_all_read(person, topic)
    return notify(request, topic_address(topic) if topic else "/latest", _("The previous marks were restored."))


@router.get("/starred")
def list_starred(request: Request, visit: VisitDep) -> Response:
    accounts, person = accounts_and_person(visit)
    before = parse_cursor(visit.text("before"))
    rows = accounts.marks.starred(person, before=before, limit=PAGE_STORIES + 1)
    last = rows[PAGE_STORIES - 1] if len(rows) > PAGE_STORIES else None
    return render(
        request, "starred.html", stories=existing_stories(visit, [story_id for _, story_id in rows[:PAGE_STORIES]]),
        next=address("/starred", before=cursor(*last)) if last else None, first_page="/starred" if before else None,
        feed=feed_addresses(visit, accounts.marks.feed_key(person)),
    )  # fmt: skip


def existing_stories(visit: Visit, ids: list[str]) -> list[Story]:
    """Return the stories in this order, without deleted ones."""
    stories = visit.portal.store.by_id(ids)
    return list({story.id: story for id in ids if (story := stories.get(id)) is not None}.values())


def feed_addresses(visit: Visit, key: str) -> FeedAddresses:
    title = f"{visit.say('Starred')} · {visit.portal.site.title}"
    return FeedAddresses.below("/starred", title, key=key)


@router.post("/starred/key")
def renew_feed_key(request: Request, visit: VisitDep) -> Response:
    """Replace the feed's secret URL; the former one stops working."""
    accounts, person = accounts_and_person(visit)
    accounts.marks.feed_key(person, renew=True)
    log_change(request, "feed.renew", "starred")
    return notify(request, "/starred", _("The feed has a new URL; the old one no longer works."))


@open_router.get("/starred/feed.{ending}")
def feed(visit: VisitDep, ending: str) -> Response:
    """Return the starred stories of the owner of the secret ``?key=``, the last starred first."""
    accounts, key = visit.portal.accounts, visit.text("key", KEY_CHARS)
    person = or_404(accounts.marks.person_of_feed(key) if key else None)
    require(not or_404(accounts.people.get(person)).disabled)
    ids = [story_id for _, story_id in accounts.marks.starred(person, limit=max_stories(ending))]
    heads = [story.head.id for story in existing_stories(visit, ids)]
    response = list_response(visit, ending, feed_addresses(visit, "").title, "/starred", heads)
    response.headers["cache-control"] = f"private, {response.headers['cache-control']}"
    response.headers["referrer-policy"] = "no-referrer"
    return response


MAX_UNDO = 1_500  # characters of a URL that undoes a removal: it travels in a cookie


@router.get("/searches")
def list_searches(request: Request, visit: VisitDep) -> Response:
    accounts, person = accounts_and_person(visit)
    lines = [
        {"search": search, "address": (parsed := parse_search(visit.portal, search.query)).address(), "text": parsed.text,
         "filters": tuple(chip.label for chip in chips(parsed, visit)), "feed": feed_of(parsed, visit)}
        for search in accounts.searches.of(person)
    ]  # fmt: skip
    return render(request, "searches.html", lines=lines, max_length=MAX_NAME)


@router.post("/searches")
def save_search(visit: VisitDep, fields: Form) -> Response:
    """Save the search ``query`` (a query string) as ``name``, or as its words by default."""
    return _save_search(visit, fields.get("query", ""), fields.get("name", "").strip())


def _save_search(visit: Visit, query: str, name: str | None, back: str | None = None) -> Response:
    accounts, person = accounts_and_person(visit)
    search, request = parse_search(visit.portal, query), visit.request
    require(not search.empty, 400)
    back, name = back or search.address(), name or search.text or " · ".join(search.filters.values())
    try:
        saved = accounts.searches.save(person, name[:MAX_NAME], search.address("").removeprefix("?"), now=visit.portal.now())
    except SearchNotSaved:
        return notify(request, back, _("The search was not saved: the limit is reached. Remove one first."))
    log_change(request, "search.keep", saved.id, {"name": saved.name})
    return notify(request, back, _("The search was saved as “%(name)s”."), name=saved.name)


@router.post("/searches/rename")
def rename_search(request: Request, fields: Form) -> Response:
    accounts, person = accounts_and_person(Visit(request))
    search_id, name = fields.get("search", ""), fields.get("name", "")
    try:
        if not accounts.searches.rename(person, search_id, name):
            raise HTTPException(404)
    except SearchNotSaved:
        return notify(request, "/searches", _("A search needs a name; the name was not changed."))
    log_change(request, "search.rename", search_id, {"name": name[:MAX_NAME]})
    return RedirectResponse("/searches", 303)


@router.post("/searches/remove")
def remove_search(request: Request, fields: Form) -> Response:
    accounts, person = accounts_and_person(Visit(request))
    removed = or_404(accounts.searches.remove(person, fields.get("search", "")))
    log_change(request, "search.remove", removed.id, {"name": removed.name})
    undo = address("/searches/back", name=removed.name, query=removed.query)
    return notify(request, "/searches", _("“%(name)s” was removed."), name=removed.name, undo=undo if len(undo) < MAX_UNDO else None)


@router.post("/searches/back")
def restore_search(visit: VisitDep) -> Response:
    """Save a removed search again."""
    return _save_search(visit, visit.text("query", MAX_UNDO) or "", visit.text("name"), "/searches")
