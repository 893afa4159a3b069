"""Responses of the API: models filled from other objects, pages with an opaque cursor, ETags (304 for unchanged responses); and errors of
changes of ``sources.yaml``, which is written and logged as on the desk."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from newsportal.errors import NewsportalError, SourcesError
from newsportal.portal.access import ApiError, Problem
from newsportal.portal.desk.sources_yaml import write
from newsportal.portal.request_body import has_etag
from newsportal.sources import edit
from newsportal.sources.categories import NameTaken
from newsportal.sources.changing import EntryChanged, NoEntry
from newsportal.sources.editing import Change, Digest, EditConflict

HEADERS = {"cache-control": "private, no-cache", "vary": "Authorization, Cookie"}


def etag_response(request: Request, model: type[BaseModel], value: object) -> Response:
    """Return ``value`` as the JSON of ``model``, or 304 if the client has it."""
    body = model.model_validate(value, from_attributes=True).model_dump_json().encode("utf-8", "replace")
    tag = f'"{blake2b(body, digest_size=12).hexdigest()}"'
    if has_etag(request, tag):
        return Response(status_code=304, headers={**HEADERS, "etag": tag})
    return Response(body, media_type="application/json", headers={**HEADERS, "etag": tag})


Item = TypeVar("Item")
Model = TypeVar("Model", bound=BaseModel)

MAX_ITEMS = 200  # per page

Limit = Annotated[int, Query(ge=1, le=MAX_ITEMS, description="Maximum number.")]
Cursor = Annotated[str | None, Query(max_length=500, description="`next` of the previous page; omitted for the first.")]

MAX_INTEGER = 2**63 - 1


class Page(BaseModel, Generic[Item]):
    items: list[Item]
    next: str | None = Field(None, description="Cursor of the next page; null on the last.")


def fill(model: type[Model], source: object, **more: object) -> Model:
    """Return a ``model`` from the attributes of ``source`` with its fields' names, and ``more``."""
    return model.model_validate({name: getattr(source, name) for name in model.model_fields if name not in more} | more, by_name=True)


def cursor_of(*place: str | int) -> str:
    return urlsafe_b64encode(json.dumps(place, separators=(",", ":")).encode()).decode().rstrip("=")


def parse_cursor(cursor: str | None, *kinds: type) -> tuple[Any, ...] | None:
    """Return the arguments of :func:`cursor_of`, checked against ``kinds``; None for the first page. Raises ``ApiError``."""
    if cursor is None:
        return None
    try:
        parts = json.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, RecursionError):
        parts = None
    valid = isinstance(parts, list) and [type(part) for part in parts] == list(kinds)
    if not valid or any(isinstance(part, int) and not 0 <= part <= MAX_INTEGER for part in parts):  # every database accepts these numbers
        raise ApiError(400, "invalid-cursor", "This is not a cursor.", "Send `next` of the previous page unchanged.")
    return tuple(parts)


def change_sources(request: Request, change: Change, action: str, key: str, details: Mapping[str, Any], digest: str | None = None) -> bool:
    """Return whether the file was changed. ``digest``: the digest of the file that was read. Raises ``ApiError``."""
    return write_sources(request, lambda path: edit(path, change, digest), action, key, details)


def write_sources(request: Request, change: Callable[[Path], Digest], action: str, key: str, details: Mapping[str, Any]) -> bool:
    """As :func:`change_sources`, with any function that changes the file."""
    try:
        return write(request, change, action, key, details) is not None
    except SourcesError as error:
        texts = (" ".join(map(str, filter(None, (problem.message, problem.hint)))) for problem in error.problems)
        problems = [
            Problem(where=f"{problem.line}: {problem.key}", message=text, code=problem.message.code)
            for problem, text in zip(error.problems, texts, strict=True)
        ]
        raise ApiError(422, "not-valid", "sources.yaml would not load.", "See problems.", problems) from error
    except NameTaken as error:
        raise ApiError(409, "name-taken", str(error), "Choose another name.") from error
    except (EntryChanged, EditConflict) as error:
        raise ApiError(409, "conflict", str(error), "Read it again, then send the change again.") from error
    except NoEntry as error:
        raise ApiError(404, "not-found", str(error)) from error
    except (NewsportalError, OSError) as error:
        reason = getattr(error, "strerror", None) or error  # the message of an OSError contains the full path
        raise ApiError(503, "write-failed", f"sources.yaml cannot be written: {reason}") from error
