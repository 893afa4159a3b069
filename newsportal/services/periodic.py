"""A thread that repeats one task alongside the rest of a process, and survives errors."""

import logging
import threading
from typing import Final

from newsportal.errors import NewsportalError

log = logging.getLogger(__name__)

MAX_PAUSE: Final = 60.0  # maximum seconds between retries after errors


class PeriodicThread(threading.Thread):
    """Calls :meth:`step` every ``every`` seconds until :meth:`stop`, and ``retry`` seconds after an error. ``task``: its name in the log.
    ``error``: the last error, None after a success."""

    def __init__(self, task: str, every: float, *, first: float = 0.0, retry: float = MAX_PAUSE) -> None:
        super().__init__(daemon=True, name=task)
        self.every = every
        self.error: str | None = None
        self.stopping = threading.Event()
        self._first, self._retry = first, max(every, retry)

    def step(self) -> object:
        raise NotImplementedError

    def run(self) -> None:
        pause = self._first
        while not self.stopping.wait(pause):
            pause = self.run_step()

    def run_step(self) -> float:
        """Run one step; return the seconds to wait until the next."""
        try:
            self.step()
        except Exception as error:
            expected = isinstance(error, NewsportalError)
            message = str(error) if expected else f"{type(error).__name__}: {error}"
            if message != self.error:
                log.warning("%s failed: %s", self.name, message, exc_info=None if expected else error)
            self.error = message
            return self._retry
        if self.error:
            log.info("%s works again", self.name)
        self.error = None
        return self.every

    def stop(self) -> None:
        """Stop after the current step; waits some seconds for it, since the resources it uses are closed next."""
        self.stopping.set()
        if self.is_alive():
            self.join(timeout=10)
