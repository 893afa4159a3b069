"""Measure work by counts instead of time: a count is the same on every machine, however busy it is."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import process_time
from types import FrameType
from typing import Any

HANG = 60.0
"""Seconds of processor time after which work counts as endless. Guarded code takes one or two at most."""


def count_calls(function: Callable[..., Any], *args: Any) -> int:
    """Return how many functions, of Python and of C, are called while ``function(*args)`` runs."""
    count = 0

    def profile(frame: FrameType, event: str, arg: Any) -> None:
        nonlocal count
        if event in {"call", "c_call"}:
            count += 1

    return _measured(sys.setprofile, profile, function, args, lambda: count)


def count_lines(function: Callable[..., Any], *args: Any) -> int:
    """Return how many lines of Python run, for loops that call nothing."""
    count = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        count += 1
        return trace

    return _measured(sys.settrace, trace, function, args, lambda: count)


def _measured(install: Callable[[Any], None], hook: Any, function: Callable[..., Any], args: Any, counter: Callable[[], int]) -> int:
    gc.disable()  # its callbacks would be counted
    install(hook)
    try:
        function(*args)
    finally:
        install(None)
        gc.enable()
    return counter()


@contextmanager
def ends(seconds: float = HANG) -> Iterator[None]:
    """Stop a test whose work grows without bound inside C code, where calls cannot be counted. This does not measure speed."""
    start = process_time()
    yield
    assert process_time() - start < seconds
