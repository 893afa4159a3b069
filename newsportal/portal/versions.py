"""A version of a story that an editor asks for by its address, hidden or not: a parameter of the routes below ``/story/STORY/ARTICLE``."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, HTTPException, Request

from newsportal.portal.context import Visit
from newsportal.store.results import StoredArticle


class MovedVersion(HTTPException):
    """Raised for a version that was moved to another story; the error handler redirects to ``location``."""

    def __init__(self, location: str) -> None:
        super().__init__(303)
        self.location = location


def version_of(request: Request, story_id: str, article_id: str) -> StoredArticle:
    """The article; raises 404, and ``MovedVersion`` for a reader of a page that is in another story now."""
    article = Visit(request).portal.store.article(article_id)
    if article is None:
        raise HTTPException(404)
    if article.story_id != story_id and request.method == "GET":
        rest, asked = request.url.path.removeprefix(f"/story/{story_id}/{article_id}"), request.url.query
        raise MovedVersion(f"/story/{article.story_id}/{article.id}{rest}{'?' if asked else ''}{asked}")
    return article


Version = Annotated[StoredArticle, Depends(version_of)]


def page_of(article: StoredArticle) -> str:
    """The address of a version's page."""
    return f"/story/{article.story_id}/{article.id}"
