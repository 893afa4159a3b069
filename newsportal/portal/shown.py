"""What is asked of a page's photo stories all at once, before it is written: a question for each would hold the reader up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from newsportal.storage.base import Story
from newsportal.storage.galleries import is_gallery


def photo_stories(values: Any) -> Iterator[str]:
    """The ids of the photo stories that stand for their stories in what a template is given: in its lists, mappings and dataclasses."""
    if isinstance(values, Story):
        if is_gallery(values.head.source):
            yield values.head.id
    elif isinstance(values, Mapping):
        for value in values.values():
            yield from photo_stories(value)
    elif isinstance(values, list | tuple):
        for value in values:
            yield from photo_stories(value)
    elif is_dataclass(values):
        for one in fields(values):
            yield from photo_stories(getattr(values, one.name))
