"""When a host as a whole asks to be left alone. No input or output; moments are seconds of any clock that never goes back.

A 429 speaks to whoever asks, so it counts for the host at once (RFC 6585, 4). A 503 may be one page's own trouble: it counts for its link,
and for the host once :data:`PAGES` different pages say so, and nothing else comes in between.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

PAGES: Final = 3
"""Different pages in a row. Chosen: two broken pages may follow each other in a list; a host that is down costs two requests more."""

MOST: Final = 10_000
"""Hosts that are remembered; those whose last word is oldest are forgotten first."""

LONGEST: Final = 86_400.0
"""Seconds. No host is left alone for longer (``middlewares.retry.MAX_WAIT``)."""


@dataclass(slots=True)
class _Said:
    """``busy``: pages that answered 503 → until when. ``until``: when the host's last rest ends, which took ``seconds``."""

    busy: dict[str, float] = field(default_factory=dict)
    until: float = 0.0
    seconds: float = 0.0


class RetryAfter:
    """What the hosts have said since each last answered well."""

    def __init__(self) -> None:
        self._said: dict[str, _Said] = {}

    def well(self, host: str) -> None:
        """It answered something else."""
        self._said.pop(host, None)

    def asked(self, host: str, url: str, status: int, seconds: float, now: float) -> float | None:
        """``url`` answered 429 or 503 and asks to wait: for how long to leave the host alone; ``None``: it alone is meant.

        A host that asks once more after a rest gets one of twice the length at least, so that a short one is not repeated for ever.
        """
        said = self._said[host] = self._said.pop(host, _Said())
        if len(self._said) > MOST:
            del self._said[next(iter(self._said))]
        if status == 503:
            said.busy = {page: until for page, until in said.busy.items() if until > now} | {url: now + seconds}
            if len(said.busy) < PAGES and not said.until:
                return None
            seconds = min(said.busy.values()) - now  # as long as all of them ask
            said.busy = {}
        if said.until and now >= said.until:
            seconds = min(max(seconds, 2 * said.seconds), LONGEST)
        if now + seconds > said.until:
            said.until, said.seconds = now + seconds, seconds
        return seconds
