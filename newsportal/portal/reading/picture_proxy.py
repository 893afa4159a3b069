"""A proxy for pictures: their URLs, the fetch of each one from its publisher, its conversion and caching, and the routes.

It fetches only pictures of stored articles, so it is not an open proxy; it re-encodes them, so no foreign content can be active on our
origin (threats E). ``/picture/ARTICLE/PLACE`` (or ``…/ID``, for pictures of bodies) and ``…/thumb`` need ``pictures.cache``.
"""

import asyncio
import re
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Final, Self

from fastapi import APIRouter, Request, Response

from newsportal.errors import EgressDenied, FetchFailed, NotApplicable
from newsportal.extractors.images.head import MAX_PIXELS
from newsportal.extractors.images.thumbnails import FULL_SIDE, THUMB_SIDE, reencode
from newsportal.items import Image, content_id
from newsportal.net import egress
from newsportal.portal.context import Portal
from newsportal.portal.reading.picture_cache import PictureCache
from newsportal.portal.safe_text import body_picture_urls, thumbnail, web_address
from newsportal.sources import Sources
from newsportal.store.results import StoredArticle, is_gallery, is_thread

VERSION_CHARS = 8
ID_CHARS = 20  # of a content_id


def address_of(portal: Portal, article_id: str, place: int, image: Image, *, thumb: bool = False) -> str | None:
    """Return the URL of a story's picture for browsers, None if it is unsafe. ``place``: its position from 1."""
    url = web_address(image.url)
    if url is None or portal.picture_proxy is None:
        return None if url is None or egress.points_to_internal(url, image.page or "", _policy(portal.config)) else url
    return f"/picture/{article_id}/{place}{'/thumb' if thumb else ''}?v={url_version(url)}"


def picture_addresses(portal: Portal, article: StoredArticle, base: str = "") -> Callable[[str], str | None]:
    """Return a function from a picture's URL, in the article's body or posts, to the one for browsers: in the proxy, if it is on, prefixed
    by ``base``; else the publisher's, or None if it is in a private network."""
    policy = _policy(portal.config)

    def find_address(url: str) -> str | None:
        if web_address(url) is None or (portal.picture_proxy is None and egress.points_to_internal(url, article.url, policy)):
            return None
        return url if portal.picture_proxy is None else f"{base}/picture/{article.id}/{content_id(url)}?v={url_version(url)}"

    return find_address


def _policy(sources: Sources) -> egress.Policy:
    return egress.Policy(tuple(sources.politeness.allow_private))


def headline_picture(portal: Portal, article: StoredArticle) -> str | None:
    """Return the URL of the picture beside an article's headline, None if it has none."""
    found = thumbnail(article.images)
    return address_of(portal, article.id, *found, thumb=True) if found else None


def url_version(url: str) -> str:
    """Return a version for URLs: it changes if another picture takes the same place in a story."""
    return content_id(url)[:VERSION_CHARS]


AT_ONCE: Final = 6  # pictures fetched at the same time: as many as a browser fetches from one host
TIMEOUT: Final = 15.0  # per picture; readers have scrolled on by then
RETRY_AFTER: Final = 600.0  # seconds before a failed picture is tried again
MAX_FAILURES: Final = 5000  # failures remembered; the oldest are dropped first
TYPES: Final[Mapping[str, str]] = {"jpg": "image/jpeg", "webp": "image/webp"}  # extensions of cached files, with their media types
ENDINGS: Final = {media: ending for ending, media in TYPES.items()}
ACCEPT: Final = "image/webp,image/png,image/jpeg,image/avif;q=0.9,image/*;q=0.8"


@dataclass(frozen=True, slots=True)
class ProxiedPicture:
    body: bytes
    type: str


class PictureProxy:
    """``cache`` stores the converted pictures; ``policy`` decides which addresses may be fetched."""

    def __init__(self, cache: PictureCache, policy: egress.Policy, user_agent: str, *, max_pixels: int = MAX_PIXELS) -> None:
        self.cache = cache
        self._policy = policy
        self._agent = user_agent
        self._max_pixels = max_pixels
        self._pending: dict[str, asyncio.Task[ProxiedPicture]] = {}
        self._failed: OrderedDict[str, tuple[float, str]] = OrderedDict()
        self._fetching = asyncio.Semaphore(AT_ONCE)
        self._decoding = asyncio.Semaphore(1)  # waiting decoders must not occupy the threads of store queries

    @classmethod
    def of(cls, sources: Sources) -> Self | None:
        """Return the proxy configured in ``sources.yaml``; ``None`` without a folder."""
        pictures = sources.pictures
        if pictures.cache is None:
            return None
        return cls(PictureCache(pictures.cache, pictures.cache_size), _policy(sources), sources.user_agent, max_pixels=pictures.max_pixels)

    async def picture(self, url: str, referer: str, *, thumb: bool) -> ProxiedPicture:
        """Return the converted picture at ``url``, from the cache or its publisher. Raises ``NotApplicable`` if it is unavailable.

        Simultaneous readers share one request; it continues if one of them disconnects.
        """
        name = f"{content_id(url)}.{'thumb' if thumb else 'full'}"
        cached = await asyncio.to_thread(self._cached, name)
        if cached is not None:
            return cached
        if name not in self._pending:
            self._pending[name] = task = asyncio.ensure_future(self._make(name, url, referer, thumb=thumb))
            task.add_done_callback(lambda done: self._done(name, done))
        return await asyncio.shield(self._pending[name])

    def _done(self, name: str, task: asyncio.Task[ProxiedPicture]) -> None:
        self._pending.pop(name, None)
        if not task.cancelled():
            task.exception()  # mark the exception as retrieved: the last waiter may have disconnected

    async def _make(self, name: str, url: str, referer: str, *, thumb: bool) -> ProxiedPicture:
        if thumb:  # the viewer needs the large one next: it is fetched once, and the thumbnail is made from it
            large = await self.picture(url, referer, thumb=False)
            return await self._write(name, large.body, THUMB_SIDE)
        until, reason = self._failed.get(name, (0.0, ""))
        if monotonic() < until:
            raise NotApplicable(reason)
        try:
            async with self._fetching:
                body = await self._fetched(url, referer)
                return await self._write(name, body, FULL_SIDE)
        except NotApplicable as error:
            self._failed[name] = (monotonic() + RETRY_AFTER, error.reason)
            while len(self._failed) > MAX_FAILURES:
                self._failed.popitem(last=False)
            raise

    async def _fetched(self, url: str, referer: str) -> bytes:
        headers = {"user-agent": self._agent, "accept": ACCEPT}
        if referer:
            headers["referer"] = referer.encode("ascii", "ignore").decode()
        try:
            page = await egress.fetch_async(url, self._policy, timeout=TIMEOUT, headers=headers)
        except (EgressDenied, FetchFailed) as error:
            raise NotApplicable(error.reason) from error
        if page.status != 200:
            raise NotApplicable(f"http-{page.status}")
        return page.body

    async def _write(self, name: str, body: bytes, side: int) -> ProxiedPicture:
        async with self._decoding:
            picture = await asyncio.to_thread(reencode, body, side, max_pixels=self._max_pixels)
            await asyncio.to_thread(self.cache.put, f"{name}.{ENDINGS[picture.type]}", picture.body)
        return ProxiedPicture(picture.body, picture.type)

    def _cached(self, name: str) -> ProxiedPicture | None:
        bodies = ((self.cache.get(f"{name}.{ending}"), media) for ending, media in TYPES.items())
        return next((ProxiedPicture(body, media) for body, media in bodies if body), None)


picture_router = APIRouter()

FOREVER: Final = "public, max-age=31536000, immutable"  # for URLs that contain a version
ONE_HOUR: Final = "public, max-age=3600"
FIVE_MINUTES: Final = "public, max-age=300"
SANDBOX: Final = {"content-security-policy": "default-src 'none'; sandbox"}  # in case it is ever anything but a picture
NOT_HERE, NOT_THERE = 404, 502
PLACE: Final = re.compile("[1-9][0-9]{0,3}|[0-9a-f]{20}")  # its position in a story, or the content_id of its URL


@picture_router.get("/picture/{article_id}/{place}")
@picture_router.get("/picture/{article_id}/{place}/thumb")
async def picture(request: Request, article_id: str, place: str) -> Response:
    portal: Portal = request.app.state.portal
    thumb: bool = request.scope["path"].endswith("/thumb")
    if portal.picture_proxy is None or not PLACE.fullmatch(place):
        return _empty_response(NOT_HERE)
    stored = await asyncio.to_thread(_stored_picture, portal, article_id, place)
    if stored is None:
        return _empty_response(NOT_HERE)
    url, referer = stored
    tag = f'"{url_version(url)}{"-t" if thumb else ""}"'
    caching = FOREVER if request.query_params.get("v") == url_version(url) else ONE_HOUR
    headers = {**SANDBOX, "cache-control": caching, "etag": tag}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    try:
        ready: ProxiedPicture = await portal.picture_proxy.picture(url, referer, thumb=thumb)
    except NotApplicable:
        return _empty_response(NOT_THERE)
    return Response(ready.body, media_type=ready.type, headers=headers)


def _empty_response(status: int) -> Response:
    """Return an empty response: the browser shows the picture's alternative text."""
    return Response(status_code=status, headers={**SANDBOX, "cache-control": FIVE_MINUTES}, media_type="text/plain")


def _stored_picture(portal: Portal, article_id: str, place: str) -> tuple[str, str] | None:
    """Return the URL of a stored picture and that of its page ("" if unsafe)."""
    article = portal.store.article(article_id)
    if article is None or article.hidden is not None:
        return None
    images: list[Image] = list(article.images)
    if is_gallery(article.source):
        images = [picture.image for picture in portal.store.galleries.pictures(article_id)]
    if len(place) < ID_CHARS:
        image = images[int(place) - 1] if int(place) <= len(images) else None
    else:
        images += [Image(url) for url in body_picture_urls(article)]
        if is_thread(article.source):
            images += [image for post in portal.store.threads.posts(article_id) for image in post.images]
        image = next((image for image in images if content_id(image.url) == place), None)
    if image is None or web_address(image.url) is None:
        return None
    return image.url, web_address(image.page) or web_address(article.url) or ""
