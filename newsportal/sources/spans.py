"""Hours of the day as people write them: ``6-24``, ``22-5``, ``[8, 12, 18]``, ``"6-9,18-23"``."""

from __future__ import annotations

import re
from typing import Any

from newsportal.messages import Message

DAY = tuple(range(24))
SPAN = re.compile(r"^\s*(\d{1,2})(?:\s*[-–—~]\s*(\d{1,2}))?\s*$")


def hours_of(written: Any) -> tuple[int, ...]:
    """The hours (0–23, in order, each once) that a number, a text or a list of both names. Raises ``ValueError`` of a message.

    Both ends count: ``7-9`` is 7:00 to 9:59. ``6-24`` ends at midnight, so that its last hour is 23, as ``6-23``.
    """
    pieces = written if isinstance(written, list | tuple) else [written]
    found: set[int] = set()
    for piece in pieces:
        if isinstance(piece, bool) or not isinstance(piece, int | str):
            raise ValueError(Message("sources.hour", found=repr(piece)))  # noqa: TRY004 - told like any other bad span
        for span in str(piece).split(","):
            found.update(_span(span))
    if not found:
        raise ValueError(Message("sources.no-hours"))
    return tuple(sorted(found))


def _span(text: str) -> range | tuple[int, ...]:
    match = SPAN.match(text)
    if match is None:
        raise ValueError(Message("sources.span", found=repr(text.strip())))
    start, end = int(match[1]), int(match[2] or match[1])
    if start > 23 or end > 24 or (end == 24 and match[2] is None):
        raise ValueError(Message("sources.hours-range", found=repr(text.strip())))
    end = min(end, 23)
    return range(start, end + 1) if start <= end else (*range(start, 24), *range(end + 1))
