"""Mails of the newsletters of ``sources.yaml``, as responses of a changing page: the ETag is the position up to which all was read."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from datetime import UTC, datetime
from typing import Any

from scrapy import Request
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import UnsupportedURLSchemeError
from scrapy.http import Response

from newsportal.crawl.addon import SourcesAddon
from newsportal.crawl.handlers.handler import ALLOW_PRIVATE, MISSING, REPLAY
from newsportal.net.egress import Policy
from newsportal.net.egress.mailbox import MailboxResult, RawMail, read_mailbox

MAIL_URL = "mailbox://localhost/"  # URL of a mail whose text is at hand


class MailboxResponse(Response):
    """``mails``: the received ones, oldest first. ``left``: how many more wait."""

    mails: tuple[RawMail, ...] = ()
    left: int = 0


class MailboxHandler(BaseDownloadHandler):
    """Reads the mailbox of the request's source, regardless of the request's URL: the password is sent nowhere else."""

    lazy = True

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        addon = crawler.get_addon(SourcesAddon)
        self._sources = {source.key: source for source in addon.sources.newsletters} if addon is not None else {}
        self._by_address = {source.mailbox.address: source for source in reversed(self._sources.values())}
        self._policy = Policy(tuple(crawler.settings.getlist(ALLOW_PRIVATE)))
        self._replays = bool(crawler.settings.get(REPLAY))

    async def download_request(self, request: Request) -> Response:
        """Raises ``EgressDenied``, ``FetchFailed``."""
        source = self._sources.get(str(request.meta.get("source"))) or self._by_address.get(request.url)
        if source is None:
            raise UnsupportedURLSchemeError(f"no newsletter of sources.yaml is at {request.url}")
        if self._replays or request.url == MAIL_URL:  # mails are not archived; the text of a deferred one is in its link
            return Response(request.url, status=MISSING, flags=["replay-missing"])
        after = (request.headers.get("If-None-Match") or b"").decode() or None
        timeout = self.crawler.settings.getfloat("DOWNLOAD_TIMEOUT")
        fetched = await _in_a_thread(read_mailbox, source.mailbox, source.wanted(after, datetime.now(UTC)), self._policy, timeout)
        unchanged = after is not None and fetched.position == after and not fetched.remaining
        response = MailboxResponse(request.url, 304 if unchanged else 200, {"ETag": fetched.position} if fetched.position else None)
        response.mails, response.left = fetched.mails, fetched.remaining
        return response


async def _in_a_thread(function: Callable[..., MailboxResult], *args: Any) -> MailboxResult:
    """Run ``function`` in a separate daemon thread: a server that hangs must block neither the store's work nor the end of the crawl."""
    answer: Future[MailboxResult] = Future()
    answer.set_running_or_notify_cancel()

    def work() -> None:
        try:
            answer.set_result(function(*args))
        except BaseException as error:  # noqa: BLE001  raised in the awaiting code
            answer.set_exception(error)

    threading.Thread(target=work, name="mailbox", daemon=True).start()
    return await asyncio.wrap_future(answer)
