"""How often one address may have something recorded: a bucket that refills. Above it nothing is kept, and nothing breaks.

It bounds what a machine can write into the store; a reader who looks at a hundred photo stories an hour stays far below.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from ipaddress import IPv6Address, IPv6Network, ip_address
from threading import Lock
from time import monotonic

from starlette.requests import Request

BURST = 240.0
"""Recordings at once: eight readers behind one address, each sending every five seconds for some minutes."""

A_SECOND = 8.0  # recordings that come back a second: a portal behind a proxy has one address for all, some 700,000 a day

HOUSEHOLD = 64
"""Bits that are the same for all devices behind one line (RFC 6177): who has one address of such a network has them all."""

MAX_ADDRESSES = 10_000  # a megabyte; the address that was quiet for longest is forgotten, and starts full again


class Pace:
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
    """Whom a request counts for."""
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
