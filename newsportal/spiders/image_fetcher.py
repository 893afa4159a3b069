"""Fetch the first bytes of images for their size, format and fingerprint, which :mod:`newsportal.extractors.images.head` reads.

A server is asked for 64 kB (``Range``); if it sends the whole file, the download is stopped there. The ``Referer`` is the
page with the image: servers with hotlink protection (防盗链) expect it.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from time import monotonic
from typing import Final

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import StopDownload
from scrapy.http import Response

from newsportal.crawl.link_tracker import LinkTracker, utcnow
from newsportal.crawl.requests import can_request
from newsportal.errors import NotApplicable, StoreError
from newsportal.extractors.images.filter import key
from newsportal.extractors.images.head import FIRST_BYTES, MAX_PIXELS, ImageHeader, read_header
from newsportal.extractors.images.thumbnails import fingerprint
from newsportal.items import Gallery, Image
from newsportal.spiders.fetcher import Fetcher, Outcome, PageUnavailable, header
from newsportal.store.pictures import Picture

logger = logging.getLogger(__name__)

MORE_BYTES: Final = 4 * FIRST_BYTES  # Fetched once if the size is further behind: colour profiles and previews may precede it
MAX_REMEMBERED: Final = 4_096
"""Images remembered by this process, some 500 bytes each: copies of a story are often read before either is stored."""

MAX_SECONDS: Final = 300.0  # Time limit for the images of a story; the sizes of the rest stay unknown
MAX_CONCURRENT: Final = 4  # Images of a story requested concurrently; the downloader delays them per host as always
IMAGE_SECONDS: Final = 15.0  # For one image: 64 kB take less, unless the server hangs
GONE: Final = frozenset({"http-404", "http-410"})
BAD_RANGE: Final = "http-416"

ACCEPT: Final = {"Accept": "image/avif,image/webp,image/png,image/jpeg,image/*;q=0.8,*/*;q=0.5", "Accept-Encoding": "identity"}
BYTES_LIMIT, BYTES_RECEIVED = "first_bytes", "first_bytes_got"  # meta keys: number of bytes wanted, and received (by which request)


@dataclass(frozen=True, slots=True)
class ImageBytes:
    """The bytes of an image. ``complete``: they are the whole file."""

    body: bytes
    complete: bool


FetchBytes = Callable[[Image, Gallery, int | None], Awaitable[ImageBytes]]
"""Fetches the first bytes of a story's image (``None``: all). Raises ``PageUnavailable`` or ``Interrupted``."""


def image_bytes(crawler: Crawler, fetch: Fetcher) -> FetchBytes:
    """Return a :data:`FetchBytes` with the request settings of the story's source."""
    crawler.signals.connect(stop_at_limit, signals.bytes_received)

    async def fetch_bytes(image: Image, gallery: Gallery, limit: int | None) -> ImageBytes:
        referer = (image.page or gallery.url).encode("ascii", "ignore").decode()
        headers = {**ACCEPT, "Referer": referer, **({"Range": f"bytes=0-{limit - 1}"} if limit else {})}
        meta = {BYTES_LIMIT: limit, "download_timeout": IMAGE_SECONDS, "render": None}
        response = await fetch(image.url, gallery.link.source, headers=headers, **meta)
        if response.status not in (200, 206):
            raise PageUnavailable(Outcome(f"http-{response.status}", image.url))
        return ImageBytes(response.body[:limit], _is_whole(response, limit))

    return fetch_bytes


def stop_at_limit(data: bytes, request: Request) -> None:
    """Stop the download of an image after enough bytes; called for every chunk of every response. Raises ``StopDownload``."""
    limit = request.meta.get(BYTES_LIMIT)
    if not limit:
        return
    request_id, received = request.meta.get(BYTES_RECEIVED, (0, 0))
    received = len(data) + (received if request_id == id(request) else 0)  # a retried request starts again
    request.meta[BYTES_RECEIVED] = (id(request), received)
    if received >= limit:
        raise StopDownload(fail=False)


def _is_whole(response: Response, limit: int | None) -> bool:
    if limit is None:
        return True
    if response.status == 206:
        total = (header(response, "Content-Range") or "").rpartition("/")[2]
        return total.isdecimal() and int(total) <= len(response.body)
    return len(response.body) < limit


class ImageFetcher:
    """Reads the facts of stories' images. ``prints``: the first images of each story that are fetched in full, for their fingerprint."""

    def __init__(self, fetch: FetchBytes, *, max_pixels: int = MAX_PIXELS, prints: int = 0) -> None:
        self._fetch = fetch
        self._max_pixels = max_pixels
        self._prints = prints
        self._seen: OrderedDict[str, Picture] = OrderedDict()
        self._under_way: dict[str, asyncio.Future[Picture | None]] = {}

    async def inspect(self, image: Image, gallery: Gallery, *, whole: bool = False) -> Picture:
        """Return the facts of an image; ``fetched`` stays ``None`` if it could not be fetched for now. Raises ``Interrupted``."""
        plain = Picture(key(image.url), image.url)
        if not can_request(image.url):
            return replace(plain, rejected_reason="bad-address", fetched=utcnow())
        try:
            head, print = await self._head(image, gallery, None if whole else FIRST_BYTES)
        except PageUnavailable as error:
            return replace(plain, rejected_reason="gone", fetched=utcnow()) if error.outcome.reason in GONE else plain
        except NotApplicable as error:
            return plain if error.reason == "cut" else replace(plain, rejected_reason=error.reason, fetched=utcnow())
        return replace(plain, width=head.width, height=head.height, format=head.format, perceptual_hash=print, fetched=utcnow())

    async def _head(self, image: Image, gallery: Gallery, limit: int | None) -> tuple[ImageHeader, str | None]:
        """Raises ``PageUnavailable``, ``Interrupted``, ``NotApplicable``."""
        try:
            data = await self._fetch(image, gallery, limit)
        except PageUnavailable as error:
            if error.outcome.reason not in (*GONE, BAD_RANGE):
                raise
            data = await self._fetch(image, gallery, None)  # retry as a browser does: some servers do not support Range
        try:
            head = read_header(data.body, max_pixels=self._max_pixels)
        except NotApplicable as error:
            if error.reason != "cut":
                raise
            if data.complete:
                raise NotApplicable("broken", error.detail) from error
            data = await self._fetch(image, gallery, MORE_BYTES)
            head = read_header(data.body, max_pixels=self._max_pixels)
        return head, await asyncio.to_thread(self._fingerprint, data) if head.complete or data.complete else None

    def _fingerprint(self, data: ImageBytes) -> str | None:
        try:
            return fingerprint(data.body, max_pixels=self._max_pixels)
        except NotApplicable:  # its head is valid: browsers show the rest as far as possible
            return None

    async def _inspect_once(self, name: str, image: Image, gallery: Gallery, *, whole: bool) -> Picture:
        """Inspect an image unless this process has done so or another story does at the moment. Raises ``Interrupted``."""
        while name in self._under_way:
            if (found := await asyncio.shield(self._under_way[name])) is not None:
                return found
        if name in self._seen:
            return self._seen[name]
        self._under_way[name] = answer = asyncio.get_running_loop().create_future()
        found = None
        try:
            found = await self.inspect(image, gallery, whole=whole)
        finally:
            del self._under_way[name]
            answer.set_result(found)
        if found.fetched is not None:
            self._seen[name] = found
            while len(self._seen) > MAX_REMEMBERED:
                self._seen.popitem(last=False)
        return found

    async def pictures(self, gallery: Gallery, stored: Mapping[str, Picture]) -> dict[str, Picture]:
        """Return key → facts of each image of a story; inspected ones of ``stored`` are not fetched again.

        Raises ``Interrupted``; other failures of an image are ignored.
        """
        images = {key(image.url): image for image in gallery.images if not image.dropped}
        found = {name: stored[name] for name in images if name in stored and stored[name].fetched is not None}
        until, slots = monotonic() + MAX_SECONDS, asyncio.Semaphore(MAX_CONCURRENT)

        async def inspect_one(index: int, name: str, image: Image) -> tuple[str, Picture]:
            async with slots:
                if monotonic() >= until:
                    return name, Picture(name, image.url)
                return name, await self._inspect_once(name, image, gallery, whole=index < self._prints)

        missing = [inspect_one(index, name, image) for index, (name, image) in enumerate(images.items()) if name not in found]
        answers = await asyncio.gather(*missing, return_exceptions=True)
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
            found[answer[0]] = answer[1]
        return found


def with_facts(gallery: Gallery, pictures: Mapping[str, Picture]) -> Gallery:
    """Return the story with the facts of its images, which override the sizes on its page."""
    return replace(gallery, images=tuple(_with_facts(image, pictures.get(key(image.url))) for image in gallery.images))


def _with_facts(image: Image, picture: Picture | None) -> Image:
    if picture is None or picture.fetched is None or image.dropped:
        return image
    if picture.rejected_reason:
        return replace(image, dropped=picture.rejected_reason)
    return replace(image, width=picture.width, height=picture.height, format=picture.format, print=picture.perceptual_hash or image.print)


class StoryImages:
    """Adds the facts of images to the stories of a crawl: from the store, or fetched if missing."""

    def __init__(self, tracker: LinkTracker, fetch: FetchBytes) -> None:
        settings = tracker.sources.pictures
        self._store = tracker.store
        self._images = ImageFetcher(fetch, max_pixels=settings.max_pixels, prints=settings.prints) if settings.look else None

    async def complete(self, gallery: Gallery) -> Gallery:
        """Return the story; files that are no images have a reason (``dropped``). Raises ``Interrupted``."""
        try:
            stored = dict(await asyncio.to_thread(self._store.pictures.find_stored, {key(image.url) for image in gallery.images}))
        except StoreError as error:  # the pipelines report an outage
            logger.error("the pictures of %s could not be examined: %s", gallery.url, error, extra={"url": gallery.url})
            return gallery
        if self._images is None:
            return with_facts(gallery, stored)
        pictures = await self._images.pictures(gallery, stored)
        inspected = {name for name, picture in pictures.items() if picture.fetched and picture is not stored.get(name)}
        fresh = frozenset(image.url for image in gallery.images if not image.dropped and key(image.url) in inspected)
        return replace(with_facts(gallery, stored | pictures), inspected=fresh)
