"""The reading view of a story, of one of its versions, and the earlier texts of an article."""

from __future__ import annotations

from datetime import timedelta

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import RedirectResponse

from newsportal.portal.context import Visit
from newsportal.portal.differences import headlines, states
from newsportal.portal.pages.gallery import gallery_view
from newsportal.portal.pages.thread import thread_view
from newsportal.portal.reading import body, minutes, pictures
from newsportal.portal.recommending import further
from newsportal.portal.render import render
from newsportal.storage.base import Store, StoredArticle, Story, StoryFilter
from newsportal.storage.galleries import is_gallery
from newsportal.storage.threads import is_thread

router = APIRouter()

NEXT_DOOR = 20
"""Stories asked for on either side: those of the same moment come in an order we do not choose."""

INSTANT = timedelta(microseconds=1)  # ``until`` excludes its moment, and a neighbour may be of the same one

WINDOWS = (timedelta(minutes=5), timedelta(hours=1), timedelta(hours=6), timedelta(days=1), timedelta(days=7), timedelta(days=60))
"""How far ahead a newer neighbour is looked for: a list runs from new to old, so the nearest newer one is the last of a short window."""


@router.get("/story/{story_id}")
def story(request: Request, story_id: str) -> Response:
    """A story. The id of one that was folded into another, or of one of its versions, leads to where it is now."""
    visit = Visit(request)
    store = visit.portal.store
    found, moved = store.story(story_id, hidden=visit.may("edit")), store.article(story_id)
    now = found.id if found else moved.story_id if moved else None
    if now is None or (found is None and now == story_id):  # the second: editors hide it
        raise HTTPException(404)
    if found is None or now != story_id:
        return RedirectResponse(f"/story/{now}", 303)
    return reading_view(request, found, found.head)


@router.get("/story/{story_id}/{article_id}")
def version(request: Request, story_id: str, article_id: str) -> Response:
    """One version of a story. A version that was moved to another story leads there."""
    visit = Visit(request)
    store, editor = visit.portal.store, visit.may("edit")
    article = store.article(article_id)
    if article is None or (article.hidden is not None and not editor):
        raise HTTPException(404)
    if article.story_id != story_id:
        return RedirectResponse(f"/story/{article.story_id}/{article.id}", 303)
    found = store.story(story_id, hidden=editor)
    if found is None:
        raise HTTPException(404)
    return reading_view(request, found, next((one for one in found.versions if one.id == article_id), article))


@router.get("/story/{story_id}/{article_id}/revisions")
def revisions(request: Request, story_id: str, article_id: str) -> Response:
    """The states of an article, the newest first, each with what differs from the one before."""
    visit = Visit(request)
    article = visit.portal.store.article(article_id)
    if article is None or article.story_id != story_id or (article.hidden is not None and not visit.may("edit")):
        raise HTTPException(404)
    return render(request, "revisions.html", article=article, states=states(article, visit.portal.store.revisions(article_id)))


def reading_view(request: Request, found: Story, article: StoredArticle) -> Response:
    visit = Visit(request)
    thread = visit.portal.store.threads.thread(article.id) if is_thread(article.source) else None
    if thread is not None:
        return thread_view(request, found, article, thread)
    topic = visit.text("topic")
    older, newer = neighbours(visit.portal.store, found, topic)
    gallery = visit.portal.store.galleries.gallery(article.id) if is_gallery(article.source) else None
    if gallery is not None:
        return gallery_view(request, found, article, gallery, (older, newer))
    shown = body(article)
    return render(
        request,
        "story.html",
        story=found,
        article=article,
        versions=found.versions,
        body=shown,
        pictures=pictures(article, shown),
        older=older,
        newer=newer,
        topic=topic,
        suggested=further(visit, found.id),
        headlines=headlines(found, article),
        minutes=minutes(article.text),
        similar=visit.portal.similar(article),
    )


def neighbours(store: Store, story: Story, topic: str | None) -> tuple[Story | None, Story | None]:
    """The next older and the next newer story (of ``topic``), None at the ends."""
    moment = story.head.moment
    before = store.stories(StoryFilter(topic=topic, until=moment + INSTANT, limit=NEXT_DOOR)).stories
    return next((one for one in before if is_before(one, story)), None), newer_than(store, story, topic)


def newer_than(store: Store, story: Story, topic: str | None) -> Story | None:
    moment = story.head.moment
    for window in WINDOWS:
        page = store.stories(StoryFilter(topic=topic, since=moment, until=moment + window, limit=200))
        newer = [one for one in page.stories if is_before(story, one)]
        if newer:
            return newer[-1]
    return None


def is_before(one: Story, other: Story) -> bool:
    """Whether ``one`` is the older: by moment, and by id within a moment, so that going to and fro meets every story once."""
    return (one.head.moment, one.id) < (other.head.moment, other.id)
