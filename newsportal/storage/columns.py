"""What every store agrees on about its columns, whatever database it is in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)

FIRST, LAST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)
"""The ends of the calendar, a day off so that no time zone leads beyond."""

ID_CHARS: Final = 20
"""Length of ``items.content_id``."""

NAME_CHARS: Final = 255
"""Names that are looked up (topics, sites, sources) are cut to this: more does not fit into an index of MySQL."""

CONTENT: Final = (
    "revision", "fetched", "published", "title", "author", "origin", "language", "algorithm", "summary", "images", "text", "html",
    "corrected", "corrected_by", "corrected_fields",
)  # fmt: skip
"""What a newer version of a page, or an editor, may change: in ``articles`` the present state, in ``revisions`` an earlier one."""

MOST_DECLARING: Final = 3
"""Articles that are named to declare one address. An address that more declare is a template's mistake, and no article's."""


def shifted(moment: datetime, by: timedelta) -> datetime:
    """``moment + by``, stopping at the ends of the calendar (pages are dated in the year 1)."""
    try:
        return moment + by
    except OverflowError:
        return LAST if by > timedelta(0) else FIRST
