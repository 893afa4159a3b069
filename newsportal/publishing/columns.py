"""A row of somebody else's table, made of an article as ``sources.yaml`` says."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from newsportal.publishing import fields
from newsportal.sources.publishing import Column, Scalar
from newsportal.store.results import StoredArticle

Cell = Scalar | datetime | None

UNIX: Final = "unix"
ELLIPSIS: Final = "…"


def row_of(article: StoredArticle, columns: Mapping[str, Column], zone: tzinfo) -> dict[str, Cell]:
    """Column → what goes into it. ``zone``: the one of moments whose column names none."""
    return {name: cell(article, column, zone) for name, column in columns.items()}


def cell(article: StoredArticle, column: Column, zone: tzinfo) -> Cell:
    """What goes into one column; its default where the article has nothing. A moment without a form is a datetime in its zone."""
    if column.constant is not None:
        return column.constant
    found = _found(article, column, ZoneInfo(column.zone) if column.zone else zone)
    if found is None or found == "":
        return column.default if column.default is not None else found
    return _cut(found, column.max) if isinstance(found, str) and column.max is not None else found


def _found(article: StoredArticle, column: Column, zone: tzinfo) -> Cell:
    if column.lookup is not None:
        return _looked_up(article, column, zone)
    if column.template is not None:
        return fields.filled(column.template, article, zone)
    found = fields.value(article, column.field or "", zone)
    if isinstance(found, tuple):
        return column.join.join(found)
    return _moment(found.astimezone(zone), column.format) if isinstance(found, datetime) else found


def _looked_up(article: StoredArticle, column: Column, zone: tzinfo) -> Cell:
    lookup = column.lookup or {}
    words = article.topics if column.by == "topic" else (fields.text(article, column.by, zone),)
    return next((lookup[word] for word in words if word in lookup), None)


def _moment(moment: datetime, form: str | None) -> Cell:
    if form is None:
        return moment
    return int(moment.timestamp()) if form == UNIX else moment.strftime(form)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else (text[: most - 1] + ELLIPSIS if most > 1 else text[:most])
