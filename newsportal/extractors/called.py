"""Elements that a page calls by a name, looked for in its text first: most pages have none, and to ask each element is slow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from newsportal import dom
from newsportal.text import clean

MAX_TAG_CHARS: Final = 300
MAX_LOOKS: Final = 200
MAX_SHORT_CHARS: Final = 4000
MAX_SHORT_PIECES: Final = 600
"""A short text with all white space and elements that its markup may have."""


def is_called(html: str, words: Sequence[str], attributes: Sequence[str] = ("class", "id")) -> bool:
    """Whether one of ``words`` stands inside a tag (no ``meta``, ``link``) after one of ``attributes``. May say yes too often, never no."""
    for word in words:
        at, looks = html.find(word), 0
        while at >= 0:
            looks += 1
            if looks > MAX_LOOKS:
                return True
            start = html.rfind("<", max(0, at - MAX_TAG_CHARS), at)
            if start < 0:
                return True  # a tag too long to look at
            tag = html[start:at].lower()
            if ">" not in tag and not tag.startswith(("<meta", "<link")) and any(f"{attribute}=" in tag for attribute in attributes):
                return True
            at = html.find(word, at + 1)
    return False


def called(document: dom.Document, words: Sequence[str], attributes: Sequence[str] = ("class", "id")) -> Iterator[dom.Element]:
    """The elements that have one of ``words`` in an attribute, in document order."""
    if is_called(document.html, words, attributes):
        for node in document.root.iter():
            if any(word in value for value in node.values() for word in words):
                yield node


def short_text(node: dom.Element, most: int = MAX_SHORT_CHARS) -> str:
    """The visible text below ``node`` on one line; ``""`` if that is no short text. Looks at no more than it needs: elements may nest."""
    parts: list[str] = []
    size = 0
    for kind, text in dom.pieces(node):
        parts.append(text if kind == "text" else " ")
        size += len(text)
        if size > most or len(parts) > MAX_SHORT_PIECES:
            return ""
    return clean("".join(parts))
