"""From the bytes of ``sources.yaml`` to plain values, with the place of every key and value. Nothing here is believed.

YAML's nodes are read, not objects built: no tag can make Python do anything, aliases are counted, and a key that occurs twice is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from newsportal.sources.wording import shown

Path = tuple[str | int, ...]
"""The way to a value: ``("feeds", 2, "url")``."""

MAX_BYTES = 32 * 1024 * 1024  # 100,000 sources take about 10 MB
MAX_DEPTH = 40  # the deepest key of the format lies at 5
MAX_ALIASED = 10_000
"""Values that may be reached through aliases (``*name``): far more than a person repeats, far less than a bomb needs."""

TAG = "tag:yaml.org,2002:"
KNOWN_TAGS = frozenset(TAG + name for name in ("str", "int", "float", "bool", "null", "timestamp", "map", "seq", "merge"))


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake with its place, before the file's name is put to it. Lines count from 1."""

    line: int
    path: Path
    message: str
    hint: str | None = None


class Unreadable(Exception):
    """Raised by :func:`read` when there is nothing to check: the bytes are no text, or the text is no YAML."""

    def __init__(self, line: int, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.mistake = Mistake(line, (), message, hint)


@dataclass
class Tree:
    """Plain values (dict, list, str, int, float, bool, None), and where they stand."""

    value: Any = None
    lines: dict[Path, int] = field(default_factory=dict)
    mistakes: list[Mistake] = field(default_factory=list)

    def line(self, path: Path) -> int:
        """The line of the value at ``path``; where there is none (a missing key), of what it should stand in."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


def read(content: bytes) -> Tree:
    """The values in ``content``. Raises ``Unreadable``; mistakes that leave something to check are in the tree."""
    root = _compose(decode(content))
    tree = Tree()
    if root is not None:
        _Builder(tree).build(root)
    return tree


def decode(content: bytes) -> str:
    """UTF-8, with or without a byte order mark, or UTF-16 with one; raises ``Unreadable`` that says what anything else looks like."""
    if len(content) > MAX_BYTES:
        raise Unreadable(1, f"the file has {len(content)} bytes; allowed: up to {MAX_BYTES}")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return content.decode("utf-16")
        except UnicodeDecodeError as error:
            raise Unreadable(1, "the file begins like UTF-16, but is not; allowed: UTF-8") from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise Unreadable(line, f"byte {content[error.start]:#04x} is not UTF-8; allowed: UTF-8", _looks_like(content)) from error
    return text


def _looks_like(content: bytes) -> str | None:
    for encoding, name in (("gb18030", "GBK or GB18030"), ("big5", "Big5")):
        try:
            content.decode(encoding)
        except UnicodeDecodeError:
            continue
        return f"it looks like {name}: save it as UTF-8, or run: iconv -f {encoding} -t utf-8"
    return None


def _compose(text: str) -> Node | None:
    yaml = YAML(typ="safe", pure=True)
    yaml.allow_duplicate_keys = True  # told by us, with both places
    try:
        documents = list(yaml.compose_all(text))
    except MarkedYAMLError as error:
        raise _syntax(error, text) from error
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise Unreadable(line, f"a control character ({shown(chr(error.character))}) stands in the text") from error
    except (YAMLError, ValueError) as error:
        raise Unreadable(1, f"no YAML: {error}") from error
    except RecursionError as error:
        raise Unreadable(1, "values are nested too deeply") from error
    if len(documents) > 1:
        raise Unreadable(documents[1].start_mark.line + 1, "a second document begins here (---); allowed: one")
    return documents[0] if documents else None


def _syntax(error: MarkedYAMLError, text: str) -> Unreadable:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    lines = text.splitlines() or [""]
    written = lines[min(line, len(lines)) - 1]
    begun = f" ({error.context} in line {error.context_mark.line + 1})" if error.context and error.context_mark else ""
    return Unreadable(line, f"column {column}: {error.problem or 'no YAML'}{begun}", _advice(written, lines, line, str(error.problem)))


def _advice(written: str, lines: list[str], line: int, problem: str) -> str | None:
    """What usually lies behind a syntax error, guessed from the line."""
    before = lines[line - 2] if line > 1 else ""
    for text in (written, before):
        if re.match(r"^ *\t", text):
            return "a tab indents this line: indent with spaces"
        if re.match(r"^\s*-?\s*[\w-]+：", text):
            return "a full-width colon (：) stands here: write ': '"
    if "alias" in problem:
        return "a value that begins with * is an alias in YAML: put it in quotes"
    if re.search(r":\s+[^'\"#\[{]*:\s", written) or "mapping values" in problem:
        return "check the indentation, and put values that hold ': ' in quotes"
    if re.match(r"^\s*-?\s*[\w-]+:\s*[@`%&!|>]", written):
        return "put the value in quotes"
    return "check the indentation: keys of one mapping begin in the same column" if "block" in problem else None


class _Builder:
    """Walks the nodes once; values behind aliases are walked again, and counted."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.seen: set[int] = set()
        self.aliased = 0

    def build(self, root: Node) -> None:
        self.tree.value = self.value(root, ())

    def value(self, node: Node, path: Path, aliased: bool = False) -> Any:
        self.tree.lines.setdefault(path, node.start_mark.line + 1)
        aliased = aliased or id(node) in self.seen
        self.aliased += aliased
        if self.aliased > MAX_ALIASED or len(path) > MAX_DEPTH:
            raise Unreadable(node.start_mark.line + 1, "aliases (*name) or nested values go on without end")
        self.seen.add(id(node))
        if node.tag not in KNOWN_TAGS:
            self.tell(node, path, f"the tag {node.tag!r} is not known; allowed: plain values")
            return None
        if isinstance(node, MappingNode):
            return self.mapping(node, path, aliased)
        if isinstance(node, SequenceNode):
            return [self.value(item, (*path, index), aliased) for index, item in enumerate(node.value)]
        return scalar(node.tag, str(node.value))

    def mapping(self, node: MappingNode, path: Path, aliased: bool) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in self.pairs(node, path):
            if key in found:
                first = self.tree.lines[(*path, key)]
                self.tell(value, (*path, key), f"the key {shown(key)} stands here a second time; the first is in line {first}")
                continue
            found[key] = self.value(value, (*path, key), aliased)
        for merged in self.merged(node, path):
            found = {**self.value(merged, path, aliased=True), **found}
        return found

    def pairs(self, node: MappingNode, path: Path) -> Iterator[tuple[str, Node]]:
        for key, value in node.value:
            if key.tag == TAG + "merge":
                continue
            if not isinstance(key, ScalarNode):
                self.tell(key, path, "a key is a list or a mapping; allowed: a word", "text with { or [ at its start needs quotes")
                continue
            name = str(key.value)
            self.tree.lines.setdefault((*path, name), key.start_mark.line + 1)
            yield name, value

    def merged(self, node: MappingNode, path: Path) -> Iterator[MappingNode]:
        """The mappings behind ``<<``."""
        for key, value in node.value:
            if key.tag == TAG + "merge":
                for part in value.value if isinstance(value, SequenceNode) else [value]:
                    if isinstance(part, MappingNode):
                        yield part
                    else:
                        self.tell(part, (*path, "<<"), "<< takes a mapping")

    def tell(self, node: Node, path: Path, message: str, hint: str | None = None) -> None:
        self.tree.mistakes.append(Mistake(node.start_mark.line + 1, path, message, hint))


def scalar(tag: str | None, text: str) -> Any:
    """A plain value by its YAML 1.2 tag. Dates stay text, since nothing here is a date."""
    kind = (tag or "").removeprefix(TAG)
    if kind == "null":
        return None
    if kind == "bool":
        return text.lower() == "true"
    try:
        if kind == "int":
            return int(text.replace("_", ""), 0 if re.match(r"^[+-]?0[xo]", text) else 10)
        return float(text.replace("_", "").replace(".inf", "inf").replace(".nan", "nan")) if kind == "float" else text
    except ValueError:
        return text
