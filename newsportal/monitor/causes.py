"""Why visits fail, in few words: the many reasons of the run report are a dozen causes, and each has its own remedy."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

CAUSES: tuple[tuple[str, str], ...] = (
    ("ours", r"store-unavailable|archive|no-browser|no-network|no-disk|render-memory"),
    ("robots", r"robots$|robots-noindex|robots-nofollow"),
    ("robots-unreachable", r"robots-unreachable"),
    ("denied", r"egress-denied|redirect-denied|scheme|bad-address"),
    ("dns", r"dns"),
    ("tls", r"tls|.*certificate"),
    ("timeout", r"timeout|render-timeout|too-slow"),
    ("login", r"login|http-401"),
    ("blocked", r"challenge|blocked|captcha|http-403|http-451"),
    ("busy", r"http-429|http-503"),
    ("gone", r"http-404|http-410|soft-404|redirects"),
    ("http-4xx", r"http-4\d\d"),
    ("http-5xx", r"http-5\d\d"),
    ("too-large", r"too-large"),
    ("connection", r"connection|encoding|ignored"),
    ("broken", r"error: "),
    ("unread", r""),
)
"""The first that a reason begins with. The last takes the rest: what an extractor says of a page that it cannot read."""

_COMPILED = tuple((cause, re.compile(pattern)) for cause, pattern in CAUSES)

UNREAD = "unread"


@lru_cache(maxsize=1000)
def cause_of(reason: str) -> str:
    """The cause of a reason of the run report (``http-503`` → ``busy``, ``no-entries`` → ``unread``)."""
    return next(cause for cause, pattern in _COMPILED if pattern.match(reason))


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
