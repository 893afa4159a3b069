"""Background checks of other sites: they run in threads, few at once, and are abandoned when no page polls them any more."""

import logging
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any, Final

from newsportal.errors import NewsportalError

log = logging.getLogger(__name__)

AT_ONCE: Final = 3  # looks that run at the same time; each sends one request at a time
WAITING: Final = 12  # queued looks; beyond that, a new one is refused
PATIENCE: Final = 60.0
"""Seconds without polling after which a check is abandoned: a page polls every second, without scripts every few."""

KEPT: Final = 1800.0  # seconds that a result is kept: its reader may be called away and come back


class TooMany(NewsportalError):
    """Raised by :meth:`SiteChecks.start` if too many checks are running or queued. The page says so."""


class Abandoned(NewsportalError):
    """Raised within an abandoned check; it ends."""


@dataclass
class SiteCheck:
    """A check: ``owner`` is the id of the person who started it, ``task`` what it checks. When done, it has ``found`` or ``error``."""

    id: str
    owner: str
    task: dict[str, Any]
    began: float
    seen: float
    steps: list[str] = field(default_factory=list)
    done: bool = False
    found: Any = None
    error: NewsportalError | None = None
    dropped: bool = False

    def report(self, step: str) -> None:
        """Record the next step. Raises ``Abandoned`` if no page polls the check any more."""
        if self.dropped or monotonic() - self.seen > PATIENCE:
            raise Abandoned("nobody waits for it")
        self.steps.append(step)


Work = Callable[[Callable[[str], None]], Any]  # the function that a check runs; it reports each step


class SiteChecks:
    """Thread-safe. ``at_once``: how many run at the same time."""

    def __init__(self, at_once: int = AT_ONCE, waiting: int = WAITING) -> None:
        self._slots = threading.Semaphore(at_once)
        self._most = at_once + waiting
        self._lock = threading.Lock()
        self._checks: dict[str, SiteCheck] = {}

    def start(self, owner: str, task: dict[str, Any], work: Work) -> SiteCheck:
        """Run ``work`` as soon as a thread is free. Raises ``TooMany``."""
        now = monotonic()
        with self._lock:
            self._checks = {id: check for id, check in self._checks.items() if not check.done or now - check.seen <= KEPT}
            if sum(not check.done for check in self._checks.values()) >= self._most:
                raise TooMany("too many check at other sites already: try again in a minute")
            check = SiteCheck(secrets.token_urlsafe(12), owner, task, now, now)
            self._checks[check.id] = check
        threading.Thread(target=self._run, args=(check, work), name="check", daemon=True).start()
        return check

    def get(self, id: str, owner: str) -> SiteCheck | None:
        """Return the check of this owner, and keep it from being abandoned."""
        if (check := self._of(id, owner)) is None:
            return None
        check.seen = monotonic()
        return replace(check)  # a copy, so that it does not change while a page is rendered

    def drop(self, id: str, owner: str) -> None:
        """Abandon the check: it ends before its next request."""
        if (check := self._of(id, owner)) is not None:
            check.dropped = True

    def _of(self, id: str, owner: str) -> SiteCheck | None:
        with self._lock:
            check = self._checks.get(id)
        return check if check is not None and check.owner == owner else None

    def _run(self, check: SiteCheck, work: Work) -> None:
        with self._slots:
            try:
                check.report("")
                check.steps.clear()
                check.found = work(check.report)
            except NewsportalError as error:
                check.error = error
            except Exception as error:
                log.exception("a check of another site failed")
                check.error = NewsportalError(f"{type(error).__name__}: {error}")
            finally:
                check.done = True
