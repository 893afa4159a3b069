"""Events: their list, the page of an event with its timeline, and its feed."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from newsportal.portal.access import or_404
from newsportal.portal.context import Portal, Visit, VisitDep
from newsportal.portal.reading import assistant
from newsportal.portal.reading.feeds import FeedAddresses, list_response, max_stories
from newsportal.portal.reading.picture_proxy import headline_picture
from newsportal.portal.reading.story import State, states
from newsportal.portal.render import address, render
from newsportal.services.editing.differences import DiffLine
from newsportal.services.events.timeline import view
from newsportal.store.columns import EPOCH
from newsportal.store.events import Event
from newsportal.store.folding import HEAT_HALF_LIFE
from newsportal.store.results import StoredArticle
from newsportal.store.store import Store
from newsportal.text import clean

router = APIRouter()

PAGE = 30
ON_FRONT, FRESH = 4, timedelta(days=3)
RELATED = 5
PICTURES = 6
MAX_CHANGED = 10  # articles of an event whose last change is shown
MAX_LINES = 3  # changed lines shown per change on the event's page
MAX_EDITS = 10  # editors' changes shown on an event's page, to editors


@dataclass(frozen=True, slots=True)
class WeightedEvent:
    """An event of a list. ``weight``: its reports, each counting half after 12 hours."""

    event: Event
    weight: float


def weighted(portal: Portal, event: Event) -> WeightedEvent:
    return WeightedEvent(event, math.pow(2.0, min(60.0, event.heat - (portal.now() - EPOCH) / HEAT_HALF_LIFE)))


def front_events(portal: Portal) -> list[WeightedEvent]:
    """Return the events of the front page: pinned ones, then those of these days with the highest weight."""
    candidates = (*portal.store.events.pinned(), *portal.store.events.list_events(since=portal.now() - FRESH, limit=ON_FRONT).events)
    return [weighted(portal, event) for event in {event.id: event for event in candidates}.values()][:ON_FRONT]


@router.get("/events")
def events(request: Request, visit: VisitDep) -> Response:
    """Show events with several stories, highest weight first; ``?topic=``: events with a story of the topic."""
    topic, before = visit.text("topic"), visit.text("before")
    portal = visit.portal
    page = portal.store.events.list_events(topic=topic, before=before, limit=PAGE)
    pinned = portal.store.events.pinned() if not (topic or before) else []
    selected = [*pinned, *(event for event in page.events if event.pinned is None or topic or before)]
    heads = portal.store.by_id([event.head_id for event in selected if event.head_id])
    return render(
        request, "events.html", events=[weighted(portal, event) for event in selected], heads=heads, topic=topic, topics=portal.topics(),
        next=address("/events", topic=topic, before=page.next) if page.next else None,
        first_page=address("/events", topic=topic) if before else None,
    )  # fmt: skip


@router.get("/event/{event_id}/feed.{ending}")
def feed(visit: VisitDep, event_id: str, ending: str) -> Response:
    """The newest stories of an event."""
    event = or_404(assistant.visible_event(visit, event_id))
    ids = [member.story_id for member in visit.portal.store.events.members([event.id]).get(event.id, [])][-max_stories(ending) :]
    heads = [story.head.id for story in visit.portal.store.by_id(ids[::-1]).values()]
    return list_response(visit, ending, f"{event.title} · {visit.portal.site.title}", f"/event/{event.id}", heads)


@router.get("/event/{event_id}")
def event(request: Request, visit: VisitDep, event_id: str) -> Response:
    """Show an event. Redirects from the id of an event that was joined with another."""
    store = visit.portal.store
    found = assistant.visible_event(visit, event_id)
    if found is None:
        moved = or_404(store.events.merged_into(event_id))
        return RedirectResponse(f"/event/{moved}", 303)
    event_view = view(store, found, visit.portal.site.zone)
    head = next((story.head for story in event_view.stories if story.id == found.head_id), None)
    pictures = filter(None, (headline_picture(visit.portal, story.head) for story in event_view.stories))
    return render(
        request, "event.html", view=event_view, pictures=list(dict.fromkeys(pictures))[:PICTURES],
        changes=list(changes(store, event_view.changed)), weighted=weighted(visit.portal, found), related=related(visit, found, head),
        feed=FeedAddresses.below(f"/event/{found.id}", found.title), assistant=assistant.view_of_event(visit, event_view),
        edits=store.events.edits(found.id, limit=MAX_EDITS) if visit.may("edit") else (),
    )  # fmt: skip


def changes(store: Store, changed: Sequence[StoredArticle]) -> Iterator[tuple[State, list[DiffLine]]]:
    """Yield the last change of each article, with its first differing lines."""
    for article in changed[:MAX_CHANGED]:
        last = states(article, store.revisions(article.id)[-1:])[0]
        changed_lines = [line for line in last.lines or () if any(part.kind != "same" for part in line)]
        yield last, changed_lines[:MAX_LINES]


def related(visit: Visit, event: Event, head: StoredArticle | None) -> list[Event]:
    """Return other events, of stories on the same subject."""
    stories = visit.portal.related(head) if head is not None else ()
    store = visit.portal.store
    ids = dict.fromkeys(row.event_id for row in store.events.of([story.id for story in stories]).values() if row.event_id != event.id)
    events = (store.events.event(id) for id in ids)
    return [other for other in events if other is not None and other.stories and clean(other.title)][:RELATED]
