"""From the bytes of ``sources.yaml`` to plain values, with the place of every key and value. Nothing here is believed.

YAML's events are read, not objects built, so that no tag can make Python do anything. libyaml reads them (through PyYAML, which falls
back to its own Python where it was built without): a file of 100,000 sources would take ruamel.yaml, which edits the file, half a minute.
"""

from __future__ import annotations

import re

import yaml
from yaml.error import MarkedYAMLError, YAMLError
from yaml.reader import ReaderError

from newsportal.messages import Message
from newsportal.sources.building import Builder, Mistake, Path, Tree, Unreadable

__all__ = ["Mistake", "Path", "Tree", "Unreadable", "decode", "read"]

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
MAX_BYTES = 32 * 1024 * 1024  # 100,000 sources take about 10 MB


def read(content: bytes) -> Tree:
    """The values in ``content``. Raises ``Unreadable``; mistakes that leave something to check are in the tree."""
    text = decode(content)
    try:
        return Builder().build(yaml.parse(text, Loader=LOADER))
    except MarkedYAMLError as error:
        raise _syntax(error, text) from error
    except ReaderError as error:
        raise Unreadable(text.count("\n", 0, error.position) + 1, Message("yaml.control")) from error
    except (YAMLError, ValueError) as error:
        raise Unreadable(1, Message("yaml.no-yaml", why=str(error))) from error


def decode(content: bytes) -> str:
    """UTF-8, with or without a byte order mark, or UTF-16 with one; raises ``Unreadable`` that says what anything else looks like."""
    if len(content) > MAX_BYTES:
        raise Unreadable(1, Message("yaml.large", found=len(content), limit=MAX_BYTES))
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return content.decode("utf-16")
        except UnicodeDecodeError as error:
            raise Unreadable(1, Message("yaml.utf16")) from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise Unreadable(line, Message("yaml.byte", byte=f"{content[error.start]:#04x}"), _looks_like(content)) from error


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
    written = lines[min(line, len(lines)) - 1]
    begun = f" ({error.context} in line {error.context_mark.line + 1})" if error.context and error.context_mark else ""
    message = Message("yaml.syntax", column=column, why=f"{error.problem or 'no YAML'}{begun}")
    return Unreadable(line, message, _advice(written, lines, line, str(error.problem)))


def _advice(written: str, lines: list[str], line: int, problem: str) -> Message | None:
    """What usually lies behind a syntax error, guessed from the line."""
    before = lines[line - 2] if line > 1 else ""
    for text in (written, before):
        if re.match(r"^ *\t", text):
            return Message("hint.tab")
        if re.match(r"^\s*-?\s*[\w-]+：", text):
            return Message("hint.colon")
    if "alias" in problem:
        return Message("hint.alias")
    if re.search(r":\s+[^'\"#\[{]*:\s", written) or "mapping values" in problem:
        return Message("hint.value-quotes")
    if re.match(r"^\s*-?\s*[\w-]+:\s*[@`%&!|>]", written):
        return Message("hint.put-quotes")
    return Message("hint.indentation") if "expected key" in problem or "block" in problem else None
