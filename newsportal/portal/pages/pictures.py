"""``/picture/ARTICLE/PLACE`` and ``…/thumb``: a picture of a stored story, from our cache. Off unless ``pictures.cache`` is set."""

from __future__ import annotations

import asyncio
from typing import Final

from fastapi import APIRouter, Request, Response

from newsportal.items import Image
from newsportal.portal.context import Portal
from newsportal.portal.picture_desk import NoPicture, Ready
from newsportal.portal.pictures import version
from newsportal.portal.reading import web_address
from newsportal.store.results import is_gallery

router = APIRouter()

FOREVER: Final = "public, max-age=31536000, immutable"
"""For an address with the version of what it shows."""

A_WHILE: Final = "public, max-age=3600"
NOT_NOW: Final = "public, max-age=300"

HARMLESS: Final = {"content-security-policy": "default-src 'none'; sandbox"}
"""Were it ever anything but a picture, it could do nothing."""

NOT_HERE, NOT_THERE = 404, 502
MAX_PLACE: Final = 10_000


@router.get("/picture/{article_id}/{place}")
async def picture(request: Request, article_id: str, place: str) -> Response:
    return await _shown(request, article_id, place, thumb=False)


@router.get("/picture/{article_id}/{place}/thumb")
async def thumb(request: Request, article_id: str, place: str) -> Response:
    return await _shown(request, article_id, place, thumb=True)


async def _shown(request: Request, article_id: str, place: str, *, thumb: bool) -> Response:
    portal: Portal = request.app.state.portal
    number = int(place) if place.isascii() and place.isdecimal() and len(place) < 6 else 0
    if portal.desk is None or not 1 <= number <= MAX_PLACE:
        return _none(NOT_HERE)
    found = await asyncio.to_thread(_stored, portal, article_id, number)
    if found is None:
        return _none(NOT_HERE)
    url, referer = found
    tag = f'"{version(url)}{"-t" if thumb else ""}"'
    keeping = FOREVER if request.query_params.get("v") == version(url) else A_WHILE
    headers = {**HARMLESS, "cache-control": keeping, "etag": tag}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    try:
        ready: Ready = await portal.desk.picture(url, referer, thumb=thumb)
    except NoPicture:
        return _none(NOT_THERE)
    return Response(ready.body, media_type=ready.type, headers=headers)


def _none(status: int) -> Response:
    """No page: the browser shows the picture's caption in its place."""
    return Response(status_code=status, headers={**HARMLESS, "cache-control": NOT_NOW}, media_type="text/plain")


def _stored(portal: Portal, article_id: str, place: int) -> tuple[str, str] | None:
    """The address of a picture that the store knows, and the page on which it stands ("" for one that may not be told)."""
    article = portal.store.article(article_id)
    if article is None or article.hidden is not None:
        return None
    images: list[Image] = list(article.images)
    if is_gallery(article.source):
        images = [one.image for one in portal.store.galleries.pictures(article_id)]
    if place > len(images) or web_address(images[place - 1].url) is None:
        return None
    image = images[place - 1]
    return image.url, web_address(image.page) or web_address(article.url) or ""
