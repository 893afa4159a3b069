"""Who asks, whether he may, and how often. Every router names its right (``dependencies=[needs(Right.EDIT)]``); a test walks over them.

Reading is open to anybody, unless ``portal.reading`` says that it is for members.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from ipaddress import IPv6Address, IPv6Network, ip_address
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, cast

from fastapi import Depends, HTTPException, Request
from fastapi.params import Depends as Dependency
from starlette.concurrency import run_in_threadpool

from newsportal.portal.request_body import bearer
from newsportal.services.accounts import Accounts, Right, Signed

if TYPE_CHECKING:
    from newsportal.portal.context import Portal

COOKIE: Final = "session"

SECURE_COOKIE: Final = "__Host-session"
"""Over HTTPS: a browser takes it from this very host alone, for all of it, and sends it over HTTPS alone (RFC 6265bis, 4.1.3.2)."""


def cookie_name(request: Request) -> str:
    return SECURE_COOKIE if request.url.scheme == "https" else COOKIE


def signed(request: Request) -> Signed | None:
    """Who is signed in; asked of the accounts once a request. A blocking call the first time."""
    if not hasattr(request.state, "signed"):
        portal: Portal = request.app.state.portal
        found: Signed | None = None
        if (token := bearer(request.headers)) is not None:  # beside it no cookie counts
            found = portal.accounts.tokens.signed(token, now=portal.now())
        elif secret := request.cookies.get(cookie_name(request)):
            found = portal.accounts.sessions.signed(secret, now=portal.now())
        request.state.signed = found
    return cast(Signed | None, request.state.signed)


def may(request: Request, right: Right) -> bool:
    """A token that nobody knows, or that was not given the right to read, reads nothing, even where all may: its owner wants to know."""
    portal: Portal = request.app.state.portal
    if right is Right.READ and not portal.site.members and bearer(request.headers) is None:
        return True
    who = signed(request)
    return who is not None and who.may(right)


class Needs:
    """A dependency of a route: 401 for the anonymous, 403 for somebody without ``right``, which the walk over routes reads."""

    def __init__(self, right: Right) -> None:
        self.right = right

    async def __call__(self, request: Request) -> None:
        if not await run_in_threadpool(may, request, self.right):
            raise HTTPException(401 if signed(request) is None else 403)


def needs(right: Right) -> Dependency:
    """What a router or a route declares: ``APIRouter(dependencies=[needs(Right.EDIT)])``."""
    return cast(Dependency, Depends(Needs(right)))


def accounts_of(request: Request) -> Accounts:
    return cast(Accounts, request.app.state.portal.accounts)


def log(request: Request, action: str, thing: str = "", details: Mapping[str, Any] | None = None) -> None:
    """Write down what who asks has just changed. Every change by a person is; a blocking call.

    ``action``: what was done, as ``part.verb`` (``source.change``, ``topic.delete``, ``article.hide``). ``thing``: to what, by its key or
    id. ``details``: what somebody wants to know later, such as the values before and after; never a secret.
    """
    portal: Portal = request.app.state.portal
    address = request.client.host if request.client else ""
    portal.accounts.trail.add(signed(request), action, thing, details, now=portal.now(), address=address)


BURST = 240.0  # recordings at once: eight readers behind one address, each sending every five seconds for some minutes
A_SECOND = 8.0  # recordings that come back a second: a portal behind a proxy has one address for all, some 700,000 a day
HOUSEHOLD = 64  # bits that are the same for all devices behind one line (RFC 6177): who has one address of such a network has them all
MAX_ADDRESSES = 10_000  # a megabyte; the address that was quiet for longest is forgotten, and starts full again


class RateLimit:
    """``allows(address)`` takes one from the address's bucket, if there is one. May be shared between threads."""

    def __init__(self, burst: float = BURST, a_second: float = A_SECOND, clock: Callable[[], float] = monotonic) -> None:
        self._burst, self._a_second, self._clock = burst, a_second, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = Lock()

    def allows(self, address: str) -> bool:
        with self._lock:
            now = self._clock()
            left, at = self._left.pop(address, (self._burst, now))
            left = min(self._burst, left + (now - at) * self._a_second)
            self._left[address] = (left - 1 if left >= 1 else left, now)
            if len(self._left) > MAX_ADDRESSES:
                self._left.popitem(last=False)
            return left >= 1


def address_of(request: Request) -> str:
    return counted_as(request.client.host if request.client else "")


def counted_as(host: str) -> str:
    """An address as tries are counted: of IPv6 the network of its household, of IPv4 within IPv6 the IPv4 address, however it is spelt.

    What is no address (of a socket in the file system) counts as it is.
    """
    try:
        found = ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if not isinstance(found, IPv6Address):
        return str(found)
    return str(found.ipv4_mapped or IPv6Network((int(found), HOUSEHOLD), strict=False))
