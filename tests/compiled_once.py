"""Let the tests of a process share what each would make anew: the statements that SQLAlchemy compiles, and the parsers of commands.

Each engine compiles every statement anew, and most tests open stores of their own: a sixth of their processor time. Typer makes a command's
parser anew each time: a seventh of the time of commands that run in the tests' process.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.util import LRUCache

from newsportal.cli import COMMANDS, MODULES, Commands

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


_get_command = Commands.get_command


@cache
def _parser(name: str, _module: str | None) -> Any:
    return _get_command(Commands(name="newsportal"), None, name)


def _get_shared(commands: Commands, context: Any, name: str) -> Any:
    return _get_command(commands, context, name) if commands._listing or name not in COMMANDS else _parser(name, MODULES.get(name))


def share_parsers() -> None:
    Commands.get_command = _get_shared  # type: ignore[method-assign]
