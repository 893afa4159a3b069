"""Hours of the day as people write them: ``6-24``, ``22-5``, ``[8, 12, 18]``, ``"6-9,18-23"``."""

from __future__ import annotations

import re
from typing import Any

DAY = tuple(range(24))
SPAN = re.compile(r"^\s*(\d{1,2})(?:\s*[-–—~]\s*(\d{1,2}))?\s*$")
ALLOWED = "allowed: hours from 0 to 23, as 8, '6-24', '22-5' (over midnight), '6-9,18-23' or a list of these"


def hours_of(written: Any) -> tuple[int, ...]:
    """The hours (0–23, in order, each once) that a number, a text or a list of both names. Raises ``ValueError`` with what is allowed.

    Both ends count: ``7-9`` is 7:00 to 9:59. ``6-24`` ends at midnight, so that its last hour is 23, as ``6-23``.
    """
    pieces = written if isinstance(written, list | tuple) else [written]
    found: set[int] = set()
    for piece in pieces:
        if isinstance(piece, bool) or not isinstance(piece, int | str):
            raise ValueError(f"{piece!r} is no hour; {ALLOWED}")  # noqa: TRY004 - told like any other bad span
        for span in str(piece).split(","):
            found.update(_span(span))
    if not found:
        raise ValueError(f"no hour is named; {ALLOWED}")
    return tuple(sorted(found))


def _span(text: str) -> range | tuple[int, ...]:
    match = SPAN.match(text)
    if match is None:
        raise ValueError(f"{text.strip()!r} is no span of hours; {ALLOWED}")
    start, end = int(match[1]), int(match[2] or match[1])
    if start > 23 or end > 24 or (end == 24 and match[2] is None):
        raise ValueError(f"{text.strip()!r} is out of range; {ALLOWED}")
    end = min(end, 23)
    return range(start, end + 1) if start <= end else (*range(start, 24), *range(end + 1))
