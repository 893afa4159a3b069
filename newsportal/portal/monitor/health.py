"""``/health`` for monitoring, ``/metrics`` for Prometheus, ``/healthz`` (the process is alive) and ``/readyz`` (it can serve readers)."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from newsportal import __version__
from newsportal.errors import NewsportalError, SearchError, StoreError
from newsportal.messages.reasons import cause_of
from newsportal.portal.access import identity_of, may, require
from newsportal.portal.context import Portal, PortalDep
from newsportal.portal.monitor.process_metrics import measure_machine
from newsportal.services.accounts import Right
from newsportal.sources.timing import ORDER

OUTCOMES: Final = ("known", "repeated", "fetched", "parsed", "stored", "folded", "same")


def gauge(name: str, meaning: str, labels: tuple[str, ...], rows: Mapping[Any, float]) -> Metric:
    """Return a gauge with a value for each label, or tuple of labels, of ``rows``."""
    family = GaugeMetricFamily(name, meaning, labels=labels)
    for labelled, number in rows.items():
        family.add_metric(labelled if isinstance(labelled, tuple) else (labelled,), number)
    return family


class PortalCollector(Collector):
    """Collects the current figures of the portal on each scrape. Parts that do not respond are left out and are 0 in ``newsportal_up``."""

    def __init__(self, portal: Portal) -> None:
        self._portal = portal

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        yield InfoMetricFamily("newsportal_build", "Which version answers.", {"version": __version__})
        up = GaugeMetricFamily("newsportal_up", "Whether a part answers: 1, or 0.", labels=("part",))
        parts: dict[str, Callable[[], list[Metric]]] = {
            "store": self._store, "index": self._index, "queue": self._queue, "accounts": self._accounts, "sources": self._sources,
            "machine": self._machine,
        }  # fmt: skip
        for name, ask in parts.items():
            try:
                metrics = ask()
            except (NewsportalError, OSError):
                up.add_metric((name,), 0)
                continue
            up.add_metric((name,), 1)
            yield from metrics
        yield up

    def _store(self) -> list[Metric]:
        tally, store = self._portal.tally(), self._portal.store
        totals = GaugeMetricFamily("newsportal_articles", "Articles that are stored.", tally.articles)
        stories = GaugeMetricFamily("newsportal_stories", "Stories that they make.", tally.stories)
        rows = {(target, state): number for target, counts in store.outbox.counts().items() for state, number in counts.items()}
        outbox = gauge("newsportal_outbox_articles", "Articles to be published elsewhere.", ("target", "state"), rows)
        behind = store.outbox.behind(target.name for target in self._portal.config.publish if target.enabled)
        unread = gauge("newsportal_outbox_behind_changes", "Changes that a target has not read yet.", ("target",), behind)
        return [totals, stories, outbox, unread, *self._last_run()]

    def _last_run(self) -> list[Metric]:
        last = next(iter(self._portal.store.runs(1, ended=True)), None)
        if last is None or last.ended is None:
            return []
        total = last.total
        meaning, seconds = "When the last crawl ended, in seconds since 1970.", (last.ended - last.started).total_seconds()
        ended = GaugeMetricFamily("newsportal_last_run_timestamp_seconds", meaning, last.ended.timestamp())
        duration = GaugeMetricFamily("newsportal_last_run_duration_seconds", "How long the last crawl took.", seconds)
        outcomes = {name: getattr(total, name) for name in OUTCOMES}
        links = gauge("newsportal_last_run_links", "What became of the links of the last crawl.", ("outcome",), outcomes)
        failed = Counter[str]()
        for reason, number in (*total.failed.items(), *total.list_failed.items()):
            failed[cause_of(reason)] += number
        failures = gauge("newsportal_last_run_failures", "Failures of the last crawl, by their cause.", ("cause",), failed)
        return [ended, duration, links, failures]

    def _index(self) -> list[Metric]:
        if self._portal.index is None:
            return []
        behind = max(0, self._portal.store.last_seq() - self._portal.index.position())
        return [GaugeMetricFamily("newsportal_index_behind_changes", "Changes that the search does not know yet.", behind)]

    def _queue(self) -> list[Metric]:
        if self._portal.queues is None:
            return []
        queues = self._portal.queues()
        if queues.error:
            raise NewsportalError(queues.error)
        rows = {(row.name, state): getattr(row, state) for row in queues.queues for state in ("waiting", "later", "leased", "aside")}
        family = gauge("newsportal_queue_requests", "Requests of the crawl, by what they wait for.", ("queue", "state"), rows)
        numbers = Counter[tuple[str, str]]()
        for retry in queues.retries:
            numbers[retry.queue, retry.reason] += retry.links
        retries = gauge("newsportal_links_retry", "Links waiting for a retry, by reason.", ("queue", "reason"), numbers)
        workers = GaugeMetricFamily("newsportal_workers", "Workers that crawl.", len(queues.workers))
        return [family, retries, workers]

    def _accounts(self) -> list[Metric]:
        counts = Counter[str]()
        for states in self._portal.accounts.alerts.counts().values():
            counts.update(states)
        return [gauge("newsportal_alert_messages", "Messages of alerts.", ("state",), counts)]

    def _sources(self) -> list[Metric]:
        counts = Counter(source.health.state for source in self._portal.health())
        states = gauge("newsportal_sources", "Sources, by state of health.", ("state",), {state: counts[state] for state in ORDER})
        mistakes = GaugeMetricFamily("newsportal_sources_file_mistakes", "Mistakes in sources.yaml.", len(self._portal.file_errors))
        return [states, mistakes]

    def _machine(self) -> list[Metric]:
        machine = measure_machine(self._portal.config)
        free = GaugeMetricFamily("newsportal_disk_free_bytes", "Free on the disk of the store.", machine.disk.free)
        size = GaugeMetricFamily("newsportal_disk_size_bytes", "Size of the disk of the store.", machine.disk.total)
        sizes = {part.name: part.bytes for part in machine.sizes if part.bytes is not None}
        saved, meaning = self._portal.config.backup_mark, "When the store was last backed up, in seconds since 1970; 0: never."
        backup = GaugeMetricFamily("newsportal_last_backup_timestamp_seconds", meaning, saved.stat().st_mtime if saved.exists() else 0)
        return [free, size, gauge("newsportal_part_size_bytes", "What lies on this disk, by part.", ("part",), sizes), backup]


router = APIRouter()

UNCACHED: Final = {"cache-control": "no-store"}


@router.get("/healthz")
def alive() -> Response:
    """Report only that the process responds."""
    return PlainTextResponse("ok\n", headers=UNCACHED)


@router.get("/readyz")
def ready(portal: PortalDep) -> Response:
    """503 while the store does not respond."""
    try:
        portal.store.last_seq()
    except StoreError:
        return PlainTextResponse("the store does not answer\n", 503, headers=UNCACHED)
    return PlainTextResponse("ok\n", headers=UNCACHED)


@router.get("/metrics")
def metrics(request: Request, portal: PortalDep) -> Response:
    """Public, for tokens or off, as ``portal.metrics`` in ``sources.yaml`` says."""
    way = portal.config.portal.metrics
    require(way != "off")
    if way == "token" and not may(request, Right.WATCH):
        if identity_of(request) is not None:
            raise HTTPException(403)
        return PlainTextResponse("a token that may watch is needed\n", 401, headers={**UNCACHED, "www-authenticate": "Bearer"})
    registry = CollectorRegistry()
    for collector in (request.app.state.meter.registry, ProcessCollector(registry=None), PortalCollector(portal)):
        registry.register(collector)
    encode, kind = choose_encoder(request.headers.get("accept", ""))  # the text format, or OpenMetrics if requested
    return Response(encode(registry), media_type=kind, headers={**UNCACHED, "vary": "Accept"})


HIDDEN = "the index does not follow the store; the log says why"  # for the public: the error itself may name hosts and files


@router.get("/health")
def health(request: Request, portal: PortalDep) -> Response:
    try:
        state, status = {"status": "ok", **store_health(portal)}, 200
    except StoreError:
        state, status = {"status": "store-unavailable"}, 503
    search = search_health(portal, int(state.get("seq", 0)))
    if status == 200 and search.get("status") == "unavailable":
        state["status"] = "degraded"
    if portal.unrecorded:
        state["not_recorded"] = dict(portal.unrecorded)
    following = getattr(request.app.state, "follower", None)
    if following and following.error:
        search["error"] = following.error if may(request, Right.WATCH) else HIDDEN
    return JSONResponse({**state, "version": __version__, "search": search}, status, headers={"cache-control": "no-store"})


def store_health(portal: Portal) -> dict[str, Any]:
    """Return totals and the last run: ``last_run`` is the last that ended, or if none has, the one in progress."""
    tally = portal.tally()
    last = next(iter(portal.store.runs(1, ended=True) or portal.store.runs(1)), None)
    return {
        "articles": tally.articles,
        "stories": tally.stories,
        "newest": tally.newest.isoformat() if tally.newest else None,
        "seq": portal.store.last_seq(),
        "last_run": {"id": last.id, "started": last.started.isoformat(), "ended": last.ended.isoformat() if last.ended else None}
        if last
        else None,
    }


def search_health(portal: Portal, seq: int) -> dict[str, Any]:
    """Return how far the index is behind the store, in rows of the change log."""
    if portal.index is None:
        return {"status": "off"}
    try:
        return {"status": "ok", "behind": max(0, seq - portal.index.position())}
    except SearchError:
        return {"status": "unavailable"}
