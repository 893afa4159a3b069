"""What ``newsportal up`` does each night beside the crawls: ``newsportal recommend fit`` as a process of its own, at low priority.

A machine that was off at that hour does it when it is on again. Where nobody is to be remembered any more
(``recommendation.enabled: false``), what is older than is promised goes all the same.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Final

from newsportal.commands.beside import Beside, command
from newsportal.errors import StoreError
from newsportal.storage import open_store

LOOK: Final = 300.0
"""Seconds between two looks at the clock."""

MOST: Final = 7200.0
"""Seconds that a fit may take; then it is ended, and the one before stays in use."""


def present() -> datetime:
    return datetime.now(UTC)


def last_due(now: datetime, hour: int, zone: tzinfo) -> datetime:
    """When a fit was due last: at this hour of the portal's clock, today or yesterday."""
    local = now.astimezone(zone)
    today = local.replace(hour=hour, minute=0, second=0, microsecond=0)
    return today if today <= local else today - timedelta(days=1)


class Nightly(threading.Thread):
    """Looks every few minutes whether a fit is due. ``learn`` False: nothing is learnt, only let go."""

    def __init__(
        self,
        sources: Path | None,
        store: str,
        hour: int,
        zone: tzinfo,
        say: Callable[[str], None],
        now: Callable[[], datetime] = present,
        *,
        learn: bool = True,
    ) -> None:
        super().__init__(daemon=True, name="nightly")
        self._sources = sources
        self._store = store
        self._hour = hour
        self._zone = zone
        self._say = say
        self._now = now
        self._learn = learn
        self._done = threading.Event()
        self._beside = Beside()
        self._tried: datetime | None = None

    def run(self) -> None:
        while not self._done.wait(LOOK if self._tried else min(LOOK, 30.0)):  # not in the first moments, when everything starts
            if self.is_due():
                (self.fit if self._learn else self.let_go)()

    def stop(self) -> None:
        """End a fit that runs: the one before stays in use."""
        self._done.set()
        self._beside.stop()

    def is_due(self) -> bool:
        """Whether the latest fit, or try, is from before the hour, and there is anything to learn from or to let go."""
        due = last_due(self._now(), self._hour, self._zone)
        if self._tried is not None and self._tried >= due:
            return False
        try:
            store = open_store(self._store, create=False)
        except StoreError:
            return False
        try:
            fits = store.readers.fits()
            there = bool(store.readers.counts()[0] or fits)
            return there and (not self._learn or not fits or fits[0][0] < due)
        except StoreError:
            return False
        finally:
            store.close()

    def let_go(self) -> None:
        """Delete what is older than is promised."""
        from newsportal.recommending.fitting import alpha_of  # loads what learns, which the portal itself does not need

        self._tried = self._now()
        try:
            store = open_store(self._store, create=False)
            try:
                gone = store.readers.let_go(alpha=alpha_of(store), now=self._now())
            finally:
                store.close()
        except StoreError as error:
            self._say(f"old views of readers could not be deleted: {error}")
            return
        if gone:
            self._say(f"{gone} old views and offers of readers are deleted, as promised")

    def fit(self) -> None:
        """Run the command, and tell what it said."""
        self._tried = self._now()
        done = self._beside.run(self._command(), MOST)
        if done is None:
            return
        if done.late:
            self._say(f"the fit of recommendations took more than {MOST / 3600:g} hours and was ended; the one before stays in use")
        elif done.failure:
            self._say(f"the fit of recommendations failed: {done.failure}; the one before stays in use")
        else:
            self._say(told(done.output))

    def _command(self) -> list[str]:
        return command(self._sources, "recommend", "fit", "--gently", "--json")


def told(output: str) -> str:
    """What a fit's line of JSON says, for people."""
    try:
        row = json.loads(output.strip().splitlines()[-1])
        return f"recommendations learnt from {row['views']} views of {row['readers']} readers in {row['seconds']:.0f} s"
    except (ValueError, KeyError, TypeError, IndexError):
        return f"the fit of recommendations said: {output[:200]}"
