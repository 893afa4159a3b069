"""WebSub subscriptions to feeds: a thread of the portal subscribes at hubs, which verify the subscription and push updates."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse, Response

from newsportal.errors import EgressDenied, FetchFailed
from newsportal.net import egress
from newsportal.portal.context import Portal, PortalDep, Visit
from newsportal.portal.request_body import WEBSUB_PREFIX, read_stream
from newsportal.schedule.websub import is_signed, lease_of, request_form, should_request
from newsportal.services.periodic import PeriodicThread
from newsportal.sources import Sources
from newsportal.store.crawl_state import Subscription
from newsportal.store.store import Store

logger = logging.getLogger(__name__)

POLL_SECONDS: Final = 60.0  # seconds between polls of the subscriptions
MAX_PER_POLL: Final = 200  # hubs called per poll: some hubs serve thousands of feeds, and each confirms with a request of its own
MAX_ANSWER: Final = 64 * 1024  # bytes of a hub's response, which is empty or a sentence
MAX_TRIES: Final = 3  # requests to unsubscribe from a hub that does not confirm; its lease expires anyway


class Subscriber(PeriodicThread):
    """Renews and ends subscriptions. ``now`` is the clock (aware)."""

    def __init__(
        self, store: Store, sources: Sources, now: Callable[[], datetime] = lambda: datetime.now(UTC), every: float = POLL_SECONDS
    ) -> None:
        super().__init__("subscriber", every, first=every, retry=every)
        self._store, self._now = store, now
        self.follow(sources)

    def follow(self, sources: Sources) -> None:
        """Use a changed ``sources.yaml``."""
        self._sources, self._policy = sources, egress.Policy(tuple(sources.politeness.allow_private))

    def step(self) -> int:
        """Call the hubs that are due, and return their number. Raises ``StoreError``."""
        now, due = self._now(), []
        enabled = self._sources.schedule.websub and public_url(self._sources) is not None
        alive = {feed.key for feed in self._sources.feeds if feed.enabled and enabled}
        for sub in self._store.subscriptions.all():
            removed = sub.source not in alive
            if removed and (sub.tries >= MAX_TRIES or not (sub.until or sub.leaving)):
                self._store.subscriptions.drop(sub.source)
                continue
            if removed and not sub.leaving:
                sub = replace(sub, leaving=True, asked=None, tries=0)
            if should_request(now, last_request=sub.asked, tries=sub.tries, until=sub.until, denied=sub.denied is not None):
                due.append(sub)
        if due:
            asyncio.run(self._call_hubs(due[:MAX_PER_POLL], now))
        return len(due[:MAX_PER_POLL])

    async def _call_hubs(self, due: list[Subscription], now: datetime) -> None:
        async with egress.open_exchange(self._policy) as exchange:
            for sub in due:
                self._store.subscriptions.save(replace(sub, asked=now, tries=sub.tries + 1, denied=None))  # the hub may confirm at once
                mode = "unsubscribe" if sub.leaving else "subscribe"
                body = request_form(mode, f"{(self._sources.portal.url or '').rstrip('/')}/websub/{sub.token}", sub.topic, sub.secret)
                headers = {
                    "user-agent": self._sources.user_agent, "content-type": "application/x-www-form-urlencoded",
                    "content-length": str(len(body)), "accept": "*/*",
                }  # fmt: skip
                try:
                    response = await exchange("POST", sub.hub, headers, body, MAX_ANSWER)
                except (EgressDenied, FetchFailed) as error:
                    logger.warning("%s: its hub cannot be reached to %s: %s", sub.source, mode, error, extra={"source": sub.source})
                    continue
                if not 200 <= response.status < 300:
                    extra = {"source": sub.source, "url": sub.hub}
                    logger.warning("%s: its hub %s returns %d to %s", sub.source, sub.hub, response.status, mode, extra=extra)


def public_url(sources: Sources) -> str | None:
    """Return ``portal.url`` if hubs may reach it (it is public, or ``allow_private`` names it), else None."""
    url = sources.portal.url
    try:
        return egress.check_url(url, egress.Policy(tuple(sources.politeness.allow_private))) if url else None
    except EgressDenied:
        return None


router = APIRouter()

MAX_PUSH: Final = 8 * 1024 * 1024  # bytes of a feed, the same limit as for fetched ones
MAX_CHALLENGE: Final = 2000
READ_TIMEOUT: Final = 20.0  # seconds for a push to arrive
MIN_INTERVAL: Final = timedelta(minutes=1)  # between visits, because some hubs push every entry by itself


@router.get(f"{WEBSUB_PREFIX}{{token}}")
def verify(request: Request, token: str) -> Response:
    """Confirm that we want to subscribe or unsubscribe (5.3), or record why the hub refuses (5.2)."""
    portal, params = Visit(request).portal, request.query_params
    sub = portal.store.subscriptions.by_token(token)
    if sub is None or params.get("hub.topic") != sub.topic:
        return PlainTextResponse("This portal did not request that.\n", 404)
    if params.get("hub.mode") == "denied":
        portal.store.subscriptions.save(replace(sub, until=None, denied=(params.get("hub.reason") or "no reason given")[:300], tries=0))
        return PlainTextResponse("\n")
    if sub.asked is None or params.get("hub.mode") != ("unsubscribe" if sub.leaving else "subscribe"):
        return PlainTextResponse("This portal did not request that.\n", 404)
    if sub.leaving:
        portal.store.subscriptions.drop(sub.source)
    else:
        until = lease_of(params.get("hub.lease_seconds", ""), portal.now())
        portal.store.subscriptions.save(replace(sub, until=until, tries=0, denied=None))
    return PlainTextResponse(params.get("hub.challenge", "")[:MAX_CHALLENGE], headers={"cache-control": "no-store"})


@router.post(f"{WEBSUB_PREFIX}{{token}}")
async def push(request: Request, portal: PortalDep, token: str) -> Response:
    """Receive an update from the hub (7). Its content is not used: the source is visited at once."""
    sub = await run_in_threadpool(portal.store.subscriptions.by_token, token)
    if sub is None or sub.leaving:
        return PlainTextResponse("Not subscribed.\n", 410)
    try:
        body = await asyncio.wait_for(read_stream(request, MAX_PUSH), READ_TIMEOUT)
    except TimeoutError:
        return PlainTextResponse("The request body took too long to arrive.\n", 408)
    except ClientDisconnect:
        return PlainTextResponse("The connection was closed before the end of the body.\n", 400)
    if body is None:
        return PlainTextResponse(f"At most {MAX_PUSH} bytes may be sent.\n", 413)
    if is_signed(sub.secret, body, request.headers.get("x-hub-signature", "")):
        await run_in_threadpool(_make_due, portal, sub, portal.now())
        request.app.state.pushed()
    return Response(status_code=202)  # also for an invalid signature, so that guessing reveals nothing (8)


def _make_due(portal: Portal, sub: Subscription, now: datetime) -> None:
    """Make the source due now. Raises ``StoreError``: the hub tries again."""
    store = portal.store
    store.subscriptions.save(replace(sub, pushed=now))
    state = store.source_state(sub.source)
    at = max(now, state.last_run + MIN_INTERVAL) if state.last_run and state.last_run <= now else now
    if state.next_visit is None or state.next_visit > at:
        store.save_source_state(replace(state, next_visit=at))
