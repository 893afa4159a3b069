"""What is asked of a page's stories all at once, before it is written: a question for each would hold the reader up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from types import NoneType
from typing import Any, Final

from newsportal.search.base import Hit
from newsportal.store.results import Story, is_gallery

PLAIN: Final = (str, int, float, datetime, NoneType)
"""Most of what a page is given; looked at first, for a page of search has thousands."""


def stories(values: Any) -> Iterator[Story | Hit]:
    """The stories and hits in what a template is given: in its lists, mappings and dataclasses."""
    if isinstance(values, PLAIN):
        return
    if isinstance(values, Story | Hit):
        yield values
    elif isinstance(values, Mapping):
        for value in values.values():
            yield from stories(value)
    elif isinstance(values, list | tuple):
        for value in values:
            yield from stories(value)
    elif is_dataclass(values):
        for one in fields(values):
            yield from stories(getattr(values, one.name))


def photo_stories(values: Any) -> Iterator[str]:
    """The ids of the photo stories that stand for their stories."""
    return (one.head.id for one in stories(values) if isinstance(one, Story) and is_gallery(one.head.source))


def ids(values: Any) -> list[str]:
    """The stories' ids, each once."""
    return list(dict.fromkeys(one.story_id if isinstance(one, Hit) else one.id for one in stories(values)))
