"""A source that fails is asked less and less often."""

from __future__ import annotations

from newsportal.schedule.past import Past, Rules

CAP = 24 * 60.0
"""Minutes. A source that always fails is asked once a day."""


def backed_off(past: Past, rules: Rules) -> float:
    """Minutes to wait after the last visit: the interval, doubled per failure in a row (at most a day, never shorter than the interval)."""
    interval = rules.interval or rules.usual
    return max(interval, min(interval * 2 ** min(past.failures, 10), CAP)) if past.failures else 0.0
