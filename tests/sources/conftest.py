"""Shared fixtures for tests of ``sources.yaml``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from newsportal.errors import Problem, SourcesError
from newsportal.sources import load

ProblemsOf = Callable[[str | bytes], tuple[Problem, ...]]


@pytest.fixture
def problems_of(tmp_path: Path) -> ProblemsOf:
    """Return a function that loads a text and returns its problems; empty if there are none."""

    def problems(content: str | bytes) -> tuple[Problem, ...]:
        path = tmp_path / "sources.yaml"
        path.write_bytes(content if isinstance(content, bytes) else dedent(content).encode())
        try:
            load(path, environ={})
        except SourcesError as error:
            return error.problems
        return ()

    return problems
