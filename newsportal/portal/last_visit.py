"""When a reader was here before: two moments in a cookie of his own, so that the front page says what is new since then.

Nothing of it is kept by the portal. A visit lasts as long as no more than :data:`PAUSE` lies between two looks.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from starlette.requests import Request
from starlette.responses import Response

from newsportal.portal.preferences import YEAR

NAME = "visited"
PAUSE = timedelta(minutes=30)  # after so long without a look the next one begins a new visit (as Web statistics count them)
WELL_FORMED = re.compile(r"(\d{1,11})\.(\d{1,11})")


def before(request: Request, now: datetime) -> tuple[datetime | None, str]:
    """When the visit before this one ended (None: there was none), and what the cookie says from now on."""
    found = WELL_FORMED.fullmatch(request.cookies.get(NAME, ""))
    ended, last = (int(part) for part in found.groups()) if found else (0, 0)
    present = int(now.timestamp())
    if last > present or ended > last:  # a clock that was put back, or somebody's own making
        ended, last = 0, 0
    if present - last > PAUSE.total_seconds():
        ended = last
    return (datetime.fromtimestamp(ended, UTC) if ended else None), f"{ended}.{present}"


def remember(answer: Response, told: str) -> None:
    answer.set_cookie(NAME, told, max_age=YEAR, samesite="lax", path="/", httponly=True)
