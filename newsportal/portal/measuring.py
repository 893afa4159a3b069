"""How many requests come, how long they take, and what they are answered: by route, never by address, so that the figures stay few."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from time import monotonic, perf_counter
from typing import Final

from prometheus_client import CollectorRegistry, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MINUTES: Final = 60
"""Of which the monitor shows the requests, a minute each."""

BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Seconds. A page is to take less than 0.1."""

SHARED: Final = "shared"
"""The route of a page that was written for another reader some seconds ago: it is told before a route is looked for."""

BAD: Final = 400
"""From this status on nothing was found, or something broke."""

METHODS: Final = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))


class Meter:
    """A registry of its own, so that two portals of one process do not meet. Used by the event loop alone, but read by threads."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self.registry = CollectorRegistry()
        self._seconds = Histogram(
            "newsportal_http_request_duration_seconds",
            "Time to answer a request, by route.",
            ("method", "route", "status"),
            buckets=BUCKETS,
            registry=self.registry,
        )
        self._now = now
        self._minutes: deque[tuple[int, Counter[str]]] = deque(maxlen=MINUTES)

    def saw(self, method: str, route: str, status: int, seconds: float) -> None:
        kind = f"{status // 100}xx"
        self._seconds.labels(method if method in METHODS else "other", route, kind).observe(seconds)
        minute = int(self._now() // 60)
        if not self._minutes or self._minutes[-1][0] != minute:
            self._minutes.append((minute, Counter()))
        self._minutes[-1][1][kind] += 1

    def minutes(self) -> list[dict[str, int]]:
        """Requests of each of the last minutes by kind of answer (``2xx`` …), the earliest first; of those without any, nothing."""
        present, found = int(self._now() // 60), {minute: dict(counted) for minute, counted in list(self._minutes)}
        return [found.get(minute, {}) for minute in range(present - MINUTES + 1, present + 1)]


class Measured:
    """The outermost layer but the guard's."""

    def __init__(self, app: ASGIApp, meter: Meter) -> None:
        self.app = app
        self.meter = meter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = perf_counter(), 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, noted)
        finally:
            self.meter.saw(scope["method"], route_of(scope, status), status, perf_counter() - began)


def route_of(scope: Scope, status: int) -> str:
    """The template of the route that answered; all of ``/static`` is one, so are pages that readers share, and what is no page."""
    found = getattr(scope.get("route"), "path", None)
    if isinstance(found, str):
        return found
    if scope.get("root_path", "").endswith("/static") or scope["path"].startswith("/static/"):
        return "/static"
    return SHARED if status < BAD else "none"
