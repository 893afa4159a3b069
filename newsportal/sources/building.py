"""Parse the bytes of ``sources.yaml`` to plain values, with the line of every key and value. The input is untrusted.

Only YAML's events are used, and no objects constructed, so that no tag can run Python code, in one pass without recursion: depth, aliases
and duplicate keys are checked on the way. libyaml parses them (through PyYAML, which falls back to its own Python if built without it):
ruamel.yaml, which edits the file, would take half a minute for a file of 100,000 sources.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml import events
from yaml.error import MarkedYAMLError, YAMLError
from yaml.reader import ReaderError

from newsportal.messages import Message, Value
from newsportal.sources.uris import mask

MAX_SHOWN_CHARS = 80
MAX_LISTED = 24  # a longer list of allowed words obscures the message


def format_list(words: Iterable[str]) -> Value:
    """Return ``a, b, c``; a long list is truncated, with the number of omitted words."""
    names = list(words)
    first = ", ".join(names[:MAX_LISTED])
    return Message("value.more", names=first, number=len(names) - MAX_LISTED) if len(names) > MAX_LISTED else first


def describe_value(value: object) -> Value:
    """Format a value from the file for a message: short, with its type, without secrets and terminal escapes."""
    if value is None:
        return Message("value.nothing")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return Message("value.mapping")
    if isinstance(value, list | tuple):
        return Message("value.list")
    if isinstance(value, int | float):
        return Message("value.number", number=str(value))
    text = mask(str(value))
    return repr(text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]}…")


Path = tuple[str | int, ...]  # the path of a value: ("feeds", 2, "url")
MAX_DEPTH = 40  # the deepest key of the format is at level 5
MAX_ALIASED = 10_000  # values reachable through aliases (*name): far more than any real file has, far fewer than a YAML bomb needs
MERGE = "<<"
TAG = "tag:yaml.org,2002:"
KNOWN_TAGS = frozenset({None, "!", *(TAG + name for name in ("str", "int", "float", "bool", "null", "map", "seq"))})

INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
"""Plain scalars with a special meaning in YAML 1.2 (core schema): ``yes``, ``no`` and ``on`` are texts."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake with its location, still without the file's name. Lines count from 1."""

    line: int
    path: Path
    message: Message
    hint: Message | None = None


class Unreadable(Exception):
    """Raised by :func:`read` when there is nothing to check: the bytes are not text, or the text is not YAML."""

    def __init__(self, line: int, message: Message, hint: Message | None = None) -> None:
        super().__init__(message)
        self.mistake = Mistake(line, (), message, hint)


@dataclass
class Tree:
    """Plain values (dict, list, str, int, float, bool, None) with their line numbers."""

    value: Any = None
    lines: dict[Path, int] = field(default_factory=dict)
    mistakes: list[Mistake] = field(default_factory=list)

    def line(self, path: Path) -> int:
        """Return the line of the value at ``path``; of a missing key, that of its parent."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


@dataclass
class Frame:
    """A list or mapping being read. ``key`` is the key whose value comes next.

    ``size`` and ``height`` count values and levels with aliases expanded. ``dropped``: the next value is discarded.
    """

    path: Path
    line: int
    value: Any
    anchor: str | None = None
    size: int = 1
    key: str | None = None
    dropped: bool = False
    complex_key: bool = False
    height: int = 0
    merged: list[tuple[Path, dict[str, Any]]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Anchor:
    """The value marked by ``&name``."""

    value: Any
    path: Path
    size: int = 1
    height: int = 0


class Builder:
    """Builds ``tree`` from events. Raises ``Unreadable`` for endless input."""

    def __init__(self) -> None:
        self.tree = Tree()
        self.stack: list[Frame] = []
        self.anchors: dict[str, Anchor | None] = {}
        self.aliased = 0
        self.documents = 0

    def build(self, stream: Iterable[events.Event]) -> Tree:
        for event in stream:
            if (take := TAKE.get(type(event))) is not None:
                take(self, event, event.start_mark.line + 1 if event.start_mark else 1)
        return self.tree

    def document(self, event: events.Event, line: int) -> None:
        self.documents += 1
        if self.documents > 1:
            raise Unreadable(line, Message("yaml.second-document"))

    def scalar(self, event: events.ScalarEvent, line: int) -> None:
        if self._awaits_key():
            self._key(str(event.value), line)
            return
        plain = event.implicit[0] or event.tag not in (None, "!", f"{TAG}str")
        self._check_tag(event.tag, line)
        value = scalar_value(event.value) if plain else event.value
        if event.anchor is not None:
            self.anchors[event.anchor] = Anchor(value, self._next_path())
        self._put(value, line)

    def begin(self, event: events.CollectionStartEvent, line: int) -> None:
        if self._awaits_key():
            self._report(line, self.stack[-1].path, Message("yaml.invalid-key"), Message("hint.bracket"))
            self.stack[-1].complex_key = True
        self._check_tag(event.tag, line)
        path = self._next_path()
        if len(path) > MAX_DEPTH:
            raise Unreadable(line, Message("yaml.too-deep"))
        self.tree.lines.setdefault(path, line)
        if event.anchor:
            self.anchors[event.anchor] = None
        self.stack.append(Frame(path, line, {} if isinstance(event, events.MappingStartEvent) else [], event.anchor))

    def end(self, event: events.Event, line: int) -> None:
        frame = self.stack.pop()
        for path, mapping in frame.merged:
            for key, value in mapping.items():
                if key not in frame.value:
                    frame.value[key] = value
                    self._copy_lines(value, (*path, key), (*frame.path, key))
        if frame.anchor is not None:
            self.anchors[frame.anchor] = Anchor(frame.value, frame.path, frame.size, frame.height)
        self._put(frame.value, frame.line, frame.size, frame.height)

    def alias(self, event: events.AliasEvent, line: int) -> None:
        if event.anchor not in self.anchors:
            raise Unreadable(line, Message("yaml.undefined-alias", name=event.anchor), Message("hint.alias"))
        anchor, path = self.anchors[event.anchor], self._next_path()
        self.aliased += anchor.size if anchor else 0
        if anchor is None or self.aliased > MAX_ALIASED or len(path) + anchor.height > MAX_DEPTH:
            raise Unreadable(line, Message("yaml.recursive-aliases"))
        if self._awaits_key():
            self._key(str(anchor.value), line)
            return
        self._put(anchor.value, line, anchor.size, anchor.height)
        self._copy_lines(anchor.value, anchor.path, path)

    def _awaits_key(self) -> bool:
        return bool(self.stack) and isinstance(self.stack[-1].value, dict) and self.stack[-1].key is None

    def _key(self, key: str, line: int) -> None:
        frame = self.stack[-1]
        path = (*frame.path, key)
        frame.key = key
        frame.dropped = key in frame.value
        if frame.dropped:
            self._report(line, path, Message("yaml.duplicate-key", key=describe_value(key), line=self.tree.lines[path]))
        self.tree.lines.setdefault(path, line)

    def _next_path(self) -> Path:
        if not self.stack:
            return ()
        frame = self.stack[-1]
        return (*frame.path, len(frame.value) if isinstance(frame.value, list) else frame.key or "")

    def _put(self, value: Any, line: int, size: int = 1, height: int = 0) -> None:
        self.tree.lines.setdefault(self._next_path(), line)
        if not self.stack:
            self.tree.value = value
            return
        frame = self.stack[-1]
        frame.size, frame.height = frame.size + size, max(frame.height, height + 1)
        if frame.complex_key:
            frame.complex_key, frame.key, frame.dropped = False, "", True
            return
        if isinstance(frame.value, list):
            frame.value.append(value)
            return
        if frame.key == MERGE:
            self._note_merge(frame, value, line)
        elif not frame.dropped and frame.key is not None:
            frame.value[frame.key] = value
        frame.key, frame.dropped = None, False

    def _note_merge(self, frame: Frame, value: Any, line: int) -> None:
        parts = value if isinstance(value, list) else [value]
        if not all(isinstance(part, dict) for part in parts):
            self._report(line, (*frame.path, MERGE), Message("yaml.invalid-merge"))
            return
        path: Path = (*frame.path, MERGE)
        frame.merged = [((*path, index) if isinstance(value, list) else path, part) for index, part in enumerate(parts)]

    def _copy_lines(self, value: Any, source: Path, target: Path) -> None:
        """Copy the lines of an alias's target. The recursion is limited like the size of aliases."""
        self.tree.lines[target] = self.tree.line(source)
        children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, child in children:
            self._copy_lines(child, (*source, key), (*target, key))

    def _check_tag(self, tag: str | None, line: int) -> None:
        if tag not in KNOWN_TAGS:
            self._report(line, self._next_path(), Message("yaml.unknown-tag", tag=describe_value(tag)))

    def _report(self, line: int, path: Path, message: Message, hint: Message | None = None) -> None:
        self.tree.mistakes.append(Mistake(line, path, message, hint))


TAKE: dict[type[events.Event], Any] = {
    events.DocumentStartEvent: Builder.document,
    events.ScalarEvent: Builder.scalar,
    events.AliasEvent: Builder.alias,
    events.MappingStartEvent: Builder.begin,
    events.SequenceStartEvent: Builder.begin,
    events.MappingEndEvent: Builder.end,
    events.SequenceEndEvent: Builder.end,
}


def scalar_value(text: str) -> Any:
    """Return the value of a plain scalar by YAML 1.2's core schema. Dates and times stay texts, since no key has that type."""
    if text in WORDS:
        return WORDS[text]
    if INTEGER.fullmatch(text):
        return int(text, 0 if text[:2] in ("0x", "0o") else 10) if len(text) < MAX_DIGITS else text
    return float(text) if FLOAT.fullmatch(text) else text


MAX_DIGITS = 400  # Python refuses integers of more than 4,300 digits; no value here has more than ten

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
MAX_BYTES = 32 * 1024 * 1024  # 100,000 sources take about 10 MB


def read(content: bytes) -> Tree:
    """Return the values in ``content``. Raises ``Unreadable``; other mistakes are in the tree."""
    text = decode(content)
    try:
        return Builder().build(yaml.parse(text, Loader=LOADER))
    except MarkedYAMLError as error:
        raise _syntax(error, text) from error
    except ReaderError as error:
        raise Unreadable(text.count("\n", 0, error.position) + 1, Message("yaml.control-character")) from error
    except (YAMLError, ValueError) as error:
        raise Unreadable(1, Message("yaml.invalid", why=str(error))) from error


def decode(content: bytes) -> str:
    """Decode UTF-8, with or without a byte order mark, or UTF-16 with one. Raises ``Unreadable``, with a guess at the actual format."""
    if len(content) > MAX_BYTES:
        raise Unreadable(1, Message("yaml.too-large", found=len(content), limit=MAX_BYTES))
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return content.decode("utf-16")
        except UnicodeDecodeError as error:
            raise Unreadable(1, Message("yaml.invalid-utf16")) from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise Unreadable(line, Message("yaml.not-utf8", byte=f"{content[error.start]:#04x}"), _looks_like(content)) from error


def _looks_like(content: bytes) -> Message | None:
    for encoding, name in (("gb18030", "GBK or GB18030"), ("big5", "Big5")):
        try:
            content.decode(encoding)
        except UnicodeDecodeError:
            continue
        return Message("hint.encoding", name=name, encoding=encoding)
    return None


def _syntax(error: MarkedYAMLError, text: str) -> Unreadable:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    lines = text.splitlines() or [""]
    source_line = lines[min(line, len(lines)) - 1]
    context = f" ({error.context} in line {error.context_mark.line + 1})" if error.context and error.context_mark else ""
    message = Message("yaml.syntax", column=column, why=f"{error.problem or 'no YAML'}{context}")
    return Unreadable(line, message, _advice(source_line, lines, line, str(error.problem)))


def _advice(source_line: str, lines: list[str], line: int, problem: str) -> Message | None:
    """Return the usual cause of a syntax error, guessed from the line."""
    before = lines[line - 2] if line > 1 else ""
    for text in (source_line, before):
        if re.match(r"^ *\t", text):
            return Message("hint.tab")
        if re.match(r"^\s*-?\s*[\w-]+：", text):
            return Message("hint.colon")
    if "alias" in problem:
        return Message("hint.alias")
    if re.search(r":\s+[^'\"#\[{]*:\s", source_line) or "mapping values" in problem:
        return Message("hint.value-quotes")
    if re.match(r"^\s*-?\s*[\w-]+:\s*[@`%&!|>]", source_line):
        return Message("hint.put-quotes")
    return Message("hint.indentation") if "expected key" in problem or "block" in problem else None
