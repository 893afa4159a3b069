"""The Fever API, version 3, at ``/api/fever.php``: a single URL whose parameters select the data. Apps sign in with a key that they derive
from the person's name and a token (``fever_key``)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from newsportal.portal.access import address_of
from newsportal.portal.context import Visit, VisitDep
from newsportal.portal.readers.streams import ALL, FOLDERS, Stream, Streams, parse_moment
from newsportal.portal.reading.feeds import entry_of
from newsportal.portal.request_body import FEVER, Form
from newsportal.services.accounts import Right
from newsportal.services.accounts.marks import MAX_STARRED, TooManyStarred
from newsportal.store.results import Story

VERSION: Final = 3
ITEMS: Final = 50  # per response, as the API specifies
MAX_UNREAD: Final = 5_000
MAX_NUMBER: Final = 2**53

router = APIRouter()


@router.get(FEVER)
def version_only() -> dict[str, int]:
    """Apps send the key in a form; a request without it gets the version only."""
    return {"api_version": VERSION, "auth": 0}


@router.post(FEVER)
def fever(request: Request, visit: VisitDep, fields: Form) -> Response:
    portal, key = visit.portal, fields.get("api_key", "")
    if not portal.pace.allows(f"app {address_of(request)}"):
        return JSONResponse({"api_version": VERSION, "auth": 0}, 429, headers={"retry-after": "60"})
    request.state.signed = signed = portal.accounts.tokens.authenticate_fever(key, now=portal.now()) if key else None
    if signed is None or not signed.may(Right.KEEP):
        return JSONResponse({"api_version": VERSION, "auth": 0})
    params = {**request.query_params, **fields}
    portal.accounts.items.follow(portal.store)
    streams = Streams(visit)
    result: dict[str, Any] = {"api_version": VERSION, "auth": 1, "last_refreshed_on_time": int(portal.now().timestamp())}
    if "mark" in params:
        result |= _mark(visit, streams, params)
    for name, part in PARTS.items():
        if name in params:
            result |= part(visit, streams, params)
    return JSONResponse(result)


def _groups(_visit: Visit, streams: Streams, _params: Mapping[str, str]) -> dict[str, Any]:
    groups = [{"id": place, "title": streams.subscriptions.folders[kind]} for place, kind in enumerate(FOLDERS, 1)]
    return {"groups": groups, **_feeds_groups(streams)}


def _feeds_groups(streams: Streams) -> dict[str, Any]:
    folders = ([str(feed.number) for feed in streams.subscriptions.all if feed.kind == kind] for kind in FOLDERS)
    rows = [{"group_id": place, "feed_ids": ",".join(feeds)} for place, feeds in enumerate(folders, 1) if feeds]
    return {"feeds_groups": rows}


def _feeds(visit: Visit, streams: Streams, _params: Mapping[str, str]) -> dict[str, Any]:
    updated = int((visit.portal.tally().newest or visit.portal.now()).timestamp())
    rows = [
        {"id": feed.number, "favicon_id": 0, "title": feed.title, "url": feed.url, "site_url": feed.home, "is_spark": 0,
         "last_updated_on_time": updated}
        for feed in streams.subscriptions.all
    ]  # fmt: skip
    return {"feeds": rows, **_feeds_groups(streams)}


def _items(visit: Visit, streams: Streams, params: Mapping[str, str]) -> dict[str, Any]:
    """Return the items ``with_ids``; else those above ``since_id`` in ascending order, or below ``max_id`` in descending order."""
    items = visit.portal.accounts.items
    if "with_ids" in params:
        numbers = [number for part in params["with_ids"].split(",")[:ITEMS] if (number := _parse_number(part.strip())) is not None]
        numbered = _visible_stories(visit, list(items.stories(numbers).items()))
    else:
        ascending = "max_id" not in params
        last, numbered = _parse_number(params.get("since_id" if ascending else "max_id")) or 0, list[tuple[int, Story]]()
        while rows := (items.above if ascending else items.below)(last, ITEMS):
            numbered += _visible_stories(visit, rows)
            last = rows[-1][0]
            if len(numbered) >= ITEMS:
                break
    return {"items": _item_rows(visit, streams, numbered[:ITEMS]), "total_items": items.count()}


def _visible_stories(visit: Visit, rows: Sequence[tuple[int, str]]) -> list[tuple[int, Story]]:
    """Return the stories without hidden ones and those folded into another story, which has its own number."""
    stories = visit.portal.store.by_id([id for _, id in rows])
    return [(number, stories[id]) for number, id in rows if id in stories and stories[id].id == id]


def _item_rows(visit: Visit, streams: Streams, numbered: Sequence[tuple[int, Story]]) -> list[dict[str, Any]]:
    marked, base = visit.marks_on([story.id for _, story in numbered]), streams.subscriptions.base
    articles = {article.id: article for article in visit.portal.store.articles([story.head.id for _, story in numbered])}
    items = []
    for number, story in numbered:
        if (article := articles.get(story.head.id)) is None:
            continue
        entry, home = entry_of(article, visit.portal, base), streams.subscriptions.home_of(story)
        items.append({
            "id": number, "feed_id": home.number if home else 0, "title": entry.title, "author": entry.author or entry.site,
            "html": entry.html, "url": entry.url or entry.read, "is_saved": int(marked.starred(story.id)),
            "is_read": int(marked.read(story)), "created_on_time": int(entry.published.timestamp()),
        })  # fmt: skip
    return items


def _unread(visit: Visit, streams: Streams, _params: Mapping[str, str]) -> dict[str, Any]:
    numbers = visit.portal.accounts.items.of([story.id for story in streams.unread(MAX_UNREAD)])
    return {"unread_item_ids": ",".join(map(str, sorted(numbers.values())))}


def _saved(visit: Visit, streams: Streams, _params: Mapping[str, str]) -> dict[str, Any]:
    rows = streams.accounts.marks.starred(streams.person, limit=MAX_STARRED)
    stories = visit.portal.store.by_id([id for _, id in rows])
    numbers = visit.portal.accounts.items.of(list(dict.fromkeys(story.id for story in stories.values())))
    return {"saved_item_ids": ",".join(map(str, sorted(numbers.values())))}


PARTS: Final[Mapping[str, Callable[[Visit, Streams, Mapping[str, str]], dict[str, Any]]]] = {
    "groups": _groups, "feeds": _feeds, "favicons": lambda *_: {"favicons": []}, "links": lambda *_: {"links": []}, "items": _items,
    "unread_item_ids": _unread, "saved_item_ids": _saved,
}  # fmt: skip
"""Parameter of the request → function that adds to the response."""


def _mark(visit: Visit, streams: Streams, params: Mapping[str, str]) -> dict[str, Any]:
    """``mark`` an ``item`` ``as`` read, unread, saved or unsaved, or everything of a ``feed`` or ``group`` ``before`` a time as read;
    unknown ids are ignored. Returns the unread or saved ids afterwards."""
    target, state, number = params["mark"], params.get("as", ""), _parse_number(params.get("id"))
    stars = state in ("saved", "unsaved")
    if target == "item" and number is not None and (stars or state in ("read", "unread")):
        stories = list(visit.portal.accounts.items.stories([number]).values())
        try:
            streams.mark(stories, **({"starred": state == "saved"} if stars else {"read": state == "read"}))
        except TooManyStarred:
            pass  # the response lists what is saved, without this one
    elif state == "read" and (stream := _stream_of(streams, target, number)) is not None:
        streams.mark_all(stream, parse_moment(params.get("before")))
    return (_saved if stars else _unread)(visit, streams, params)


def _stream_of(streams: Streams, target: str, number: int | None) -> Stream | None:
    """Return the stream of a group or feed. Group 0 is everything."""
    groups: dict[int | None, Stream] = {0: Stream(ALL), **{place: Stream(folder=kind) for place, kind in enumerate(FOLDERS, 1)}}
    feeds: dict[int | None, Stream] = {feed.number: Stream(of=feed) for feed in streams.subscriptions.all}
    return {"group": groups, "feed": feeds}.get(target, {}).get(number)


def _parse_number(text: str | None) -> int | None:
    number = int(text) if text and text.isascii() and text.isdecimal() and len(text) < 17 else None
    return number if number is not None and number < MAX_NUMBER else None
