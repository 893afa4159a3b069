"""``/metrics`` in Prometheus' form, ``/healthz`` (this process lives) and ``/readyz`` (it can answer readers)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from newsportal.accounts import Right
from newsportal.errors import NewsportalError, StoreError
from newsportal.monitor.causes import cause_of
from newsportal.portal.access import may, signed
from newsportal.portal.context import Portal, Visit

router = APIRouter()

OUTCOMES: Final = ("known", "repeated", "fetched", "parsed", "stored", "folded", "same")
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
    told.register(Told(request))
    body = generate_latest(request.app.state.meter.registry) + generate_latest(told)
    return Response(body, media_type=CONTENT_TYPE_LATEST, headers=UNCACHED)


class Told(Collector):
    """What the portal knows at this moment, asked when it is scraped. What does not answer is left out: ``newsportal_up`` tells so."""

    def __init__(self, request: Request) -> None:
        self._portal: Portal = request.app.state.portal

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        up = GaugeMetricFamily("newsportal_up", "Whether a part answers.", labels=("part",))
        parts: dict[str, Callable[[], list[Metric]]] = {
            "store": self._store,
            "index": self._index,
            "queue": self._queue,
            "accounts": self._accounts,
        }
        for name, ask in parts.items():
            try:
                found = ask()
            except NewsportalError:
                up.add_metric((name,), 0)
                continue
            up.add_metric((name,), 1)
            yield from found
        yield up

    def _store(self) -> list[Metric]:
        tally, store = self._portal.tally(), self._portal.store
        totals = GaugeMetricFamily("newsportal_articles", "Articles that are stored.", tally.articles)
        stories = GaugeMetricFamily("newsportal_stories", "Stories that they make.", tally.stories)
        outbox = GaugeMetricFamily("newsportal_outbox", "Articles to be published elsewhere.", labels=("target", "state"))
        for target, counts in store.outbox.counts().items():
            for state, number in counts.items():
                outbox.add_metric((target, state), number)
        return [totals, stories, outbox, *self._last_run()]

    def _last_run(self) -> list[Metric]:
        last = next((run for run in self._portal.store.runs(5) if run.ended is not None), None)
        if last is None or last.ended is None:
            return []
        total = last.total
        ended = GaugeMetricFamily("newsportal_last_run_timestamp_seconds", "When the last crawl ended.", last.ended.timestamp())
        took = GaugeMetricFamily("newsportal_last_run_seconds", "How long it took.", (last.ended - last.started).total_seconds())
        links = GaugeMetricFamily("newsportal_last_run_links", "What became of its links.", labels=("outcome",))
        for name in OUTCOMES:
            links.add_metric((name,), getattr(total, name))
        failed: dict[str, int] = {}
        for table in (total.failed, total.list_failed):
            for reason, number in table.items():
                failed[cause_of(reason)] = failed.get(cause_of(reason), 0) + number
        failures = GaugeMetricFamily("newsportal_last_run_failures", "Its failures, by their cause.", labels=("cause",))
        for cause, number in failed.items():
            failures.add_metric((cause,), number)
        return [ended, took, links, failures]

    def _index(self) -> list[Metric]:
        if self._portal.index is None:
            return []
        behind = max(0, self._portal.store.last_seq() - self._portal.index.position())
        return [GaugeMetricFamily("newsportal_index_behind_changes", "Changes that the search does not know yet.", behind)]

    def _queue(self) -> list[Metric]:
        if self._portal.queues is None:
            return []
        told = self._portal.queues()
        if told.away:
            raise NewsportalError(told.away)
        family = GaugeMetricFamily("newsportal_queue", "Requests of the crawl.", labels=("queue", "state"))
        for row in told.queues:
            for state in ("waiting", "later", "leased", "aside"):
                family.add_metric((row.name, state), getattr(row, state))
        workers = GaugeMetricFamily("newsportal_workers", "Workers that crawl.", len(told.workers))
        return [family, workers]

    def _accounts(self) -> list[Metric]:
        if self._portal.accounts is None:
            return []
        counted: dict[str, int] = {}
        for states in self._portal.accounts.alerts.counts().values():
            for name, number in states.items():
                counted[name] = counted.get(name, 0) + number
        family = GaugeMetricFamily("newsportal_alert_messages", "Messages of alerts.", labels=("state",))
        for state, number in counted.items():
            family.add_metric((state,), number)
        return [family]
