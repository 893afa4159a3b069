"""Who reads, as far as the portal knows: a random name in a cookie, made when something is first kept of him, and never for one who does
not want it.

No account, no address, no finger print. ``profile=off`` says that nothing shall be kept; so do the browser's ``Sec-GPC`` and ``DNT``.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from typing import Literal

from starlette.requests import Request
from starlette.responses import Response

from newsportal.portal.preferences import YEAR

NAME = "reader"
SWITCH = "profile"
RANDOM_BYTES = 16  # 128 bits: nobody guesses another reader's name

WELL_FORMED = re.compile(rf"[0-9a-f]{{{2 * RANDOM_BYTES}}}")

MACHINES = re.compile(r"bot\b|bot[/;_-]|spider|crawler|slurp|preview|archiver|monitor", re.IGNORECASE)
"""Programs that say so. What they open is nobody's taste."""

Wish = Literal["on", "off", "browser", "portal"]
"""Whether a profile may be kept: yes; switched off here; the browser asks not to be tracked; this portal keeps none."""


@dataclass(frozen=True, slots=True)
class Reader:
    """``name`` None: nothing was kept yet. ``person``: no prefetch, and no program that says it is one."""

    name: str | None
    wish: Wish
    person: bool

    @property
    def kept(self) -> bool:
        """Whether what this reader does may be recorded."""
        return self.wish == "on" and self.person


def reader_of(request: Request) -> Reader:
    headers, found = request.headers, request.cookies.get(NAME, "")
    purpose = f"{headers.get('sec-purpose', '')} {headers.get('purpose', '')}"
    person = "prefetch" not in purpose and not MACHINES.search(headers.get("user-agent", ""))
    return Reader(found if WELL_FORMED.fullmatch(found) else None, _wish(request), person)


def _wish(request: Request) -> Wish:
    if not request.app.state.portal.site.recommends:
        return "portal"
    if request.cookies.get(SWITCH) == "off":
        return "off"
    return "browser" if "1" in (request.headers.get("sec-gpc"), request.headers.get("dnt")) else "on"


def new_name() -> str:
    return secrets.token_hex(RANDOM_BYTES)


def introduce(response: Response, request: Request, name: str) -> None:
    """Let the browser bring ``name`` from now on. No script can read it."""
    secure = request.url.scheme == "https"
    response.set_cookie(NAME, name, max_age=YEAR, samesite="lax", path="/", httponly=True, secure=secure)
