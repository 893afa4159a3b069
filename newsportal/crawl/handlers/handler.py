"""The download handler of the settings, replayed responses, and the middleware that stops a crawl whose archive files cannot be read."""

from __future__ import annotations

import asyncio
import logging
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar
from weakref import WeakKeyDictionary

from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.exceptions import DownloadCancelledError, NotConfigured
from scrapy.http import Headers, Response, TextResponse
from scrapy.responsetypes import responsetypes
from scrapy.spidermiddlewares.httperror import HttpError

from newsportal.crawl.addon import CrawlerComponent, SignIns
from newsportal.crawl.handlers.guarded import OF_PAGE_KEY, PACER, GuardedHandler, delay_of
from newsportal.crawl.requests import host_of
from newsportal.errors import ArchiveError, EgressDenied, NewsportalError, RenderFailed
from newsportal.messages import Message, join_messages
from newsportal.net.archive import Exchange, Index, Recording, Writer, open_index
from newsportal.net.egress import Policy, TooLarge, check_url, decompress
from newsportal.net.rendering import Limits, is_renderable, missing_parts
from newsportal.net.rendering.chromium import Setup
from newsportal.text.encoding import LABELS, decode

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from newsportal.crawl.handlers.rendered import Renderer

logger = logging.getLogger(__name__)

PARTIAL = 206

CODECS = {*LABELS, *LABELS.values()}

MAILBOXES = ("imaps:", "imap:", "mailbox:")  # handled by MailboxHandler, which connects only to the mailboxes of sources.yaml
MISSING = 404  # status for a URL missing from the archive
PROBE_BYTES = 1 << 20  # bytes unpacked to check whether a body is compressed as its header says
File = TypeVar("File", Index, Writer)


@dataclass
class OpenFiles(Generic[File]):
    """Files open in this process, shared by the handlers for http and https and by spiders that run together."""

    open: Callable[[Path], File]
    files: dict[Path, tuple[File, int]] = field(default_factory=dict)

    def take(self, path: Path) -> File:
        file, users = self.files.get(path) or (self.open(path), 0)
        self.files[path] = (file, users + 1)
        return file

    def leave(self, path: Path) -> None:
        file, users = self.files.pop(path)
        if users > 1:
            self.files[path] = (file, users - 1)
        else:
            file.close()


def _index(path: Path) -> Index:
    logged = [0]

    def progress(done: int, total: int) -> None:
        if done - logged[0] >= LOG_BYTES:
            logged[0] = done
            logger.info("reading %s: %d of %d MB", path, done >> 20, total >> 20)

    return open_index(path, progress)


LOG_BYTES = 256 << 20  # bytes of an archive between two log lines: some seconds
INDEXES: OpenFiles[Index] = OpenFiles(_index)
WRITERS: OpenFiles[Writer] = OpenFiles(Writer)


@dataclass(frozen=True)
class HandlerSettings:
    """Handler settings of one crawler."""

    policy: Policy
    replay: Path | None
    archive: Path | None

    @classmethod
    def of(cls, settings: BaseSettings) -> Self:
        """Raises ``ArchiveError`` for an archive that would be written while it is read, ``ValueError`` for an invalid policy."""
        replay, archive = (Path(settings[name]).absolute() if settings.get(name) else None for name in (REPLAY, ARCHIVE))
        if archive is not None and archive == replay:
            raise ArchiveError(f"{archive}: a crawl cannot be replayed from the archive that it writes")
        return cls(Policy(tuple(settings.getlist(ALLOW_PRIVATE))), replay, archive)


REPLAY = "NEWSPORTAL_REPLAY"
ARCHIVE = "NEWSPORTAL_ARCHIVE"
ALLOW_PRIVATE = "NEWSPORTAL_ALLOW_PRIVATE"
RENDERING = "NEWSPORTAL_RENDERING"

_FAILED: WeakKeyDictionary[Crawler, Exception] = WeakKeyDictionary()


class Handler(BaseDownloadHandler):
    """Handles all http and https requests of the crawl."""

    lazy = False

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._index: Index | None = None
        self._writer: Writer | None = None
        try:
            self._outfit = HandlerSettings.of(crawler.settings)
            if self._outfit.archive:
                self._writer = WRITERS.take(self._outfit.archive)
            if self._outfit.replay:
                self._index = INDEXES.take(self._outfit.replay)
        except (NewsportalError, ValueError) as error:
            if self._writer is not None and self._outfit.archive:
                WRITERS.leave(self._outfit.archive)
            _FAILED[crawler] = error  # Scrapy would continue without a handler; the middleware Guard stops the crawl
            raise NotConfigured(str(error)) from error
        self._max_bytes = crawler.settings.getint("DOWNLOAD_MAXSIZE")
        self._guarded: dict[bool, GuardedHandler] = {}
        self._sign_ins = SignIns(crawler)
        self._renderer: Renderer | None = None
        self._stopping = False

    async def download_request(self, request: Request) -> Response:
        """Raises ``EgressDenied``, ``ArchiveError`` and the errors of Scrapy's HTTP handler."""
        sent = datetime.now(UTC)
        limit = request.meta.get("download_maxsize", self._max_bytes)
        response = await self._network(request) if self._index is None else answer(request, self._index, limit)
        if "replay-missing" in response.flags and self.crawler.stats:
            self.crawler.stats.inc_value("replay/missing")
        response = _with_web_encoding(response)
        if self._writer is not None:
            try:
                await asyncio.to_thread(self._writer.write, _exchange(request, response, sent))
            except ArchiveError as error:  # a crawl whose archive has gaps is worth less than one that stops
                if self.crawler.engine is not None and not self._stopping:
                    self._stopping = True
                    logger.error("the crawl stops, its archive cannot be written: %s", error)
                    asyncio.ensure_future(self.crawler.engine.close_spider_async(reason="archive-failed"))  # noqa: RUF006 - the engine holds it
                raise
        content_type = (response.headers.get("Content-Type") or b"").decode("latin-1") or None
        if request.meta.get("render") and is_renderable(response.status, content_type):
            if self._renderer is None:
                options = self.crawler.settings.getdict(RENDERING)
                names = {item.name for item in fields(Limits)}
                setup = Setup(
                    Limits(**{name: value for name, value in options.items() if name in names}),
                    options.get("browser"),
                    options.get("isolate", True),
                )
                if problem := missing_parts(setup.browser):
                    raise RenderFailed(response.url, "no-browser", problem)
                from newsportal.crawl.handlers.rendered import Renderer  # loads playwright

                self._renderer = Renderer(self.crawler, setup, self.download_request)
            return await self._renderer.render(request, response)
        return response

    async def _network(self, request: Request) -> Response:
        if not request.meta.get(OF_PAGE_KEY):  # subresources are requested together with their page
            await PACER.wait(host_of(request), delay_of(self.crawler, request))
        verify = request.meta.get("verify_certificate") is not False
        if verify not in self._guarded:
            self._guarded[verify] = GuardedHandler(self.crawler, self._outfit.policy, verify=verify)
        if not (credentials := self._sign_ins.headers_of(request)):
            return await self._guarded[verify].download_request(request)
        response = await self._guarded[verify].download_request(request.replace(headers={**request.headers, **credentials}))
        response.headers.pop("Set-Cookie", None)  # a new session is as secret as the old one
        return response

    async def close(self) -> None:
        if self._renderer is not None:
            await self._renderer.close()
        for guarded in self._guarded.values():
            await guarded.close()
        if self._outfit.replay:
            INDEXES.leave(self._outfit.replay)
        if self._outfit.archive:
            WRITERS.leave(self._outfit.archive)


def render_notes(stats: Mapping[str, Any], source: str) -> list[Message]:
    """Return the notes in the run report on a source's rendered pages."""
    pages = stats.get(f"render/pages/{source}", 0)
    if not pages:
        return []
    seconds, requests = stats.get(f"render/seconds/{source}", 0.0), stats.get(f"render/requests/{source}", 0)
    notes = [Message("note.rendered", pages=pages, seconds=round(seconds), requests=requests)]
    counts = ((name, stats.get(f"render/{name}/{source}", 0)) for name in ("restless", "denied"))
    notes += [Message(f"note.rendered-{name}", number=number) for name, number in counts if number]
    return [join_messages(*notes)]


def _exchange(request: Request, response: Response, sent: datetime) -> Exchange:
    return Exchange(
        url=request.url,
        status=response.status,
        headers=_pairs(response.headers),
        body=response.body,
        method=request.method,
        request_headers=_pairs(request.headers),
        request_body=request.body,
        address=str(response.ip_address) if response.ip_address else None,
        when=sent,
    )


def _pairs(headers: Headers) -> tuple[tuple[str, str], ...]:
    return tuple((name.decode("latin-1"), value.decode("latin-1")) for name, values in headers.items() for value in values)


class Guard(CrawlerComponent):
    """Downloader middleware: refuses URLs before they are scheduled, and counts refusals of the handler.

    The check itself is in :class:`Handler`, which works without this middleware. A replay or archive file that cannot be
    used stops the crawl here, before its first request (``ReplayError``, ``ArchiveError``).
    """

    def __init__(self, crawler: Crawler) -> None:
        if (error := _FAILED.pop(crawler, None)) is not None:
            raise error
        self._stats = crawler.stats
        outfit = HandlerSettings.of(crawler.settings)
        self._policy = outfit.policy if outfit.replay is None else None

    def process_request(self, request: Request) -> None:
        """Raises :class:`EgressDenied`."""
        if self._policy is not None and not request.url.startswith(MAILBOXES):
            check_url(request.url, self._policy)

    def process_response(self, request: Request, response: Response) -> Response:
        """Raises ``HttpError`` for a partial response without a range request (``http-206``)."""
        if response.status == PARTIAL and "Range" not in request.headers:
            raise HttpError(response, f"a part of {response.url}, although all of it was requested")
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Called for exceptions of this middleware, the handler and everything between them."""
        if isinstance(exception, EgressDenied) and self._stats:
            self._stats.inc_value("egress/denied")
            self._stats.inc_value(f"egress/denied/{exception.reason}")


def answer(request: Request, index: Index, max_bytes: int) -> Response:
    """Return the archived response; a 404 flagged ``replay-missing`` if there is none. Raises ``DownloadCancelledError`` if too long."""
    recorded = index.get(request.url, max_bytes or None)
    if recorded is None:
        return Response(request.url, status=MISSING, flags=["replay-missing"])
    if recorded.truncated:
        raise DownloadCancelledError(f"more than {max_bytes} bytes in {index.path}: {request.url}")
    headers = Headers()
    for name, value in _actual_headers(recorded):
        headers.appendlist(name, value.encode("utf-8"))
    headers["Content-Length"] = str(len(recorded.body))
    kind = responsetypes.from_args(headers=headers, url=request.url, body=recorded.body)
    return kind(request.url, status=recorded.status, headers=headers, body=recorded.body, flags=["replay"], protocol="HTTP/1.1")


def _with_web_encoding(response: Response) -> Response:
    """Return ``response`` with an encoding of the Web. Scrapy accepts any Python codec that a page names, including some for bytes
    (``rot13``), at which its middlewares fail, and some of quadratic time (``punycode``)."""
    if not isinstance(response, TextResponse) or {response.encoding, response.encoding.replace("_", "-")} & CODECS:
        return response
    return response.replace(encoding=decode(response.body, (response.headers.get("Content-Type") or b"").decode("latin-1"))[1])


def _actual_headers(recorded: Recording) -> list[tuple[str, str]]:
    """Return the headers without a content encoding that was decoded before archiving (many crawlers keep the header)."""
    encodings = ", ".join(value for name, value in recorded.headers if name.lower() == "content-encoding")
    if not encodings or _is_packed(recorded.body, encodings):
        return list(recorded.headers)
    return [(name, value) for name, value in recorded.headers if name.lower() != "content-encoding"]


def _is_packed(body: bytes, encodings: str) -> bool:
    try:
        return bool(decompress(body, encodings, PROBE_BYTES)) or not body
    except TooLarge:
        return True
    except (ValueError, zlib.error):
        return False
