"""Let the database engines of a process share the statements that SQLAlchemy compiles.

Each engine compiles every statement anew, and most tests open stores of their own: a sixth of their processor time.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.util import LRUCache

STATEMENTS = 2_000  # SQLAlchemy keeps 500 for each engine

_make = Engine.__init__
_compiled = LRUCache[Any, Any](STATEMENTS)


def _make_sharing(engine: Engine, *arguments: Any, **options: Any) -> None:
    _make(engine, *arguments, **options)
    engine._compiled_cache = _compiled


def _compiles_alike(dialect: DefaultDialect, other: object) -> bool:
    """Return whether both compile statements alike: all engines of one kind are opened with the same options."""
    return type(dialect) is type(other) and _version(dialect) == _version(other)


def _version(dialect: object) -> object:
    return getattr(dialect, "server_version_info", None)


def share_compiled_statements() -> None:
    Engine.__init__ = _make_sharing  # type: ignore[method-assign]
    DefaultDialect.__eq__ = _compiles_alike  # type: ignore[method-assign,assignment]
    DefaultDialect.__hash__ = lambda dialect: hash(type(dialect))  # type: ignore[method-assign,assignment]
