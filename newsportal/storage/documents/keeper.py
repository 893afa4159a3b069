"""A thread that tends a lease while it is held."""

from __future__ import annotations

import logging
import threading
import time

from newsportal.errors import StoreError
from newsportal.storage.documents.leases import IDLE_SECONDS, Lease

log = logging.getLogger(__name__)


class Keeper:
    """Starts with the first lease that is held."""

    def __init__(self, lease: Lease) -> None:
        self._lease = lease
        self._held = threading.Event()
        self._over = False
        self._thread: threading.Thread | None = None

    def watch(self) -> None:
        """The lease is held."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="newsportal-lease", daemon=True)
            self._thread.start()
        self._held.set()

    def _run(self) -> None:
        while True:
            self._held.wait()
            self._held.clear()
            while not self._over and self._tend():
                time.sleep(IDLE_SECONDS / 2)
            if self._over:
                return

    def _tend(self) -> bool:
        try:
            return self._lease.tend()
        except StoreError as error:
            log.warning("%s", error)  # whoever writes next meets it as well, or finds that it is over
            return True

    def close(self) -> None:
        self._over = True
        self._held.set()
        if self._thread is not None:
            self._thread.join()
