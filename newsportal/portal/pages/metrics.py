"""``/metrics`` in Prometheus' form, ``/healthz`` (this process lives) and ``/readyz`` (it can answer readers)."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import PlainTextResponse
from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.exposition import choose_encoder

from newsportal.accounts import Right
from newsportal.errors import StoreError
from newsportal.portal.access import may, signed
from newsportal.portal.context import Portal, Visit
from newsportal.portal.gauges import Told

router = APIRouter()

UNCACHED: Final = {"cache-control": "no-store"}


@router.get("/healthz")
def alive() -> Response:
    """Tells nothing but that the process answers."""
    return PlainTextResponse("ok\n", headers=UNCACHED)


@router.get("/readyz")
def ready(request: Request) -> Response:
    """503 while the store does not answer."""
    portal: Portal = request.app.state.portal
    try:
        portal.store.last_seq()
    except StoreError:
        return PlainTextResponse("the store does not answer\n", 503, headers=UNCACHED)
    return PlainTextResponse("ok\n", headers=UNCACHED)


@router.get("/metrics")
def metrics(request: Request) -> Response:
    """``portal.metrics`` in ``sources.yaml`` says for whom."""
    portal = Visit(request).portal
    way = portal.known.portal.metrics if portal.known is not None else "token"
    if way == "off":
        raise HTTPException(404)
    if way == "token" and not may(request, Right.WATCH):
        if portal.accounts is None:
            raise HTTPException(404)
        if signed(request) is not None:
            raise HTTPException(403)
        return PlainTextResponse("a token that may watch is needed\n", 401, headers={**UNCACHED, "www-authenticate": "Bearer"})
    told = CollectorRegistry()
    for collector in (request.app.state.meter.registry, ProcessCollector(registry=None), Told(portal)):
        told.register(collector)
    encode, kind = choose_encoder(request.headers.get("accept", ""))  # the text form, or OpenMetrics where it is asked for
    return Response(encode(told), media_type=kind, headers={**UNCACHED, "vary": "Accept"})
