"""A change of ``sources.yaml`` that the API makes: written and logged as the desk does it, its mistakes told in the API's form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fastapi import Request

from newsportal.errors import NewsportalError, SourcesError
from newsportal.portal.api.faults import ApiError, Problem
from newsportal.portal.source_file import write
from newsportal.sources import edit
from newsportal.sources.categories import NameTaken
from newsportal.sources.changing import EntryChanged, NoEntry
from newsportal.sources.editing import Change, EditConflict


def changed(request: Request, change: Change, action: str, key: str, details: Mapping[str, Any]) -> bool:
    """Whether the file was changed. Raises ``ApiError``."""
    return written(request, lambda path: edit(path, change), action, key, details)


def written(request: Request, change: Callable[[Path], str], action: str, key: str, details: Mapping[str, Any]) -> bool:
    """As :func:`changed`, by whatever ``change`` does to the file."""
    try:
        return write(request, change, action, key, details).undo is not None
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
        raise ApiError(503, "not-written", f"sources.yaml cannot be written: {error}") from error
