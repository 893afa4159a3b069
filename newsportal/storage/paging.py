"""How much is asked for at once, of any database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, TypeVar

T = TypeVar("T")

CHUNK: Final = 500
"""Values in one ``IN (...)``: below every database's limit of parameters."""

PAGE: Final = 1000
"""Rows read at once when everything is streamed. Between two pages no connection is held, so a slow reader blocks nobody."""


def chunks(values: Iterable[T], size: int = CHUNK) -> Iterator[list[T]]:
    """``values`` in lists of at most ``size``."""
    rest = iter(values)
    while chunk := list(islice(rest, size)):
        yield chunk
