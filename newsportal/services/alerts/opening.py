"""Everything that sending alerts needs, from ``sources.yaml``; and the thread that sends while the portal is served."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from time import monotonic
from typing import Final
from zoneinfo import ZoneInfo

from newsportal.errors import NewsportalError
from newsportal.net.egress import Policy
from newsportal.search.base import Index
from newsportal.services.accounts import Accounts
from newsportal.services.alerts.base import Setting
from newsportal.services.alerts.run import Work, step, tell
from newsportal.services.publishing.run import owner_name
from newsportal.sources import Sources
from newsportal.sources.watched import watched
from newsportal.store.dialect_sqlite import sqlite_file
from newsportal.store.store import Store

logger = logging.getLogger(__name__)

EVERY: Final = 5.0  # seconds between two looks. A look at nothing new is some small questions to store and accounts
HELD: Final = 60.0  # seconds for which one process is the one that sends; another takes over when it died
CONDITIONS_EVERY: Final = 300.0  # seconds between two looks at what operators are told of: judging a thousand sources takes a second
MAX_PAUSE: Final = 60.0


def setting_of(sources: Sources) -> Setting:
    told = sources.alerts
    policy = Policy(tuple(sources.politeness.allow_private))
    return Setting(policy, sources.user_agent, told.mail_server, told.mail_from)


def work_of(
    accounts: Accounts,
    store: Store,
    index: Index | None,
    sources: Sources,
    *,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    stopped: Callable[[], bool] = lambda: False,
) -> Work:
    file = sqlite_file(sources.store)
    return Work(
        accounts, store, index, ZoneInfo(sources.portal.timezone), setting_of(sources), (sources.portal.url or "").rstrip("/") or None,
        sources.alerts.per_hour, now, stopped, watched(sources), file.parent if file is not None else None, sources.alerts.disk_free,
        sources.alerts.crawl_hours,
    )  # fmt: skip


class Sender(threading.Thread):
    """Follows and sends, again and again, in one of several processes at a time. It may be killed at any time.

    ``work`` is asked at each look, since ``sources.yaml`` may have changed (``None``: nothing is to be sent now).
    """

    def __init__(self, work: Callable[[Callable[[], bool]], Work | None], every: float = EVERY) -> None:
        super().__init__(daemon=True, name="alerts")
        self._stopping = threading.Event()
        self._work = work
        self._every = every
        self._owner = owner_name()
        self._conditions = 0.0
        self._held: Accounts | None = None
        self.error: str | None = None

    def run(self) -> None:
        pause = 0.0
        while not self._stopping.wait(pause):
            pause = self.look()

    def look(self) -> float:
        """One look; answers how many seconds to wait until the next."""
        try:
            self._step()
        except NewsportalError as error:
            self._failed(str(error))
            return MAX_PAUSE
        except Exception as error:
            self._failed(f"{type(error).__name__}: {error}")
            logger.exception("alerts cannot be sent")
            return MAX_PAUSE
        self.error = None
        return self._every

    def _step(self) -> None:
        work = self._work(self._stopping.is_set)
        if work is None or not work.accounts.alerts.hold(self._owner, now=datetime.now(UTC), seconds=HELD):
            return
        self._held = work.accounts
        if self._conditions <= monotonic():
            self._conditions = monotonic() + CONDITIONS_EVERY
            tell(work)
        step(work)

    def _failed(self, message: str) -> None:
        if message != self.error:
            logger.warning("alerts wait: %s", message)
        self.error = message

    def stop(self) -> None:
        """Ends after the message at hand; another process may send from then on."""
        self._stopping.set()
        if self.is_alive():
            self.join(timeout=10)
        if self._held is None:
            return
        try:
            self._held.alerts.release(self._owner, now=datetime.now(UTC))
        except NewsportalError as error:
            logger.warning("alerts: %s", error)
