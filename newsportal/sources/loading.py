"""Find, load and check ``sources.yaml``, reporting all its mistakes at once: pydantic's errors in our words, with the value found, the
allowed values and the nearest correct spelling; and load the custom dictionary that it names."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from newsportal import text
from newsportal.errors import Problem, SourcesError
from newsportal.extractors.lists import engines
from newsportal.messages import Message, Value, did_you_mean
from newsportal.sources.building import Mistake, Tree, Unreadable, describe_value, format_list, read
from newsportal.sources.building import Path as KeyPath
from newsportal.sources.models import KINDS, Sources
from newsportal.sources.places import PLACES

MessageAndHint = tuple[Message, Message | None]  # message and hint


def mistakes_of(error: ValidationError, tree: Tree) -> Iterator[Mistake]:
    """Yield pydantic's errors as mistakes with their lines. Errors of values derived from invalid ones are skipped."""
    for details in error.errors(include_url=False):
        path: KeyPath = (*details["loc"], *details.get("ctx", {}).get("at", ()))
        if path not in tree.lines and path[:-1] not in tree.lines:
            continue  # derived, not in the file: a region's seeds from its prefix, a topic's keywords from its name
        say, other = (
            SAYINGS.get(details["type"]),
            Message("sources.invalid-value", found=describe_value(details["input"]), why=details["msg"]),
        )
        message, hint = say(details, path) if say else (other, None)
        yield Mistake(tree.line(path), path, message, hint)


def dotted(path: KeyPath) -> str:
    """Format a path as ``feeds[2].url``; the whole file as ``(file)``."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".") or "(file)"


def keys_at(path: KeyPath) -> tuple[str, ...]:
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


def _unknown_key(details: ErrorDetails, path: KeyPath) -> MessageAndHint:
    allowed = keys_at(path[:-1])
    return Message("sources.unknown-key", key=describe_value(path[-1]), allowed=format_list(allowed)), did_you_mean(path[-1], allowed)


def _no_text(details: ErrorDetails, path: KeyPath) -> MessageAndHint:
    found = details["input"]
    quotes = Message("hint.quotes", text=f'"{found}"') if isinstance(found, int | float) and not isinstance(found, bool) else None
    return Message("sources.not-text", found=describe_value(found)), quotes


def _no_mapping(details: ErrorDetails, path: KeyPath) -> MessageAndHint:
    allowed = format_list(keys_at(path))
    value = details["input"]
    hint = Message("hint.no-dash") if isinstance(value, list) else None
    if isinstance(value, str) and "：" in value:
        hint = Message("hint.colon")
    return Message("sources.not-a-mapping", found=describe_value(value), allowed=allowed), hint


def _no_list(details: ErrorDetails, path: KeyPath) -> MessageAndHint:
    dash = Message("hint.dash") if isinstance(details["input"], dict) else None
    return Message("sources.not-a-list", found=describe_value(details["input"])), dash


def _not_one_of(details: ErrorDetails, path: KeyPath) -> MessageAndHint:
    allowed = [word.strip(" '") for word in str(details["ctx"]["expected"]).replace(" or ", ",").split(",")]
    quoted = Message("hint.no-quotes") if details["input"] in allowed else None
    message = Message("sources.not-allowed", found=describe_value(details["input"]), allowed=format_list(allowed))
    return message, quoted or did_you_mean(details["input"], allowed)


def _invalid_value(code: str, limit: str | None = None) -> Callable[[ErrorDetails, KeyPath], MessageAndHint]:
    """Return a handler for values that violate ``code``, or exceed the ``limit`` of that name."""

    def described(details: ErrorDetails, path: KeyPath) -> MessageAndHint:
        bound: dict[str, Value] = {"limit": float(details["ctx"][limit])} if limit else {}
        return Message(code, found=describe_value(details["input"]), **bound), None

    return described


SAYINGS: dict[str, Callable[[ErrorDetails, KeyPath], MessageAndHint]] = {
    "mistake": lambda details, path: (details["ctx"]["message"], details["ctx"]["hint"]),
    "extra_forbidden": _unknown_key,
    "missing": lambda details, path: (Message("sources.missing", key=describe_value(path[-1])), None),
    "string_type": _no_text,
    **dict.fromkeys(("model_type", "model_attributes_type", "dict_type"), _no_mapping),
    **dict.fromkeys(("tuple_type", "list_type"), _no_list),
    "literal_error": _not_one_of,
    "path_type": _invalid_value("sources.not-a-path"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), _invalid_value("sources.not-an-integer")),
    **dict.fromkeys(("float_type", "float_parsing"), _invalid_value("sources.not-a-number")),
    **dict.fromkeys(("bool_type", "bool_parsing"), _invalid_value("sources.not-a-boolean")),
    "greater_than": _invalid_value("sources.more-than", "gt"),
    "greater_than_equal": _invalid_value("sources.at-least", "ge"),
    "less_than": _invalid_value("sources.less-than", "lt"),
    "less_than_equal": _invalid_value("sources.at-most", "le"),
    "string_too_long": lambda details, path: (
        Message("sources.too-long", found=len(details["input"]), limit=details["ctx"]["max_length"]),
        None,
    ),
    "string_too_short": lambda details, path: (Message("sources.empty-text"), None),
    "too_short": lambda details, path: (Message("sources.empty-list"), None),
}
"""A message for each of pydantic's error types that the models can raise; others keep pydantic's text."""


def built_in() -> tuple[str, ...]:
    return engines.engine_names()


def check(tree: Tree) -> Iterator[Mistake]:
    """Yield duplicate names in a list, and references to unknown engines and topics."""
    if not isinstance(tree.value, dict):
        return
    names: dict[str, list[str]] = {}
    for kind in (*KINDS, "publish"):
        first: dict[str, int] = {}
        for index, entry in _entries(tree.value, kind):
            if isinstance(entry.get("name"), str):
                name, path = entry["name"].strip(), (kind, index, "name")
                if name in first:
                    yield Mistake(tree.line(path), path, Message("sources.duplicate-name", found=describe_value(name), line=first[name]))
                first.setdefault(name, tree.line(path))
        names[kind] = list(first)
    yield from _unknown(tree, ("topics",), ("engines",), [*built_in(), *names["engines"]], "engine")
    yield from _unknown(tree, PLACES, ("topics",), names["topics"], "topic")
    yield from _unknown(tree, ("publish",), ("only", "topics"), names["topics"], "topic")


def _entries(value: Any, kind: str) -> Iterator[tuple[int, dict[str, Any]]]:
    entries = value.get(kind)
    return ((index, entry) for index, entry in enumerate(entries if isinstance(entries, list) else ()) if isinstance(entry, dict))


def _unknown(tree: Tree, kinds: tuple[str, ...], keys: tuple[str, ...], allowed: list[str], subject: str) -> Iterator[Mistake]:
    known_names = set(allowed)
    for kind in kinds:
        for index, entry in _entries(tree.value, kind):
            value: Any = entry
            for key in keys:
                value = value.get(key) if isinstance(value, dict) else None
            for place, name in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(name, str) and name.strip() not in known_names:
                    path: KeyPath = (kind, index, *keys, *(() if place is None else (place,)))
                    code = f"sources.unknown-{subject}" if allowed else f"sources.no-{subject}-declared"
                    message = Message(code, found=describe_value(name), allowed=format_list(allowed))
                    yield Mistake(tree.line(path), path, message, did_you_mean(name, allowed))


FILE_NAME = "sources.yaml"
VARIABLE = "NEWSPORTAL_SOURCES"
HOME = "NEWSPORTAL_HOME"
"""The environment variable with the data folder of a packaged file; by default the working folder."""
WRITE_ONE = Message("hint.init")


def find(start: Path | None = None, environ: Mapping[str, str] = os.environ) -> Path | None:
    """Return the file to load: ``$NEWSPORTAL_SOURCES``, else the nearest ``sources.yaml`` in ``start`` or above, else ``None``."""
    if environ.get(VARIABLE):
        return Path(environ[VARIABLE]).expanduser()
    folder = (start or Path.cwd()).absolute()
    return next((path / FILE_NAME for path in (folder, *folder.parents) if (path / FILE_NAME).is_file()), None)


Stamp = tuple[int, int, int]


def stamp(path: Path) -> Stamp | None:
    """Return a stamp that changes with every write (time, size, inode); ``None`` if the file is inaccessible."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def load(path: Path | None = None, environ: Mapping[str, str] = os.environ) -> Sources:
    """Load the sources in ``path`` (default: the result of :func:`find`, else the packaged file), validated and frozen. Raises
    ``SourcesError`` with every mistake and its line, also for a missing or unreadable file."""
    path = path or find(environ=environ)
    if path is None:
        return packaged(environ)
    if path.is_dir():
        path /= FILE_NAME
    try:
        content = path.read_bytes()
    except OSError as error:
        message = Message("sources.unreadable", why=error.strerror or str(error))
        hint = WRITE_ONE if isinstance(error, FileNotFoundError) else None
        raise error_of(path, [Mistake(1, (), message, hint)]) from error
    return parse(content, path, environ)


def packaged(environ: Mapping[str, str] = os.environ) -> Sources:
    """Load the packaged file (of scrapyd's eggs); its relative paths start from ``$NEWSPORTAL_HOME``, by default from the working folder.
    Raises ``SourcesError`` as :func:`load` does."""
    folder = Path(environ[HOME]).expanduser() if environ.get(HOME) else Path.cwd()
    resource = files("newsportal").joinpath(FILE_NAME)
    path = folder / FILE_NAME
    if not resource.is_file():
        raise error_of(path, [Mistake(1, (), Message("sources.no-file", name=FILE_NAME), WRITE_ONE)])
    return parse(resource.read_bytes(), path, environ)


def parse(content: bytes, path: Path, environ: Mapping[str, str] = os.environ) -> Sources:
    """Parse the sources in ``content``; messages name ``path``, relative paths start from its folder. Raises ``SourcesError``."""
    try:
        tree = read(content)
    except Unreadable as error:
        raise error_of(path, [error.mistake]) from error
    if tree.value is None and not tree.mistakes:
        raise error_of(path, [Mistake(1, (), Message("sources.empty-file"), WRITE_ONE)])
    mistakes = [*tree.mistakes, *check(tree)]
    context = {"folder": path.absolute().parent, "path": path.absolute(), "environ": environ, "filled": set()}
    sources = None
    try:
        sources = Sources.model_validate(tree.value, context=context)
    except ValidationError as error:
        mistakes += mistakes_of(error, tree)
    if sources is None or mistakes:
        raise error_of(path, mistakes)
    return sources


def error_of(path: Path, mistakes: Iterable[Mistake]) -> SourcesError:
    """Return all mistakes of the file at ``path`` as one error, ordered by line."""
    in_order = sorted(mistakes, key=lambda mistake: mistake.line)
    return SourcesError([Problem(str(path), mistake.line, dotted(mistake.path), mistake.message, mistake.hint) for mistake in in_order])


MAX_BYTES = 20_000_000  # a larger file is no dictionary: jieba's own has 5 MB


def use_custom_words(sources: Sources) -> None:
    """Add the custom words of ``sources`` to this process's segmenter. Raises ``SourcesError`` if their file is unreadable."""
    text.set_user_words((*sources.words, *(_words_of_file(sources.dictionary, sources.path) if sources.dictionary else ())))


def _words_of_file(path: Path, sources_file: Path | None) -> Iterator[str]:
    """Yield the words of a file, one per line; frequency and part of speech (as in jieba's) are ignored, ``#`` begins a comment."""

    def refusal(message: Message, hint: Message | None = None) -> SourcesError:
        return error_of(sources_file or Path(FILE_NAME), [Mistake(1, ("dictionary",), message, hint)])

    try:
        if path.stat().st_size > MAX_BYTES:
            raise refusal(Message("sources.dictionary-large", path=str(path), number=MAX_BYTES // 1_000_000))
        lines = path.read_text("utf-8-sig").splitlines()
    except OSError as error:
        message = Message("sources.dictionary-unreadable", path=str(path), why=error.strerror or str(error))
        raise refusal(message, Message("hint.dictionary")) from error
    except UnicodeDecodeError as error:
        command = f"iconv -f GB18030 -t UTF-8 {path.name}"
        raise refusal(Message("sources.dictionary-encoding", path=str(path)), Message("hint.convert", command=command)) from error
    return (words[0] for line in lines if (words := line.split()) and not words[0].startswith("#"))
