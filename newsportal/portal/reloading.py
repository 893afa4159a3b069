"""Reloads ``sources.yaml`` when it changes: a thread polls the file, and the portal, a frozen value, is replaced.

If the file has errors, the last valid one stays in force, and the desk shows the errors until they are fixed.
"""

import logging
from dataclasses import replace
from threading import TIMEOUT_MAX, Lock
from typing import Any

from fastapi import FastAPI

from newsportal.errors import SourcesError
from newsportal.portal.context import Portal
from newsportal.portal.desk.sources import SuggestionCache
from newsportal.portal.reading.picture_proxy import PictureProxy
from newsportal.portal.websub import Subscriber
from newsportal.services.periodic import PeriodicThread
from newsportal.sources import Sources, load, use_custom_words
from newsportal.sources.loading import Stamp, stamp

log = logging.getLogger(__name__)

POLL_SECONDS = 2.0  # seconds between polls of the file: one call to the file system
OPENED_ONCE = {"store": "store", "index_uri": "index", "accounts_uri": "portal.accounts"}
"""Fields that are opened once, with their keys: a change takes effect after a restart."""

STORE_CACHES = ("counts", "fronts")  # cached properties that depend on the store only


class SourcesReloader(PeriodicThread):
    """Watches the file of ``app.state.portal.config`` until :meth:`stop`. ``every``: seconds between polls; 0: only on request."""

    def __init__(self, app: FastAPI, every: float = POLL_SECONDS) -> None:
        super().__init__("sources-reloading", every or TIMEOUT_MAX, first=every or TIMEOUT_MAX, retry=every)
        self._app = app
        self._lock = Lock()
        self._last_stamp = self._stamp()

    def step(self) -> None:
        self.reload()

    def reload(self) -> bool:
        """Reload the file if it was changed; return whether it was. Called by the thread and by code that has just changed the file."""
        with self._lock:
            current = self._stamp()
            if current == self._last_stamp:
                return False
            self._last_stamp = current
            state = self._app.state
            before: Portal = state.portal
            try:
                sources = load(before.config.path)
            except SourcesError as error:
                log.error("sources.yaml was changed and has errors; the portal keeps its last valid version\n%s", error)
                state.portal = with_caches(before, replace(before, file_errors=error.problems))
                return True
            log.info("%s was changed, and reloaded", sources.path)
            state.portal = with_sources(before, sources)
            update_threads(state, before.config, sources)
            state.pushed()
            return True

    def _stamp(self) -> Stamp | None:
        sources = self._app.state.portal.config
        return stamp(sources.path) if sources.path is not None else None


def with_sources(before: Portal, sources: Sources) -> Portal:
    """Return the portal with another ``sources.yaml`` and the same store, index, accounts and clock."""
    first = before.first_config or before.config  # the file when store and index were opened
    unchanged = all(getattr(before.config, part) == getattr(sources, part) for part in ("pictures", "politeness", "portal"))
    after = replace(
        before, config=sources, file_errors=(), picture_proxy=before.picture_proxy if unchanged else PictureProxy.of(sources),
        restart_keys=tuple(key for part, key in OPENED_ONCE.items() if getattr(first, part) != getattr(sources, part)),
    )  # fmt: skip
    return with_caches(before, after)


def with_caches(before: Portal, after: Portal) -> Portal:
    """Return ``after`` with the caches of ``before``: no background work is done twice, and one ``stop`` ends it."""
    for name in STORE_CACHES:
        after.__dict__[name] = getattr(before, name)
    if "recommender" in before.__dict__ and before.site.recommendation == after.site.recommendation:
        after.__dict__["recommender"] = before.recommender
    if (before.sources, before.site.zone) == (after.sources, after.site.zone):
        after.__dict__["health_cache"] = before.health_cache
    return after


def update_threads(state: Any, before: Sources, sources: Sources) -> None:
    """Pass ``sources`` to the segmenter, the suggestions and the subscriber."""
    if (sources.words, sources.dictionary) != (before.words, before.dictionary):
        use_custom_words(sources)
    suggestions: SuggestionCache = state.suggestion_cache
    suggestions.follow(sources)
    subscriber: Subscriber | None = getattr(state, "subscriber", None)
    if subscriber is not None:
        subscriber.follow(sources)
