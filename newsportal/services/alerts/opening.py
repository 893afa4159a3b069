"""Everything that sending alerts needs, from ``sources.yaml``; and the thread that sends while the portal is served."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parseaddr
from time import monotonic
from typing import Final
from zoneinfo import ZoneInfo

from newsportal.errors import NewsportalError
from newsportal.net.egress import Policy
from newsportal.search.base import Index
from newsportal.services.accounts import Accounts
from newsportal.services.alerts.base import Setting
from newsportal.services.alerts.matching import GATHER
from newsportal.services.alerts.run import Tally, Work, deliver, follow_conditions, step
from newsportal.services.alerts.web_push import new_key
from newsportal.services.periodic import PeriodicThread
from newsportal.services.publishing.run import owner_name
from newsportal.sources import Sources
from newsportal.sources.watched import watched
from newsportal.store.dialect_sqlite import sqlite_file
from newsportal.store.store import Store

logger = logging.getLogger(__name__)

EVERY: Final = 5.0  # seconds between two looks. A look at nothing new is some small questions to store and accounts
HELD: Final = 60.0  # seconds for which one process is the one that sends; another takes over when it died
CONDITIONS_EVERY: Final = 300.0  # seconds between two looks at what operators are told of: judging a thousand sources takes a second


def setting_of(sources: Sources, accounts: Accounts) -> Setting:
    told = sources.alerts
    policy = Policy(tuple(sources.politeness.allow_private))
    return Setting(policy, sources.user_agent, told.mail_server, told.mail_from, own_fields(accounts, sources))


def own_fields(accounts: Accounts, sources: Sources) -> Callable[[], Mapping[str, str]]:
    """What the portal signs its messages with, and whom a service writes to about them. Raises ``DependencyMissing``."""
    url, sender = sources.portal.url or "", parseaddr(sources.alerts.mail_from or "")[1]
    contact = f"mailto:{sender}" if sender else url if url.startswith("https:") else ""
    return lambda: {"key": accounts.alerts.signing_key(new_key), "contact": contact}


def work_of(
    accounts: Accounts, store: Store, index: Index | None, sources: Sources, now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> Work:
    file, alerts = sqlite_file(sources.store), sources.alerts
    url = (sources.portal.url or "").rstrip("/") or None
    return Work(
        accounts, store, index, ZoneInfo(sources.portal.timezone), setting_of(sources, accounts), url,
        alerts.per_hour, now, watched=watched(sources), folder=file.parent if file is not None else None, disk_free=alerts.disk_free,
        crawl_hours=alerts.crawl_hours,
    )  # fmt: skip


class AlertSenderThread(PeriodicThread):
    """Follows and sends, again and again, in one of several processes at a time. It may be killed at any time.

    ``work`` is asked at each step, since ``sources.yaml`` may have changed (``None``: nothing is to be sent now).
    """

    def __init__(self, work: Callable[[Callable[[], bool]], Work | None]) -> None:
        super().__init__("alerts", EVERY)
        self._work = work
        self._owner = owner_name()
        self._conditions = 0.0
        self._held: Accounts | None = None
        self._last: int | None = None
        self._gathering: float | None = None

    def step(self) -> None:
        work = self._work(self.stopping.is_set)
        if work is None or not work.accounts.alerts.hold(self._owner, now=datetime.now(UTC), seconds=HELD):
            return
        self._held = work.accounts
        if self._conditions <= monotonic():
            self._conditions = monotonic() + CONDITIONS_EVERY
            follow_conditions(work)
        if self._is_settled(work.store.last_seq()):
            step(work)
        else:
            deliver(work, Tally())

    def _is_settled(self, last: int) -> bool:
        """Whether nothing has been stored since the last look, or stories have been gathered for `GATHER` seconds."""
        new, self._last = self._last not in (None, last), last
        if new and self._gathering is None:
            self._gathering = monotonic()
        if new and self._gathering is not None and monotonic() - self._gathering < GATHER.total_seconds():
            return False
        self._gathering = None
        return True

    def stop(self) -> None:
        """Ends after the message at hand; another process may send from then on."""
        super().stop()
        if self._held is None:
            return
        try:
            self._held.alerts.release(self._owner, now=datetime.now(UTC))
        except NewsportalError as error:
            logger.warning("alerts: %s", error)
