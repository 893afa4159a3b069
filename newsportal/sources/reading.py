"""From the bytes of ``sources.yaml`` to plain values, with the place of every key and value. Nothing here is believed.

YAML's events are read, not objects built, so that no tag can make Python do anything. libyaml reads them (through PyYAML, which falls
back to its own Python where it was built without): a file of 100,000 sources would take ruamel.yaml, which edits the file, half a minute.
"""

from __future__ import annotations

import re

import yaml
from yaml.error import MarkedYAMLError, YAMLError
from yaml.reader import ReaderError

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
        line = text.count("\n", 0, error.position) + 1
        raise Unreadable(line, "a control character stands in the text: delete it") from error
    except (YAMLError, ValueError) as error:
        raise Unreadable(1, f"no YAML: {error}") from error


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
    return (
        "check the indentation: keys of one mapping begin in the same column" if "expected key" in problem or "block" in problem else None
    )
