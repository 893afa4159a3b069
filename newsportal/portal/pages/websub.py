"""What hubs ask and tell (WebSub): the proof that we subscribed, and that a feed has something new."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse, Response

from newsportal.portal.context import Portal, Visit
from newsportal.portal.sent import PUSHED
from newsportal.schedule.websub import lease_of, signed
from newsportal.store.subscriptions import Subscription

router = APIRouter()

MAX_PUSH: Final = 8 * 1024 * 1024
"""Bytes of a feed that is pushed, as of one that is fetched."""

MAX_CHALLENGE: Final = 2000
PATIENCE: Final = 20.0
"""Seconds for a push to arrive."""

CALM: Final = timedelta(minutes=1)
"""After a visit, for a hub that tells of every entry by itself."""


@router.get(f"{PUSHED}{{token}}")
def verify(request: Request, token: str) -> Response:
    """The hub asks whether it was us (5.3), or says why it does not want to (5.2)."""
    portal, asked = Visit(request).portal, request.query_params
    known = portal.store.subscriptions.named(token)
    if known is None or asked.get("hub.topic") != known.topic:
        return PlainTextResponse("Nobody asked for that.\n", 404)
    if asked.get("hub.mode") == "denied":
        portal.store.subscriptions.save(replace(known, until=None, denied=(asked.get("hub.reason") or "no reason given")[:300], tries=0))
        return PlainTextResponse("\n")
    if known.asked is None or asked.get("hub.mode") != ("unsubscribe" if known.leaving else "subscribe"):
        return PlainTextResponse("Nobody asked for that.\n", 404)
    if known.leaving:
        portal.store.subscriptions.drop(known.source)
    else:
        until = lease_of(asked.get("hub.lease_seconds", ""), portal.now())
        portal.store.subscriptions.save(replace(known, until=until, tries=0, denied=None))
    return PlainTextResponse(asked.get("hub.challenge", "")[:MAX_CHALLENGE], headers={"cache-control": "no-store"})


@router.post(f"{PUSHED}{{token}}")
async def push(request: Request, token: str) -> Response:
    """The hub sends what is new (7). It is not read, only believed that there is something: the source is visited at once."""
    portal = Visit(request).portal
    known = await run_in_threadpool(portal.store.subscriptions.named, token)
    if known is None or known.leaving:
        return PlainTextResponse("Not subscribed any more.\n", 410)
    try:
        body = await asyncio.wait_for(_body(request), PATIENCE)
    except TimeoutError:
        return PlainTextResponse("It took too long to arrive.\n", 408)
    except ClientDisconnect:
        return PlainTextResponse("It broke off.\n", 400)
    if body is None:
        return PlainTextResponse(f"At most {MAX_PUSH} bytes may be sent.\n", 413)
    if signed(known.secret, body, request.headers.get("x-hub-signature", "")):
        await run_in_threadpool(_due, portal, known, portal.now())
        request.app.state.pushed()
    return Response(status_code=202)  # also for a false signature: who guesses learns nothing (8)


async def _body(request: Request) -> bytes | None:
    """The body; ``None`` where it is too long, of which no more is read."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_PUSH:
            return None
    return bytes(body)


def _due(portal: Portal, known: Subscription, now: datetime) -> None:
    """The source's next visit is now. Raises ``StoreError``: the hub tries again."""
    store = portal.store
    store.subscriptions.save(replace(known, pushed=now))
    state = store.source_state(known.source)
    at = max(now, state.last_run + CALM) if state.last_run and state.last_run <= now else now
    if state.next_visit is None or state.next_visit > at:
        store.save_source_state(replace(state, next_visit=at))
