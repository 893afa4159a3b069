"""List pages are asked politely and always; whatever is wrong with one is counted, and it is read in full the next time."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any

from scrapy.http import Request, Response
from twisted.python.failure import Failure

from newsportal.errors import NotApplicable, StoreError
from newsportal.frontier import source_health
from newsportal.frontier.ledger import STORE_FAILS, Filtered, utcnow
from newsportal.spiders.asking import Asking, Source
from newsportal.spiders.fetcher import header, outcome_of, retry_after
from newsportal.store.results import SourceState

logger = logging.getLogger(__name__)

LIST_PRIORITY = 10
"""List pages go before articles: they say what is new."""

CONDITIONAL = frozenset({b"If-None-Match", b"If-Modified-Since"})
"""Headers of a request that 304 may answer (RFC 9110, 15.4.5); to any other it is no answer."""


class ListPages(Asking):
    """How a spider comes by list pages."""

    def list_page(
        self,
        url: str,
        source: Source,
        callback: Callable[..., Any],
        *,
        state: SourceState | None = None,
        meta: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Request:
        """A request for a list page that ``callback`` reads: never filtered, conditional where ``state`` has validators."""
        headers = {}
        if state is not None:
            etag, modified = state.validators.get(url, (None, None))
            headers = {name: value for name, value in (("If-None-Match", etag), ("If-Modified-Since", modified)) if value}
        return Request(
            url,
            callback=self.parse_list,
            errback=self.list_page_failed,
            headers=headers,
            dont_filter=True,
            priority=LIST_PRIORITY + self.urgency(source.key),
            meta={
                "source": source.key,
                "handle_httpstatus_list": [304],
                "list_page": url if state else None,
                **({"thorough": True} if source.key in self.thorough else {}),
                **self.manners(source),
                **(meta or {}),
            },
            cb_kwargs={"source": source, "read": callback, **kwargs},
        )

    async def parse_list(self, response: Response, source: Source, read: Callable[..., Any], **kwargs: Any) -> AsyncIterator[Any]:
        """What ``read`` finds in a list page. However that fails, the page is counted, and read in full the next time."""
        key = source.key
        self.visited.add(key)
        if response.meta.get("thorough"):
            self.thorough.add(key)  # the visit was begun by another process
        self.ledger.count(key, "list_pages")
        source_health.note_moved(self.ledger, key, response)
        if response.status == 304:
            if CONDITIONAL.isdisjoint(response.request.headers.keys() if response.request else ()):
                self.ledger.list_failed(key, "http-304", f"{response.url}: not modified, the server says, whatever is asked")
            else:
                self.ledger.count(key, "not_modified")
            return
        try:
            async for found in read(response, source, **kwargs):
                yield found
        except NotApplicable as why:
            self.ledger.list_failed(key, why.reason, f"{response.url}: {why.detail}")
        except StoreError as error:
            logger.error("%s: nothing is taken from %s: %s", key, response.url, error)
            self.ledger.list_failed(key, STORE_FAILS, f"{response.url}: {error}")
        except Exception as error:  # a page that breaks its reader must not be lost without a trace
            logger.exception("reading failed on %s", response.url)
            self.ledger.list_failed(key, f"error: {type(error).__name__}", f"{response.url}: {error}")
        else:
            self._remember(response, key)

    def _remember(self, response: Response, key: str) -> None:
        """The validators of a list page whose links are safely in the store: only now may it answer 304.

        Kept for the pages that are asked for with them (their number is the file's, not that of all pagers and result pages),
        under the address in the file, wherever that leads today.
        """
        etag, modified = header(response, "ETag"), header(response, "Last-Modified")
        if (asked := response.meta["list_page"]) and (etag or modified):
            self.ledger.validate(key, asked, (etag, modified))

    def list_page_failed(self, failure: Failure) -> None:
        request: Request = failure.request  # type: ignore[attr-defined]
        outcome = outcome_of(failure)
        source = request.meta["source"]
        self.visited.add(source)
        self.ledger.list_failed(source, outcome.reason, f"{request.url}: {outcome.detail}")
        seconds = retry_after(failure, utcnow())
        if seconds:
            self.ledger.rest(source, utcnow() + timedelta(seconds=seconds))

    def goes_on(self, source: Source, found: Filtered) -> bool:
        """Whether a further list page is worth a request: this one had something new, or an earlier visit was cut short."""
        return not found.stale or source.key in self.thorough
