"""Pictures on demand: fetched once from their publisher, written anew, kept. Only the store's own pictures are asked for here, so it is
no open proxy; only pixels are handed on, so nothing of a stranger is active on our origin (threats E)."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, Final, Self

from newsportal import egress
from newsportal.errors import EgressDenied, FetchFailed, NotApplicable
from newsportal.items import content_id
from newsportal.pictures.head import MAX_PIXELS
from newsportal.pictures.thumbnails import FULL_SIDE, THUMB_SIDE, rewritten
from newsportal.portal.picture_cache import PictureCache

AT_ONCE: Final = 6
"""Pictures that are fetched at the same time: what a browser asks of one host."""

SECONDS: Final = 15.0
"""For one picture; a reader has scrolled on by then."""

REST: Final = 600.0
"""Seconds in which a picture that could not be had is not asked for again."""

MAX_FAILURES: Final = 5000
"""Failures remembered; the oldest are forgotten first."""

TYPES: Final[Mapping[str, str]] = {"jpg": "image/jpeg", "webp": "image/webp"}
"""What the cache's names end with, and what that is."""

ENDINGS: Final = {media: ending for ending, media in TYPES.items()}
ACCEPT: Final = "image/webp,image/png,image/jpeg,image/avif;q=0.9,image/*;q=0.8"


class NoPicture(Exception):
    """Raised for a picture that cannot be had or shown; ``reason`` is a slug."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Ready:
    """A picture to be sent."""

    body: bytes
    type: str


class Desk:
    """``cache`` keeps what was made; ``policy`` says which addresses may be asked."""

    def __init__(self, cache: PictureCache, policy: egress.Policy, user_agent: str, *, max_pixels: int = MAX_PIXELS) -> None:
        self.cache = cache
        self._policy = policy
        self._agent = user_agent
        self._max_pixels = max_pixels
        self._under_way: dict[str, asyncio.Task[Ready]] = {}
        self._failed: OrderedDict[str, tuple[float, str]] = OrderedDict()
        self._turn = asyncio.Semaphore(AT_ONCE)
        self._decoding = asyncio.Semaphore(1)  # decoders wait for one another: not in the threads that the store's answers need

    @classmethod
    def of(cls, sources: Any) -> Self | None:
        """As ``sources.yaml`` says; ``None`` where it names no folder."""
        said = getattr(sources, "pictures", None)
        folder: Path | None = getattr(said, "cache", None)
        if said is None or folder is None:
            return None
        policy = egress.Policy(tuple(sources.politeness.allow_private))
        return cls(PictureCache(folder, said.cache_size), policy, sources.user_agent, max_pixels=said.max_pixels)

    async def picture(self, url: str, referer: str, *, thumb: bool) -> Ready:
        """The picture at ``url`` as we show it, from the cache or its publisher. Raises :class:`NoPicture`.

        Many readers who ask at once wait for one request; one who goes away does not end it.
        """
        name = f"{content_id(url)}.{'thumb' if thumb else 'full'}"
        kept = await asyncio.to_thread(self._kept, name)
        if kept is not None:
            return kept
        if name not in self._under_way:
            self._under_way[name] = task = asyncio.ensure_future(self._make(name, url, referer, thumb=thumb))
            task.add_done_callback(lambda done: self._done(name, done))
        return await asyncio.shield(self._under_way[name])

    def _done(self, name: str, task: asyncio.Task[Ready]) -> None:
        self._under_way.pop(name, None)
        if not task.cancelled():
            task.exception()  # seen: whoever waited was told, and the last one may have gone away

    async def _make(self, name: str, url: str, referer: str, *, thumb: bool) -> Ready:
        if thumb:  # the viewer wants the large one next: it is fetched once, and the small one made of it
            large = await self.picture(url, referer, thumb=False)
            return await self._write(name, large.body, THUMB_SIDE)
        until, why = self._failed.get(name, (0.0, ""))
        if monotonic() < until:
            raise NoPicture(why)
        try:
            async with self._turn:
                body = await self._fetched(url, referer)
                return await self._write(name, body, FULL_SIDE)
        except NoPicture as why_not:
            self._failed[name] = (monotonic() + REST, why_not.reason)
            while len(self._failed) > MAX_FAILURES:
                self._failed.popitem(last=False)
            raise

    async def _fetched(self, url: str, referer: str) -> bytes:
        headers = {"user-agent": self._agent, "accept": ACCEPT}
        if referer:
            headers["referer"] = referer.encode("ascii", "ignore").decode()
        try:
            page = await egress.fetch_async(url, self._policy, timeout=SECONDS, headers=headers)
        except (EgressDenied, FetchFailed) as error:
            raise NoPicture(error.reason) from error
        if page.status != 200:
            raise NoPicture(f"http-{page.status}")
        return page.body

    async def _write(self, name: str, body: bytes, side: int) -> Ready:
        async with self._decoding:
            return await asyncio.to_thread(self._written, name, body, side)

    def _written(self, name: str, body: bytes, side: int) -> Ready:
        try:
            made = rewritten(body, side, max_pixels=self._max_pixels)
        except NotApplicable as why:
            raise NoPicture(why.reason) from why
        self.cache.put(f"{name}.{ENDINGS[made.type]}", made.body)
        return Ready(made.body, made.type)

    def _kept(self, name: str) -> Ready | None:
        found = ((self.cache.get(f"{name}.{ending}"), media) for ending, media in TYPES.items())
        return next((Ready(body, media) for body, media in found if body), None)
