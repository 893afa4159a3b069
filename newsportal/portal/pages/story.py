"""The reading view of a story, of one of its versions, and the earlier texts of an article."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import RedirectResponse

from newsportal.portal.context import Visit
from newsportal.portal.differences import headlines, states
from newsportal.portal.pages.gallery import gallery_view
from newsportal.portal.pages.thread import thread_view
from newsportal.portal.reading import body, minutes, pictures
from newsportal.portal.recommending import further
from newsportal.portal.render import render
from newsportal.store.lists import cursor_of
from newsportal.store.results import StoredArticle, Story, StoryFilter, is_gallery, is_thread
from newsportal.store.store import Store

router = APIRouter()


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
    here = cursor_of(story)
    older = store.stories(StoryFilter(topic=topic, before=here, limit=1)).stories
    newer = store.stories(StoryFilter(topic=topic, after=here, limit=1)).stories
    return next(iter(older), None), next(iter(newer), None)
