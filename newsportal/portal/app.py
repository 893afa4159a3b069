"""The portal as an ASGI application."""

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import cache
from importlib import resources
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.staticfiles import StaticFiles
from starlette.types import Scope
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from newsportal import __version__
from newsportal.portal import api, errors, websub
from newsportal.portal.access import READ
from newsportal.portal.access_log import RequestIds
from newsportal.portal.account import alerts, login, marks, people
from newsportal.portal.background import POLL_SECONDS, BackgroundThreads
from newsportal.portal.circuit_breaker import guard_index, guard_store
from newsportal.portal.context import Portal, utc_now
from newsportal.portal.desk import (
    articles,
    categories,
    corpora,
    editing,
    extraction_rules,
    jobs,
    overview,
    publishing,
    source_form,
    source_trials,
    sources_yaml,
    topics,
)
from newsportal.portal.desk import sources as sources_page
from newsportal.portal.desk.sources import SuggestionCache
from newsportal.portal.desk.trial_runner import SiteChecks
from newsportal.portal.guard import LOCAL_HOSTS, RequestGuard
from newsportal.portal.mcp import route
from newsportal.portal.monitor import health, runs, system
from newsportal.portal.monitor.figures import FiguresCache
from newsportal.portal.monitor.process_metrics import Meter, MeteredRequests
from newsportal.portal.monitor.queues import Ask, Settle, cached
from newsportal.portal.monitor.system import LogBuffer
from newsportal.portal.readers import fever, greader
from newsportal.portal.reading import assistant, compilations, events, feeds, for_you, front_page, photos, search, story, story_lists
from newsportal.portal.reading.picture_proxy import PictureProxy, picture_router
from newsportal.portal.reloading import POLL_SECONDS as REREAD
from newsportal.portal.reloading import SourcesReloader
from newsportal.portal.response_cache import SharedResponses
from newsportal.search.base import Index
from newsportal.services.accounts import Accounts
from newsportal.services.daily import DailySums
from newsportal.services.jobs.local import Jobs
from newsportal.sources import Sources
from newsportal.store.store import Store

ROUTERS: tuple[APIRouter, ...] = (
    *(page.router for page in (front_page, feeds)),  # feeds before the lists: /topic/NAME/feed.rss is not a topic
    *(page.router for page in (story_lists, photos, compilations, assistant, events, editing, articles)),
    *(page.router for page in (story, for_you, alerts, search, marks, runs, system, overview, login, people)),
    *(page.router for page in (sources_page, source_trials, sources_yaml, source_form)),  # last: their keys would match other paths
    *(page.router for page in (publishing, topics, categories, corpora, extraction_rules)),
    *(publishing.targets_router, categories.methods_router, jobs.router, picture_router, marks.open_router, greader.router, route.router),
)  # the pages. To add one, add a file to the package of its feature and a name here. All of them need the right to read, too.

OPEN: tuple[APIRouter, ...] = (login.open_router, front_page.open_router, health.router, websub.router, greader.open_router, fever.router)
"""Routers that need no right: sign-in, and endpoints for programs that authenticate themselves or need not."""

FOREVER = "public, max-age=31536000, immutable"  # for URLs that contain a digest of their content
MIN_GZIP_BYTES = 1000  # smaller responses fit into one packet anyway
GZIP_LEVEL = 6  # level 9 costs twice the time for one per cent


class Static(StaticFiles):
    """Style sheets, scripts and icons. Requested with their digest (``?v=``), they may be cached for ever."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = FOREVER if b"v=" in scope.get("query_string", b"") else "no-cache"
        return response


@cache
def routes() -> tuple[BaseRoute, ...]:
    """Return a portal's routes, built once per process (FastAPI inspects some 260 signatures): endpoints get their app from the request."""
    root = APIRouter()
    for router in OPEN:
        root.include_router(router, include_in_schema=False)
    for router in ROUTERS:
        root.include_router(router, include_in_schema=False, dependencies=READ)
    api.add_to(root)
    return tuple(root.routes)


def create_app(
    store: Store,
    index: Index | None,
    sources: Sources,
    accounts: Accounts,
    *,
    hosts: Iterable[str] = LOCAL_HOSTS,
    follow_every: float = POLL_SECONDS,
    now: Callable[[], datetime] = utc_now,
    pushed: Callable[[], None] | None = None,
    queues: Ask | None = None,
    settle: Settle | None = None,
    reread_every: float = REREAD,
    daily: DailySums | None = None,
) -> FastAPI:
    """Return the portal over ``store`` and ``index`` (None: no search).

    ``hosts`` are the host names it accepts (:func:`newsportal.portal.guard.hosts_of`). While it is served, the index follows the store
    every ``follow_every`` seconds (0: never), and ``sources.yaml`` is checked for changes every ``reread_every`` seconds. The caller opens
    store, index and accounts, and closes them after serving. ``now`` is the clock of its pages. ``pushed`` is called when a source becomes
    due (a hub announced an update, an editor requested a visit) and when ``sources.yaml`` was changed (None: no crawl runs beside the
    portal). ``queues`` returns the state of the request queue (None: the monitor does not show it), ``settle`` retries or drops requests
    that were set aside. ``daily`` holds the daily sums of the monitor (None: it shows none); it follows the store as the index does.
    """
    no_docs: dict[str, Any] = {"docs_url": None, "redoc_url": None, "openapi_url": None}
    lifespan = BackgroundThreads(store, index, sources, accounts, daily, follow_every).lifespan
    app = FastAPI(title="newsportal", version=__version__, lifespan=lifespan, routes=list(routes()), **no_docs)
    app.state.portal = Portal(
        guard_store(store), guard_index(index) if index else None, sources, accounts, now, PictureProxy.of(sources),
        queues=cached(queues) if queues is not None else None, first_config=sources, has_crawler=pushed is not None,
    )  # fmt: skip
    app.state.pushed, app.state.daily, app.state.settle = pushed or (lambda: None), daily, settle
    app.state.site_checks, app.state.figures, app.state.meter, app.state.log_buffer = SiteChecks(), FiguresCache(), Meter(), LogBuffer()
    app.state.jobs = Jobs(sources.jobs_folder if sources.path else None, sources.path, now)
    app.state.reloader = SourcesReloader(app, reread_every)
    app.state.suggestion_cache = SuggestionCache(app.state.portal.store, sources)
    app.mount("/static", Static(directory=str(resources.files("newsportal.portal").joinpath("static"))), name="static")
    errors.add_to(app)
    app.add_middleware(GZipMiddleware, minimum_size=MIN_GZIP_BYTES, compresslevel=GZIP_LEVEL)  # the innermost layer around the routes
    app.add_middleware(SharedResponses)
    app.add_middleware(MeteredRequests, meter=app.state.meter)
    app.add_middleware(RequestGuard, hosts=tuple(hosts))
    app.add_middleware(RequestIds)
    if sources.portal.proxies:
        app.add_middleware(ProxyHeadersMiddleware, trusted_hosts=list(sources.portal.proxies))
    return app
