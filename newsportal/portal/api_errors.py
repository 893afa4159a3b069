"""What the API answers when something is wrong, in English: ``{"error": {"code", "message", "remedy"?, "problems"?}}``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from fastapi import HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException as StarletteException

PATHS: Final = "/api/"  # where answers are JSON, mistakes too
RETRY: Final[Mapping[int, str]] = {429: "60", 503: "10"}
"""Seconds after which another try makes sense: looks at other sites take a minute, a locked store is free again in ten."""


class Problem(BaseModel):
    """A value that cannot be taken: ``where`` it was sent, such as ``query.limit`` or ``body.name``."""

    where: str
    message: str
    code: str | None = Field(default=None, description="Of the message, the same in every version and language.")


class Fault(BaseModel):
    code: str = Field(description="A short name that stays the same, for programs.", examples=["not-found"])
    message: str = Field(description="What is wrong, in a sentence.")
    remedy: str | None = Field(None, description="What to do about it.")
    problems: list[Problem] | None = Field(None, description="The values that cannot be taken.")


class FaultAnswer(BaseModel):
    error: Fault


class ApiError(HTTPException):
    """Raised by an endpoint for a mistake of its own; ``code`` is a short stable slug."""

    def __init__(self, status: int, code: str, message: str, remedy: str | None = None, problems: list[Problem] | None = None) -> None:
        super().__init__(status, message)
        self.code, self.message, self.remedy, self.problems = code, message, remedy, problems


STATUSES: Final[Mapping[int, tuple[str, str, str | None]]] = {
    400: ("bad-request", "That could not be understood.", None),
    401: ("not-signed-in", "This needs a token or a session.", "Send a token that counts: Authorization: Bearer np_…; see /account."),
    403: ("not-allowed", "This may not be done with this token or role.", "Take a token with this right, or ask an administrator."),
    404: ("not-found", "There is no such thing.", None),
    405: ("method-not-allowed", "This address does not take that method.", "See /api/openapi.json."),
    408: ("too-slow", "It took too long to arrive.", None),
    409: ("conflict", "It was changed meanwhile.", "Read it again, then send the change again."),
    413: ("too-large", "What was sent is too large.", None),
    415: ("not-understood", "JSON is expected.", "Send Content-Type: application/json."),
    422: ("not-valid", "A value cannot be taken.", "See problems."),
    429: ("too-many", "Too many at once.", "Wait as long as Retry-After says."),
    500: ("broken", "Something went wrong.", "The log of the portal says what happened."),
    503: ("unavailable", "The store is away or locked for the moment.", "Try again in some seconds."),
}


Found = TypeVar("Found")


def or_404(found: Found | None, code: str = STATUSES[404][0], message: str = STATUSES[404][1], remedy: str | None = None) -> Found:
    """``found``, if it is there. Raises a 404, which pages show as theirs."""
    if found is None:
        raise ApiError(404, code, message, remedy)
    return found


@contextmanager
def api_error_for(*errors: type[Exception], status: int, code: str, remedy: str | None = None) -> Iterator[None]:
    """Errors of these types are answered with ``status``, in their own words."""
    try:
        yield
    except errors as error:
        raise ApiError(status, code, str(error), remedy) from error


def of_paths(request: Request) -> bool:
    return bool(request.scope["path"].startswith(PATHS))


def answer(status: int, headers: Mapping[str, str] | None = None, error: Exception | None = None) -> JSONResponse:
    """The answer for ``status``; what ``error`` says takes precedence over what is usual for the status."""
    code, message, remedy = STATUSES.get(status, STATUSES[500 if status >= 500 else 400])
    fault = Fault(code=code, message=message, remedy=remedy, problems=None)
    if isinstance(error, ApiError):
        fault = Fault(code=error.code, message=error.message, remedy=error.remedy, problems=error.problems)
    elif isinstance(error, RequestValidationError):
        fault = fault.model_copy(update={"problems": problems(error.errors())})
    more = {"www-authenticate": "Bearer"} if status == 401 else {"retry-after": RETRY[status]} if status in RETRY else {}
    body = FaultAnswer(error=fault).model_dump(exclude_none=True)
    return JSONResponse(body, status, headers={"cache-control": "no-store", **more, **(headers or {})})


def problems(found: Sequence[Any]) -> list[Problem]:
    """What pydantic found, without the value: it may be a secret."""
    return [Problem(where=".".join(str(part) for part in one.get("loc", ())), message=str(one.get("msg", ""))) for one in found]


def of_http(error: Exception) -> JSONResponse:
    if isinstance(error, StarletteException):
        return answer(error.status_code, error.headers, error)
    return answer(422 if isinstance(error, RequestValidationError) else 404, error=error)


def describe(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the ``responses`` of a route that may answer with these errors, for its OpenAPI description."""
    return {status: {"model": FaultAnswer, "description": STATUSES[status][1]} for status in statuses}
