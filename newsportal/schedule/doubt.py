"""Validators that lie: a list page that answers 304 for too long is asked without ETag and Last-Modified once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, takewhile
from statistics import median
from typing import Final

from newsportal.visits import Visit

MIN_SAME: Final = 12
"""Answers of "not modified" in a row before which nothing is suspected."""

TIMES: Final = 6.0
"""Times the usual wait between two visits that brought something: chance lets a steady source be silent that long once in 400 waits."""


def stuck(visits: Sequence[Visit]) -> bool:
    """Whether "not modified" is hardly believable any more. ``visits`` newest first; a page read in full makes the count begin anew."""
    same = list(takewhile(lambda visit: visit.not_modified, visits))
    bringing = [visit.at for visit in visits[len(same) :] if visit.new]
    if len(same) < MIN_SAME or len(bringing) < 3:
        return False
    usual = median((one - before).total_seconds() for one, before in pairwise(bringing))
    return (same[0].at - same[-1].at).total_seconds() > TIMES * usual
