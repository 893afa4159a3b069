"""Whether there is a network: what all spiders of a process met of the hosts that they asked. Where none answers, the fault is here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import monotonic
from urllib.parse import urlsplit

OUTAGE = ("dns", "connection", "robots-unreachable")
"""Reasons that every source has when there is no network."""

LATELY = 300.0
"""Seconds: a list page that was read so long ago says that there is a network."""


def unreached(reasons: Iterable[str]) -> bool:
    """Whether these reasons, of which there is one at least, are all such that no host was reached."""
    found = tuple(reasons)
    return bool(found) and all(reason.startswith(OUTAGE) for reason in found)


class Reach:
    """One a process. ``clock`` gives seconds."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._missed: set[str] = set()
        self._reached: float | None = None

    def reached(self) -> None:
        """A list page came."""
        self._reached = self._clock()
        self._missed.clear()

    def missed(self, source: str, told: str) -> None:
        """A list page of a source did not come, for a reason of :data:`OUTAGE`. ``told`` begins with its address, if that is known."""
        self._missed.add(urlsplit(told.partition(" ")[0].rstrip(":")).netloc or source)

    @property
    def away(self) -> bool:
        """Whether several hosts could not be reached, and none could lately. One host alone, of many sources or one, may be gone itself."""
        return len(self._missed) > 1 and (self._reached is None or self._clock() - self._reached > LATELY)
