"""Pydantic's errors in our words: what was found, what is allowed, the nearest right spelling."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from newsportal.messages import Message, Value, did_you_mean
from newsportal.sources.building import describe_value, listed
from newsportal.sources.models import Sources
from newsportal.sources.reading import Mistake, Path, Tree

MessageAndHint = tuple[Message, Message | None]  # message and hint


def mistakes_of(error: ValidationError, tree: Tree) -> Iterator[Mistake]:
    """Each of pydantic's errors as a mistake with its line. Values that were derived from wrong ones are not told of again."""
    for details in error.errors(include_url=False):
        path: Path = (*details["loc"], *details.get("ctx", {}).get("at", ()))
        if path not in tree.lines and path[:-1] not in tree.lines:
            continue  # not in the file: a region's seeds that came from its prefix, a topic's keywords that came from its name
        message, hint = SAYINGS.get(details["type"], _otherwise)(details, path)
        yield Mistake(tree.line(path), path, message, hint)


def dotted(path: Path) -> str:
    """``feeds[2].url``; the whole file is ``(file)``."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".") or "(file)"


def keys_at(path: Path) -> tuple[str, ...]:
    kind: Any = Sources
    for step in path:
        kind = _inner(kind, step)
    return tuple(field.alias or name for name, field in kind.model_fields.items()) if _is_part(kind) else ()


def _inner(kind: Any, step: str | int) -> Any:
    if isinstance(step, int):
        return next((argument for argument in get_args(kind) if argument is not Ellipsis), None)
    if get_origin(kind) is dict:
        return get_args(kind)[1]
    if not _is_part(kind):
        return None
    for name, field in kind.model_fields.items():
        if step in (name, field.alias):
            if get_origin(field.annotation) in (Union, UnionType):
                return next((argument for argument in get_args(field.annotation) if argument is not type(None)), None)
            return field.annotation
    return None


def _is_part(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _unknown_key(details: ErrorDetails, path: Path) -> MessageAndHint:
    allowed = keys_at(path[:-1])
    return Message("sources.unknown-key", key=describe_value(path[-1]), allowed=listed(allowed)), did_you_mean(path[-1], allowed)


def _no_text(details: ErrorDetails, path: Path) -> MessageAndHint:
    found = details["input"]
    quotes = Message("hint.quotes", text=f'"{found}"') if isinstance(found, int | float) and not isinstance(found, bool) else None
    return Message("sources.no-text", found=describe_value(found)), quotes


def _no_mapping(details: ErrorDetails, path: Path) -> MessageAndHint:
    allowed = listed(keys_at(path))
    written = details["input"]
    hint = Message("hint.no-dash") if isinstance(written, list) else None
    if isinstance(written, str) and "：" in written:
        hint = Message("hint.colon")
    return Message("sources.no-mapping", found=describe_value(written), allowed=allowed), hint


def _no_list(details: ErrorDetails, path: Path) -> MessageAndHint:
    dash = Message("hint.dash") if isinstance(details["input"], dict) else None
    return Message("sources.no-list", found=describe_value(details["input"])), dash


def _not_one_of(details: ErrorDetails, path: Path) -> MessageAndHint:
    allowed = [word.strip(" '") for word in str(details["ctx"]["expected"]).replace(" or ", ",").split(",")]
    quoted = Message("hint.no-quotes") if details["input"] in allowed else None
    message = Message("sources.not-allowed", found=describe_value(details["input"]), allowed=listed(allowed))
    return message, quoted or did_you_mean(details["input"], allowed)


def _found(code: str, limit: str | None = None) -> Callable[[ErrorDetails, Path], MessageAndHint]:
    """A value that is not what ``code`` says, or beyond the ``limit`` of that name."""

    def described(details: ErrorDetails, path: Path) -> MessageAndHint:
        bound: dict[str, Value] = {"limit": float(details["ctx"][limit])} if limit else {}
        return Message(code, found=describe_value(details["input"]), **bound), None

    return described


def _otherwise(details: ErrorDetails, path: Path) -> MessageAndHint:
    return Message("sources.other", found=describe_value(details["input"]), why=details["msg"]), None


SAYINGS: dict[str, Callable[[ErrorDetails, Path], MessageAndHint]] = {
    "mistake": lambda details, path: (details["ctx"]["message"], details["ctx"]["hint"]),
    "extra_forbidden": _unknown_key,
    "missing": lambda details, path: (Message("sources.missing", key=describe_value(path[-1])), None),
    "string_type": _no_text,
    **dict.fromkeys(("model_type", "model_attributes_type", "dict_type"), _no_mapping),
    **dict.fromkeys(("tuple_type", "list_type"), _no_list),
    "literal_error": _not_one_of,
    "path_type": _found("sources.no-path"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), _found("sources.no-integer")),
    **dict.fromkeys(("float_type", "float_parsing"), _found("sources.no-number")),
    **dict.fromkeys(("bool_type", "bool_parsing"), _found("sources.no-bool")),
    "greater_than": _found("sources.more-than", "gt"),
    "greater_than_equal": _found("sources.at-least", "ge"),
    "less_than": _found("sources.less-than", "lt"),
    "less_than_equal": _found("sources.at-most", "le"),
    "string_too_long": lambda details, path: (
        Message("sources.too-long", found=len(details["input"]), limit=details["ctx"]["max_length"]),
        None,
    ),
    "string_too_short": lambda details, path: (Message("sources.empty-text"), None),
    "too_short": lambda details, path: (Message("sources.empty-list"), None),
}
"""One saying for each of pydantic's error types that the models can give; anything else is told in pydantic's words."""
