"""Looks at other sites that take their time: they run beside the pages, few at once, and end when nobody waits for them any more."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any, Final

from newsportal.errors import NewsportalError

log = logging.getLogger(__name__)

AT_ONCE: Final = 3  # looks that run at the same time; each makes one request after another
WAITING: Final = 12  # looks that wait for their turn; a further one is refused
PATIENCE: Final = 60.0
"""Seconds after which a look that nobody asks about is abandoned: a page asks every second, one without scripts every few."""

KEPT: Final = 1800.0  # seconds for which a result may be had: somebody reads it, is called away, and comes back


class TooMany(NewsportalError):
    """Raised by :meth:`Looks.start` while too many look already. The page says so."""


class Abandoned(NewsportalError):
    """Raised within a look that nobody waits for; it ends."""


@dataclass
class Look:
    """One look: ``owner`` is the id of the person who asked, ``about`` what was asked. Done with ``found`` or ``error``."""

    id: str
    owner: str
    about: dict[str, Any]
    began: float
    seen: float
    steps: list[str] = field(default_factory=list)
    done: bool = False
    found: Any = None
    error: NewsportalError | None = None
    dropped: bool = False

    def tell(self, step: str) -> None:
        """The look goes on to ``step``. Raises ``Abandoned`` where nobody waits for it."""
        if self.dropped or monotonic() - self.seen > PATIENCE:
            raise Abandoned("nobody waits for it")
        self.steps.append(step)


Work = Callable[[Callable[[str], None]], Any]  # what a look does; it tells each step


class Looks:
    """Safe between threads. ``at_once``: how many run at the same time."""

    def __init__(self, at_once: int = AT_ONCE, waiting: int = WAITING) -> None:
        self._turn = threading.Semaphore(at_once)
        self._most = at_once + waiting
        self._lock = threading.Lock()
        self._looks: dict[str, Look] = {}

    def start(self, owner: str, about: dict[str, Any], work: Work) -> Look:
        """Begin ``work`` as soon as there is room. Raises ``TooMany``."""
        now = monotonic()
        with self._lock:
            self._looks = {id: look for id, look in self._looks.items() if not look.done or now - look.seen <= KEPT}
            if sum(not look.done for look in self._looks.values()) >= self._most:
                raise TooMany("too many look at other sites already: try again in a minute")
            look = Look(secrets.token_urlsafe(12), owner, about, now, now)
            self._looks[look.id] = look
        threading.Thread(target=self._run, args=(look, work), name="look", daemon=True).start()
        return look

    def get(self, id: str, owner: str) -> Look | None:
        """The look, for the person who asked for it; he still waits for it."""
        if (look := self._of(id, owner)) is None:
            return None
        look.seen = monotonic()
        return replace(look)  # done or not, whatever becomes of it while a page is written

    def drop(self, id: str, owner: str) -> None:
        """Nobody waits for it any more: it ends before its next request."""
        if (look := self._of(id, owner)) is not None:
            look.dropped = True

    def _of(self, id: str, owner: str) -> Look | None:
        with self._lock:
            look = self._looks.get(id)
        return look if look is not None and look.owner == owner else None

    def _run(self, look: Look, work: Work) -> None:
        with self._turn:
            try:
                look.tell("")
                look.steps.clear()
                look.found = work(look.tell)
            except NewsportalError as error:
                look.error = error
            except Exception as error:
                log.exception("a look at another site broke")
                look.error = NewsportalError(f"{type(error).__name__}: {error}")
            finally:
                look.done = True
