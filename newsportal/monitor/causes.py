"""The commonest cause among the failures of a source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from newsportal.messages.reasons import cause_of


def commonest(failures: Mapping[str, int]) -> tuple[str, str] | None:
    """The commonest cause of these reasons, and its commonest reason; ``None`` without any. Of equals the first by name."""
    if not failures:
        return None
    by_cause: Counter[str] = Counter()
    for reason, number in failures.items():
        by_cause[cause_of(reason)] += number
    cause = min(by_cause, key=lambda name: (-by_cause[name], name))
    reasons = {reason: number for reason, number in failures.items() if cause_of(reason) == cause}
    return cause, min(reasons, key=lambda reason: (-reasons[reason], reason))
