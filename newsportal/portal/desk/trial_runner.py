"""Background checks of other sites ("looks"): they run in threads, few at once, and are abandoned when no page polls them any more."""

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
"""Seconds without polling after which a look is abandoned: a page polls every second, without scripts every few."""

KEPT: Final = 1800.0  # seconds that a result is kept: its reader may be called away and come back


class TooMany(NewsportalError):
    """Raised by :meth:`SiteChecks.start` if too many looks are running or queued. The page says so."""


class Abandoned(NewsportalError):
    """Raised within an abandoned look; it ends."""


@dataclass
class SiteCheck:
    """A look: ``owner`` is the id of the person who started it, ``task`` what it checks. When done, it has ``found`` or ``error``."""

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
        """Record the next step. Raises ``Abandoned`` if no page polls the look any more."""
        if self.dropped or monotonic() - self.seen > PATIENCE:
            raise Abandoned("nobody waits for it")
        self.steps.append(step)


Work = Callable[[Callable[[str], None]], Any]  # the function that a look runs; it reports each step


class SiteChecks:
    """Thread-safe. ``at_once``: how many run at the same time."""

    def __init__(self, at_once: int = AT_ONCE, waiting: int = WAITING) -> None:
        self._slots = threading.Semaphore(at_once)
        self._most = at_once + waiting
        self._lock = threading.Lock()
        self._looks: dict[str, SiteCheck] = {}

    def start(self, owner: str, task: dict[str, Any], work: Work) -> SiteCheck:
        """Run ``work`` as soon as a thread is free. Raises ``TooMany``."""
        now = monotonic()
        with self._lock:
            self._looks = {id: look for id, look in self._looks.items() if not look.done or now - look.seen <= KEPT}
            if sum(not look.done for look in self._looks.values()) >= self._most:
                raise TooMany("too many look at other sites already: try again in a minute")
            look = SiteCheck(secrets.token_urlsafe(12), owner, task, now, now)
            self._looks[look.id] = look
        threading.Thread(target=self._run, args=(look, work), name="look", daemon=True).start()
        return look

    def get(self, id: str, owner: str) -> SiteCheck | None:
        """Return the look of this owner, and keep it from being abandoned."""
        if (look := self._of(id, owner)) is None:
            return None
        look.seen = monotonic()
        return replace(look)  # a copy, so that it does not change while a page is rendered

    def drop(self, id: str, owner: str) -> None:
        """Abandon the look: it ends before its next request."""
        if (look := self._of(id, owner)) is not None:
            look.dropped = True

    def _of(self, id: str, owner: str) -> SiteCheck | None:
        with self._lock:
            look = self._looks.get(id)
        return look if look is not None and look.owner == owner else None

    def _run(self, look: SiteCheck, work: Work) -> None:
        with self._slots:
            try:
                look.report("")
                look.steps.clear()
                look.found = work(look.report)
            except NewsportalError as error:
                look.error = error
            except Exception as error:
                log.exception("a check of another site failed")
                look.error = NewsportalError(f"{type(error).__name__}: {error}")
            finally:
                look.done = True
