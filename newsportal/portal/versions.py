"""A version of a story as an editor asks for it by its address, hidden or not."""

from __future__ import annotations

from fastapi import HTTPException, Request, Response
from fastapi.responses import RedirectResponse

from newsportal.portal.context import Visit
from newsportal.store.results import StoredArticle


def version_of(request: Request, story_id: str, article_id: str) -> StoredArticle | Response:
    """The article; where it was moved to another story, the way there for who only looks. Raises 404."""
    article = Visit(request).portal.store.article(article_id)
    if article is None:
        raise HTTPException(404)
    if article.story_id != story_id and request.method == "GET":
        rest, asked = request.url.path.removeprefix(f"/story/{story_id}/{article_id}"), request.url.query
        return RedirectResponse(f"/story/{article.story_id}/{article.id}{rest}{'?' if asked else ''}{asked}", 303)
    return article


def said_in(visit: Visit, message: str, **values: object) -> str:
    """A message in the editor's language."""
    return visit.clock.words.gettext(message) % values if values else visit.clock.words.gettext(message)
