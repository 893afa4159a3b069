"""Between visits and rows of ``visits``. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any, Final

from newsportal.storage.rows import name
from newsportal.visits import Visit

TOLD: Final = tuple(field.name for field in fields(Visit) if field.name not in ("source", "at"))

BEGUN: Final = -1
"""``brought`` of a visit of which nothing is told yet."""


def visit_row(visit: Visit) -> dict[str, Any]:
    """The columns of a visit."""
    brought = BEGUN if visit.begun else int(visit.new > 0)
    return {"source": name(visit.source), "at": visit.at, "brought": brought, "told": _plain(visit)}


def _plain(visit: Visit) -> dict[str, Any]:
    """What there is to tell; fields that say nothing are left out."""
    told = {key: getattr(visit, key) for key in TOLD}
    told["published"] = [moment.isoformat() for moment in visit.published]
    return {key: dict(value) if isinstance(value, Mapping) else value for key, value in told.items() if value}


def visit_of(source: str, at: datetime, told: Mapping[str, Any]) -> Visit:
    """The inverse of :func:`visit_row`; what a later version added is left out."""
    values = {key: told[key] for key in TOLD if key in told}
    values["published"] = tuple(datetime.fromisoformat(moment) for moment in values.get("published", ()))
    return Visit(source, at, **values)
