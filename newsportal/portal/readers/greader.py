"""The Google Reader API as FreshRSS provides it, below ``/api/greader.php``. Apps sign in with a token of the person."""

import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from math import ceil
from typing import Any, Final

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import PlainTextResponse

from newsportal.portal.access import KEEP, ApiError, address_of, api_error_for, log_change, may, or_404
from newsportal.portal.api.sources import NewSource, create_source
from newsportal.portal.context import Visit, VisitDep
from newsportal.portal.readers.streams import (
    ALL,
    READ,
    STARRED,
    STATE,
    Stream,
    StreamQuery,
    Streams,
    Subscription,
    parse_moment,
    parse_stream,
)
from newsportal.portal.reading.feeds import entry_of
from newsportal.portal.request_body import GREADER, Form, FormFields
from newsportal.services.accounts import Right
from newsportal.services.accounts.base import digest
from newsportal.services.accounts.marks import SearchNotSaved, TooManyStarred
from newsportal.services.accounts.people import normalised_name
from newsportal.store.results import Story

LONG_ID: Final = "tag:google.com,2005:reader/item/"
LIMIT: Final = 20  # default number of items of a response, as Google's
MAX_IDS, MAX_CONTENTS = 10_000, 250
MAX_UNREAD: Final = 5_000
USER: Final = f"user/-{STATE}"
LABEL: Final = "user/-/label/"
TOKEN_CHARS: Final = 57  # length of a token for changes, as Google's

open_router = APIRouter(prefix=GREADER)


@open_router.post("/accounts/ClientLogin")
def client_login(request: Request, visit: VisitDep, fields: Form) -> Response:
    """Sign in: ``Email`` is the person's name, ``Passwd`` a token, which later requests send as ``GoogleLogin auth=``."""
    name, secret = (fields.get(key) or request.query_params.get(key) or "" for key in ("Email", "Passwd"))
    accounts, now, address = visit.portal.accounts, visit.portal.now(), address_of(request)
    if wait := accounts.attempts.begin(name, address, now=now):
        return PlainTextResponse("Error=CaptchaRequired\n", 429, headers={"retry-after": str(ceil(wait.total_seconds()))})
    signed = accounts.tokens.authenticate(secret, now=now)
    if signed is None or normalised_name(signed.person.name) != normalised_name(name) or not signed.may(Right.KEEP):
        return PlainTextResponse("Error=BadAuthentication\n", 401)
    accounts.attempts.record_success(name, address, now=now)
    return PlainTextResponse(f"SID={secret}\nLSID=null\nAuth={secret}\n")


def limit_rate(visit: VisitDep) -> None:
    """Raise 429 for an app that sends too many requests."""
    if visit.signed_in is not None and not visit.portal.pace.allows(f"app {visit.signed_in.credential}"):
        raise ApiError(429, "too-many", "Too many requests of this app.", "Wait as long as Retry-After says.")


router = APIRouter(prefix=GREADER, dependencies=[*KEEP, Depends(limit_rate)])
api = APIRouter(prefix="/reader/api/0")


@router.get("")
@router.get("/")
@router.get("/check/compatibility")
def check() -> Response:
    return PlainTextResponse("OK")


@api.get("/token")
def token(visit: VisitDep) -> Response:
    """The value that apps send as ``T`` with changes. It is not checked: each request is authenticated by its header."""
    assert visit.signed_in is not None
    return PlainTextResponse(digest(visit.signed_in.credential)[:TOKEN_CHARS])


@api.get("/user-info")
def user_info(visit: VisitDep) -> dict[str, str]:
    assert visit.signed_in is not None
    person = visit.signed_in.person
    return {"userId": person.id, "userName": person.name, "userProfileId": person.id, "userEmail": person.name}


@api.get("/preference/list")
def preferences() -> dict[str, list[str]]:
    return {"prefs": []}


@api.get("/preference/stream/list")
def stream_preferences() -> dict[str, dict[str, str]]:
    return {"streamprefs": {}}


@api.get("/tag/list")
def tags(visit: VisitDep) -> dict[str, Any]:
    folders = Streams(visit).subscriptions.folders.values()
    return {"tags": [{"id": USER + STARRED}, *({"id": LABEL + name, "type": "folder"} for name in folders)]}


@api.get("/subscription/list")
def subscriptions(visit: VisitDep) -> dict[str, Any]:
    feeds = Streams(visit).subscriptions
    rows = [
        {"id": feed.id, "title": feed.title, "categories": [{"id": LABEL + feeds.folders[feed.kind], "label": feeds.folders[feed.kind]}],
         "url": feed.url, "htmlUrl": feed.home, "iconUrl": f"{feeds.base}/favicon.ico", "sortid": f"{place:08X}"}
        for place, feed in enumerate(feeds.all)
    ]  # fmt: skip
    return {"subscriptions": rows}


@api.get("/unread-count")
def unread_count(visit: VisitDep) -> dict[str, Any]:
    """Unread counts of every feed, every folder and of everything. Each story is counted in the one feed in which apps show it."""
    streams = Streams(visit)
    counts: Counter[str] = Counter()
    newest: dict[str, datetime] = {}
    for story in streams.unread(MAX_UNREAD):
        home = streams.subscriptions.home_of(story)
        for id in (USER + ALL, *((home.id, LABEL + streams.subscriptions.folders[home.kind]) if home else ())):
            counts[id] += 1
            newest[id] = max(story.first_seen, newest.get(id, story.first_seen))
    rows = [{"id": id, "count": count, "newestItemTimestampUsec": microseconds(newest[id])} for id, count in counts.items()]
    return {"max": MAX_UNREAD, "unreadcounts": rows}


def microseconds(moment: datetime) -> str:
    return f"{int(moment.timestamp())}{moment.microsecond:06}"


@api.get("/stream/items/ids")
def item_ids(visit: VisitDep) -> dict[str, Any]:
    streams = Streams(visit)
    stories, continuation = streams.read(_stream(streams, visit.params.get("s") or USER + ALL), _stream_query(visit, MAX_IDS))
    numbers = _numbers(visit, stories)
    rows = [
        {"id": str(numbers[story.id]), "directStreamIds": [], "timestampUsec": microseconds(story.first_seen)}
        for story in stories
    ]  # fmt: skip
    return {"itemRefs": rows, **({"continuation": continuation} if continuation else {})}


@api.get("/stream/contents")
@api.get("/stream/contents/{stream:path}")
def contents(visit: VisitDep, stream: str = "") -> dict[str, Any]:
    streams, id = Streams(visit), stream or visit.params.get("s") or USER + ALL
    selected = _stream(streams, id)
    stories, continuation = streams.read(selected, _stream_query(visit, MAX_CONTENTS))
    title = selected.of.title if selected.of else visit.portal.site.title
    result = {"direction": "ltr", "id": id, "title": title, "updated": int(visit.portal.now().timestamp())}
    return result | {"items": _items(visit, streams, stories, selected.of), **({"continuation": continuation} if continuation else {})}


@api.get("/stream/items/contents")
def item_contents_by_address(visit: VisitDep) -> dict[str, Any]:
    return item_contents(visit, FormFields())


@api.post("/stream/items/contents")
def item_contents(visit: VisitDep, fields: Form) -> dict[str, Any]:
    numbers = _parse_ids((fields.getlist("i") or visit.params.getlist("i"))[:MAX_IDS])
    by_number = visit.portal.accounts.items.stories(numbers)
    stories = visit.portal.store.by_id(list(by_number.values()))
    by_id = {stories[id].id: stories[id] for number in numbers if (id := by_number.get(number, "")) in stories}
    items = _items(visit, Streams(visit), list(by_id.values()), None)
    return {"direction": "ltr", "id": USER + ALL, "title": visit.portal.site.title, "updated": 0, "items": items}


@api.post("/edit-tag")
def edit_tag(visit: VisitDep, fields: Form) -> Response:
    """Add tags ``a`` to items ``i`` and remove tags ``r``: ``read``, ``kept-unread``, ``starred``. Other tags are ignored."""
    added, removed = ({tag.rpartition("/")[2] for tag in fields.getlist(name)} for name in ("a", "r"))
    read = True if READ in added else False if READ in removed or "kept-unread" in added else None
    starred = True if STARRED in added else False if STARRED in removed else None
    streams, numbers = Streams(visit), _parse_ids(fields.getlist("i"))
    with api_error_for(TooManyStarred, status=409, code="too-many-starred", remedy="Take the star off some first."):
        streams.mark(list(visit.portal.accounts.items.stories(numbers).values()), read=read, starred=starred)
    return PlainTextResponse("OK")


@api.post("/mark-all-as-read")
def mark_all(visit: VisitDep, fields: Form) -> Response:
    streams = Streams(visit)
    streams.mark_all(_stream(streams, fields.get("s") or USER + ALL), parse_moment(fields.get("ts")))
    return PlainTextResponse("OK")


@api.post("/subscription/edit")
def edit_subscription(request: Request, visit: VisitDep, fields: Form) -> Response:
    """Rename or remove a saved search; add a feed, for editors. Topics and sources are the same for all readers."""
    streams, id, action = Streams(visit), fields.get("s", ""), fields.get("ac")
    feed = streams.subscriptions.by_id.get(id)
    if action == "subscribe" and feed is None:
        _add_feed(request, id.removeprefix("feed/"), fields.get("t"))
    elif feed is None:
        raise ApiError(404, "no-subscription", "There is no such subscription.", "See subscription/list.")
    elif feed.kind == "search" and action == "unsubscribe":
        streams.accounts.searches.remove(streams.person, feed.key)
        log_change(request, "search.remove", feed.key, {"name": feed.title})
    elif feed.kind == "search" and action == "edit" and fields.get("t"):
        with api_error_for(SearchNotSaved, status=400, code="name-missing"):
            streams.accounts.searches.rename(streams.person, feed.key, fields["t"])
        log_change(request, "search.rename", feed.key, {"name": fields["t"]})
    elif action != "subscribe":
        raise ApiError(403, "not-allowed", "Topics and sources are the same for all readers.", "Editors change them on the desk.")
    return PlainTextResponse("OK")


@api.post("/subscription/quickadd")
def quick_add(request: Request, fields: Form) -> dict[str, Any]:
    url = (fields.get("quickadd") or request.query_params.get("quickadd") or "").removeprefix("feed/")
    key = _add_feed(request, url, None)
    return {"numResults": 1, "query": url, "streamId": f"feed/source/{key}", "streamName": key.partition(":")[2]}


@api.post("/rename-tag")
@api.post("/disable-tag")
def refuse_tag_change() -> Response:
    raise ApiError(403, "not-allowed", "The folders are the kinds of feeds: topics, sources, saved searches.")


router.include_router(api)


def _add_feed(request: Request, url: str, title: str | None) -> str:
    """Add a feed and return its key. Raises ``ApiError`` without the right to edit, and if sources.yaml would be invalid."""
    if not may(request, Right.EDIT):
        raise ApiError(403, "not-allowed", "Only an editor's token adds sources.", "Ask an editor, or take a token with the right to edit.")
    if not re.match("https?://", url):
        raise ApiError(422, "not-valid", "A feed has an address that begins with http:// or https://.")
    return create_source(request, NewSource(kind="feeds", values={"name": title or url.split("/")[2], "url": url})).key


def _stream(streams: Streams, id: str) -> Stream:
    return or_404(parse_stream(id, streams.subscriptions), "no-stream", "There is no such stream.", "See subscription/list and tag/list.")


def _stream_query(visit: Visit, max_limit: int) -> StreamQuery:
    excluded, included = ({id.rpartition("/")[2] for id in visit.params.getlist(name)} for name in ("xt", "it"))
    return StreamQuery(
        limit=max(1, min(visit.integer("n", LIMIT), max_limit)), cursor=visit.text("c"), oldest_first=visit.params.get("r") == "o",
        unread=True if READ in excluded else False if READ in included else None,
        starred=True if STARRED in included else False if STARRED in excluded else None,
        since=parse_moment(visit.params.get("ot")), until=parse_moment(visit.params.get("nt")),
    )  # fmt: skip


def _numbers(visit: Visit, stories: Sequence[Story]) -> dict[str, int]:
    visit.portal.accounts.items.follow(visit.portal.store)
    return visit.portal.accounts.items.of([story.id for story in stories])


def _parse_ids(ids: Sequence[str]) -> list[int]:
    """Parse item ids: long (``tag:google.com,…``), hexadecimal with 16 digits, or decimal; others are ignored."""
    numbers = []
    for id in ids:
        short = id.removeprefix(LONG_ID)
        hexadecimal = short != id or len(short) == 16
        if re.fullmatch("[0-9a-fA-F]{1,16}" if hexadecimal else "[0-9]{1,18}", short):
            numbers.append(int(short, 16 if hexadecimal else 10))
    return [number for number in numbers if number < 2**63]


def _items(visit: Visit, streams: Streams, stories: Sequence[Story], of: Subscription | None) -> list[dict[str, Any]]:
    """``of``: the feed whose stream was requested; by default the feed in which apps show each story."""
    numbers, marked, base = _numbers(visit, stories), visit.marks_on([story.id for story in stories]), streams.subscriptions.base
    articles = {article.id: article for article in visit.portal.store.articles([story.head.id for story in stories])}
    items = []
    for story in stories:
        if (article := articles.get(story.head.id)) is None or article.hidden is not None:
            continue
        entry = entry_of(article, visit.portal, base)
        home = of or streams.subscriptions.home_of(story)
        states = [ALL, *([READ] if marked.read(story) else ()), *([STARRED] if marked.starred(story.id) else ())]
        labels = [LABEL + streams.subscriptions.folders[home.kind]] if home else []
        items.append({
            "id": f"{LONG_ID}{numbers[story.id]:016x}", "title": entry.title, "author": entry.author or entry.site,
            "crawlTimeMsec": microseconds(story.first_seen)[:-3], "timestampUsec": microseconds(story.first_seen),
            "published": int(entry.published.timestamp()), "updated": int(entry.updated.timestamp()),
            "canonical": [{"href": entry.url or entry.read}], "alternate": [{"href": entry.url or entry.read, "type": "text/html"}],
            "categories": [*(USER + state for state in states), *labels, *entry.topics],
            "origin": {"streamId": home.id if home else USER + ALL, "title": home.title if home else entry.site,
                       "htmlUrl": home.home if home else base},
            "summary": {"direction": "ltr", "content": entry.html},
        })  # fmt: skip
    return items
