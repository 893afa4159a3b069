"""What one page may cost."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Given in ``sources.yaml`` under ``rendering``."""

    timeout: float = 30.0
    """Seconds for a page, from the first line of it in the browser; a page that hangs is closed then."""
    wait: float = 10.0
    """Seconds until a page that does not come to rest is taken as it is."""
    requests: int = 200
    """What a page may ask for; news pages with their advertisements ask for some hundred."""
    max_bytes: int = 32 * 1024 * 1024
    """Of all answers to a page together, and of the page as rendered."""
    pages: int = 2
    """Pages open at once, in one process: each takes about a hundred megabytes and a core while its scripts run."""
    memory: int = 1024 * 1024 * 1024
    """Bytes that all pages together may hold; the largest is closed beyond it."""

    @property
    def heap_megabytes(self) -> int:
        """For the scripts of one page (V8's own limit): a share of ``memory``, and never more than 512."""
        return max(64, min(512, self.memory // 2 // 1024 // 1024))
