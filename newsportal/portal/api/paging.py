"""Answers of the API: filled from values, in pages with an opaque cursor, with a tag (304 for who has the same already); and mistakes of a
change of ``sources.yaml``, which is written and logged as the desk does it."""

from __future__ import annotations

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
from newsportal.sources.editing import Change, EditConflict, Written

HEADERS = {"cache-control": "private, no-cache", "vary": "Authorization, Cookie"}


def tagged(request: Request, model: type[BaseModel], found: object) -> Response:
    """``found`` as the JSON of ``model``; 304 for somebody who names its tag."""
    body = model.model_validate(found, from_attributes=True).model_dump_json().encode("utf-8", "replace")
    tag = f'"{blake2b(body, digest_size=12).hexdigest()}"'
    if has_etag(request, tag):
        return Response(status_code=304, headers={**HEADERS, "etag": tag})
    return Response(body, media_type="application/json", headers={**HEADERS, "etag": tag})


Item = TypeVar("Item")
Model = TypeVar("Model", bound=BaseModel)

MOST = 200  # of a page

Limit = Annotated[int, Query(ge=1, le=MOST, description="How many at most.")]
Cursor = Annotated[str | None, Query(max_length=500, description="`next` of the page before; none for the first page.")]

LARGEST = 2**63 - 1


class Page(BaseModel, Generic[Item]):
    items: list[Item]
    next: str | None = Field(None, description="The cursor to the next page; null on the last one.")


def fill(model: type[Model], source: object, **more: object) -> Model:
    """``model`` with the attributes of ``source`` that have its fields' names, and ``more``."""
    return model.model_validate({name: getattr(source, name) for name in model.model_fields if name not in more} | more, by_name=True)


def cursor_of(*place: str | int) -> str:
    return urlsafe_b64encode(json.dumps(place, separators=(",", ":")).encode()).decode().rstrip("=")


def place_of(cursor: str | None, *kinds: type) -> tuple[Any, ...] | None:
    """What :func:`cursor_of` was told, checked against ``kinds``; None for the first page. Raises ``ApiError``."""
    if cursor is None:
        return None
    try:
        place = json.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, RecursionError):
        place = None
    fits = isinstance(place, list) and [type(part) for part in place] == list(kinds)
    if not fits or any(isinstance(part, int) and not 0 <= part <= LARGEST for part in place):  # every database takes these numbers
        raise ApiError(400, "no-cursor", "This is no cursor.", "Take `next` of the page before as it is.")
    return tuple(place)


def changed(request: Request, change: Change, action: str, key: str, details: Mapping[str, Any], seen: str | None = None) -> bool:
    """Whether the file was changed. ``seen``: the digest of the file that was read. Raises ``ApiError``."""
    return written(request, lambda path: edit(path, change, seen), action, key, details)


def written(request: Request, change: Callable[[Path], Written], action: str, key: str, details: Mapping[str, Any]) -> bool:
    """As :func:`changed`, by whatever ``change`` does to the file."""
    try:
        return write(request, change, action, key, details) is not None
    except SourcesError as error:
        problems = [
            Problem(
                where=f"{one.line}: {one.key}", message=" ".join(map(str, filter(None, (one.message, one.hint)))), code=one.message.code
            )
            for one in error.problems
        ]
        raise ApiError(422, "not-valid", "sources.yaml would not load.", "See problems.", problems) from error
    except NameTaken as error:
        raise ApiError(409, "name-taken", str(error), "Choose another name.") from error
    except (EntryChanged, EditConflict) as error:
        raise ApiError(409, "conflict", str(error), "Read it again, then send the change again.") from error
    except NoEntry as error:
        raise ApiError(404, "not-found", str(error)) from error
    except (NewsportalError, OSError) as error:
        why = getattr(error, "strerror", None) or error  # what an OSError says names the whole path
        raise ApiError(503, "not-written", f"sources.yaml cannot be written: {why}") from error
