"""Authentication, rights, rate limits, and the errors of the API. Every router declares its right (``dependencies=EDIT``; tested).

Reading needs no account unless ``portal.reading`` is ``members``. Errors of the API are ``{"error": {"code", "message", "remedy"?,
"problems"?}}``, in English.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from ipaddress import IPv6Address, IPv6Network, ip_address
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from fastapi import Depends, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException as StarletteException

from newsportal.portal.request_body import bearer
from newsportal.services.accounts import Accounts, Identity, Right

if TYPE_CHECKING:
    from newsportal.portal.context import Portal

COOKIE: Final = "session"

SECURE_COOKIE: Final = "__Host-session"
"""For HTTPS: browsers accept the prefix ``__Host-`` only over HTTPS, for this host and for the path ``/`` (RFC 6265bis, 4.1.3.2)."""


def cookie_name(request: Request) -> str:
    return SECURE_COOKIE if request.url.scheme == "https" else COOKIE


def identity_of(request: Request) -> Identity | None:
    """Return who is signed in, cached for the request. Blocks on the first call, which reads the accounts."""
    if not hasattr(request.state, "signed"):
        portal: Portal = request.app.state.portal
        user: Identity | None = None
        if (token := bearer(request.headers)) is not None:  # a token takes precedence over the cookie
            user = portal.accounts.tokens.authenticate(token, now=portal.now())
        elif secret := request.cookies.get(cookie_name(request)):
            user = portal.accounts.sessions.authenticate(secret, now=portal.now())
        request.state.signed = user
    return cast(Identity | None, request.state.signed)


def may(request: Request, right: Right) -> bool:
    """Return whether the request has ``right``. A token without it is refused even where reading is public, so that its owner notices."""
    portal: Portal = request.app.state.portal
    if right is Right.READ and not portal.site.members and bearer(request.headers) is None:
        return True
    user = identity_of(request)
    return user is not None and user.may(right)


class Needs:
    """A dependency of a route: 401 for anonymous requests, 403 without ``right``, which the test of all routes reads."""

    def __init__(self, right: Right) -> None:
        self.right = right

    async def __call__(self, request: Request) -> None:
        if not await run_in_threadpool(may, request, self.right):
            raise HTTPException(401 if identity_of(request) is None else 403)


READ, KEEP, WATCH, EDIT, ADMINISTER = ([Depends(Needs(right))] for right in Right)
"""Dependencies of a router or a route: ``APIRouter(dependencies=EDIT)``."""


def accounts_of(request: Request) -> Accounts:
    return cast(Accounts, request.app.state.portal.accounts)


def log_change(request: Request, action: str, thing: str = "", details: Mapping[str, Any] | None = None) -> None:
    """Record a change in the audit log. Every change made by a person is recorded. Blocks.

    ``action``: ``part.verb`` (``source.change``, ``topic.delete``, ``article.hide``). ``thing``: key or id of the changed object.
    ``details``: facts worth knowing later, such as the values before and after; never a secret.
    """
    portal: Portal = request.app.state.portal
    address = request.client.host if request.client else ""
    portal.accounts.audit_log.add(identity_of(request), action, thing, details, now=portal.now(), address=address)


BURST = 240.0  # recordings at once: eight readers behind one IP address, each sending every five seconds for some minutes
PER_SECOND = 8.0  # recordings added per second: a portal behind a proxy sees one address for all readers, some 700,000 a day
IPV6_PREFIX_BITS = 64  # shared by all devices of a household (RFC 6177), so one address counts as all of them
MAX_ADDRESSES = 10_000  # about one megabyte; the address idle for longest is dropped, and starts again with a full bucket


class RateLimit:
    """Token buckets by IP address. ``allows(address)`` takes a token and returns whether there was one. Thread-safe."""

    def __init__(self, burst: float = BURST, a_second: float = PER_SECOND, clock: Callable[[], float] = monotonic) -> None:
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
    return rate_limit_key(request.client.host if request.client else "")


def rate_limit_key(host: str) -> str:
    """Return the key under which requests of ``host`` are counted: for IPv6 its network, for an IPv4-mapped address the IPv4 address.

    Anything that is not an IP address (a socket in the file system) is returned unchanged.
    """
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if not isinstance(address, IPv6Address):
        return str(address)
    return str(address.ipv4_mapped or IPv6Network((int(address), IPV6_PREFIX_BITS), strict=False))


API_PREFIX: Final = "/api/"  # prefix of the paths that answer in JSON, errors included
RETRY_AFTER: Final[Mapping[int, str]] = {429: "60", 503: "10"}
"""``Retry-After`` in seconds, by status: requests to other sites take a minute, a locked store is free again after ten seconds."""


class Problem(BaseModel):
    """An invalid value: ``where`` it was sent, such as ``query.limit`` or ``body.name``."""

    where: str
    message: str
    code: str | None = Field(default=None, description="Code of the message, the same in every version and language.")


class ErrorDetail(BaseModel):
    code: str = Field(description="A short, stable code for programs.", examples=["not-found"])
    message: str = Field(description="What is wrong, as a sentence.")
    remedy: str | None = Field(None, description="What to do about it.")
    problems: list[Problem] | None = Field(None, description="The invalid values.")


class ErrorResponse(BaseModel):
    error: ErrorDetail


class ApiError(HTTPException):
    """An error raised by an endpoint; ``code`` is a short stable slug."""

    def __init__(self, status: int, code: str, message: str, remedy: str | None = None, problems: list[Problem] | None = None) -> None:
        super().__init__(status, message)
        self.code, self.message, self.remedy, self.problems = code, message, remedy, problems


STATUSES: Final[Mapping[int, tuple[str, str, str | None]]] = {
    400: ("bad-request", "The request could not be understood.", None),
    401: ("not-signed-in", "This needs a token or a session.", "Send a valid token: Authorization: Bearer np_…; see /account."),
    403: ("not-allowed", "This token or role lacks the right to do this.", "Take a token with this right, or ask an administrator."),
    404: ("not-found", "Not found.", None),
    405: ("method-not-allowed", "This URL does not allow that method.", "See /api/openapi.json."),
    408: ("too-slow", "The request body took too long to arrive.", None),
    409: ("conflict", "It was changed meanwhile.", "Read it again, then send the change again."),
    413: ("too-large", "The request body is too large.", None),
    415: ("not-understood", "JSON is expected.", "Send Content-Type: application/json."),
    422: ("not-valid", "A value is invalid.", "See problems."),
    429: ("too-many", "Too many requests.", "Wait as long as Retry-After says."),
    500: ("broken", "Something went wrong.", "The log of the portal says what happened."),
    503: ("unavailable", "The store is unavailable or locked at the moment.", "Try again in some seconds."),
}

Found = TypeVar("Found")


def or_404(found: Found | None, code: str = STATUSES[404][0], message: str = STATUSES[404][1], remedy: str | None = None) -> Found:
    """Return ``found``. Raises ``ApiError`` 404 if it is None; pages answer with their own 404."""
    if found is None:
        raise ApiError(404, code, message, remedy)
    return found


def require(condition: object, status: int = 404, code: str | None = None, message: str = "", remedy: str | None = None) -> None:
    """Raise an error with ``status`` unless ``condition`` is true."""
    if not condition:
        raise HTTPException(status) if code is None else ApiError(status, code, message, remedy)


@contextmanager
def api_error_for(*errors: type[Exception], status: int, code: str, remedy: str | None = None) -> Iterator[None]:
    """Convert errors of these types to ``ApiError`` with ``status`` and the error's own message."""
    try:
        yield
    except errors as error:
        raise ApiError(status, code, str(error), remedy) from error


def is_api_request(request: Request) -> bool:
    return bool(request.scope["path"].startswith(API_PREFIX))


def error_response(status: int, headers: Mapping[str, str] | None = None, error: Exception | None = None) -> JSONResponse:
    """Return the JSON response for ``status``; an ``ApiError`` replaces the default message of the status."""
    code, message, remedy = STATUSES.get(status, STATUSES[500 if status >= 500 else 400])
    fault = ErrorDetail(code=code, message=message, remedy=remedy, problems=None)
    if isinstance(error, ApiError):
        fault = ErrorDetail(code=error.code, message=error.message, remedy=error.remedy, problems=error.problems)
    elif isinstance(error, RequestValidationError):
        places = ((".".join(map(str, item["loc"])), item["msg"]) for item in error.errors())  # without the values: they may be secrets
        fault = fault.model_copy(update={"problems": [Problem(where=place, message=message) for place, message in places]})
    more = {"www-authenticate": "Bearer"} if status == 401 else {"retry-after": RETRY_AFTER[status]} if status in RETRY_AFTER else {}
    body = ErrorResponse(error=fault).model_dump(exclude_none=True)
    return JSONResponse(body, status, headers={"cache-control": "no-store", **more, **(headers or {})})


def http_error_response(error: Exception) -> JSONResponse:
    if isinstance(error, StarletteException):
        return error_response(error.status_code, error.headers, error)
    return error_response(422 if isinstance(error, RequestValidationError) else 404, error=error)


def describe(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the ``responses`` of a route that may answer with these errors, for its OpenAPI description."""
    return {status: {"model": ErrorResponse, "description": STATUSES[status][1]} for status in statuses}
