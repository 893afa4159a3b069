"""Serialize values for other processes: JSON, followed by raw bytes. Reading builds only plain values and the project's own dataclasses and
errors, and executes nothing: a page that compromises its reader process gains no control over the crawl."""

import builtins
import json
import sys
from array import array
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache, partial
from types import FunctionType
from typing import Any, Final

from newsportal.errors import NewsportalError

SEQUENCES: Final[dict[str, type]] = {"tuple": tuple, "list": list, "set": set, "frozenset": frozenset}
PACKAGE: Final = "newsportal"  # the package whose dataclasses, named tuples, errors and functions may be named


def dumps(value: Any) -> list[bytes]:
    """Return ``value`` in parts: JSON first, then its bytes values. Raises ``TypeError`` for unsupported types."""
    parts = [b""]
    parts[0] = json.dumps(_plain(value, parts), separators=(",", ":")).encode("ascii")
    return parts


def loads(parts: Sequence[bytes], *, functions: bool = False) -> Any:
    """Read the output of :func:`dumps`; functions only if allowed. Raises ``ValueError`` for anything else."""
    return _value(json.loads(parts[0]), parts, functions)


def describe(error: Exception, trace: str) -> Any:
    """Return an error as a value for :func:`rebuild_error`."""
    attrs = {name: value for name, value in vars(error).items() if name != "__notes__"} if isinstance(error, NewsportalError) else {}
    return [f"{type(error).__module__}:{type(error).__qualname__}", str(error), attrs, trace]


def rebuild_error(description: Any) -> Exception:
    """Rebuild a described error; ``RuntimeError`` for errors of other libraries."""
    name, text, attrs, trace = description
    module, _, class_name = str(name).partition(":")
    kind = getattr(builtins, class_name, None) if module == "builtins" else _named(name) if module.startswith(f"{PACKAGE}.") else None
    kind = kind if isinstance(kind, type) and issubclass(kind, Exception) else RuntimeError
    error = kind.__new__(kind)
    error.args = (text,)
    vars(error).update(attrs)
    if not isinstance(error, NewsportalError):
        error.add_note(f"{name} in the process that read the page:\n{trace}")
    return error


def _plain(value: Any, parts: list[bytes]) -> Any:
    kind: type = type(value)
    if value is None or isinstance(value, str | int | float):
        return value
    if kind in (tuple, list, set, frozenset):
        return [kind.__name__, *(_plain(item, parts) for item in value)]
    if kind is dict:
        return ["dict", *(_plain(item, parts) for pair in value.items() for item in pair)]
    if kind is datetime:
        return ["datetime", value.isoformat()]
    if isinstance(value, bytes | array):
        parts.append(bytes(value))
        return ["bytes" if isinstance(value, bytes) else f"array {value.typecode}", len(parts) - 1]
    if kind is partial:
        return ["partial", *(_plain(item, parts) for item in (value.func, value.args, value.keywords))]
    if kind is FunctionType:
        return ["function", f"{value.__module__}:{value.__qualname__}"]
    if is_dataclass(kind) or isinstance(value, tuple):
        return [f"{kind.__module__}:{kind.__qualname__}", *(_plain(getattr(value, name), parts) for name in _fields(kind))]
    raise TypeError(f"not a value that can be passed to another process: {kind.__module__}.{kind.__qualname__}")


def _value(data: Any, parts: Sequence[bytes], functions: bool) -> Any:
    if not isinstance(data, list):
        return data
    tag, *rest = data
    values = [_value(item, parts, functions) if isinstance(item, list) else item for item in rest]
    if tag in SEQUENCES:
        return SEQUENCES[tag](values)
    if tag == "dict":
        return dict(zip(values[::2], values[1::2], strict=True))
    if tag == "datetime":
        return datetime.fromisoformat(values[0])
    if tag == "bytes":
        return parts[values[0]]
    if tag.startswith("array "):
        return array(tag[-1], parts[values[0]])
    if tag in ("partial", "function"):
        if not functions:
            raise ValueError("a function instead of a value")
        if tag == "function":
            return _named(values[0])
        function, args, keywords = values
        return partial(function, *args, **keywords)
    kind = _named(tag)
    if not isinstance(kind, type) or not (is_dataclass(kind) or issubclass(kind, tuple)):
        raise ValueError(f"unknown value: {tag}")
    return kind(**dict(zip(_fields(kind), values, strict=True)))


@cache
def _fields(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.init) if is_dataclass(kind) else kind._fields  # type: ignore[attr-defined]


@cache
def _named(name: str) -> Any:
    """Return an object by name from a loaded module of this package. Raises ``ValueError``."""
    module, _, path = name.partition(":")
    found: Any = sys.modules.get(module) if module.partition(".")[0] == PACKAGE else None
    for part in path.split("."):
        found = getattr(found, part, None)
    if found is None or getattr(found, "__module__", None) != module:
        raise ValueError(f"unknown class: {name}")
    return found
