"""Elements that a page calls by a name, looked for in its text first: most pages have none, and to ask each element is slow."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Final

from newsportal import dom
from newsportal.text import clean

TAG: Final = re.compile(r"<([a-z][^\s/>]*)")
UNSEEN: Final = ("meta", "link")
MAX_TAG_CHARS: Final = 300
MAX_LOOKS: Final = 200
MAX_SHORT_CHARS: Final = 4000
MAX_SHORT_PIECES: Final = 600
"""A short text with all white space and elements that its markup may have."""


def tags_called(html: str, words: Sequence[str], attributes: Sequence[str] = ("class", "id")) -> frozenset[str] | None:
    """The tags (no ``meta``, ``link``) in which one of ``words`` stands after one of ``attributes``; ``None`` if they may be any.

    May say too many, never too few.
    """
    tags = set()
    for word in words:
        at, looks = html.find(word), 0
        while at >= 0:
            looks += 1
            start = html.rfind("<", max(0, at - MAX_TAG_CHARS), at)
            if looks > MAX_LOOKS or start < 0:
                return None  # too many, or in a tag too long to look at
            before = html[start:at].lower()
            tag = TAG.match(before)
            if tag and ">" not in before and tag[1] not in UNSEEN and any(f"{attribute}=" in before for attribute in attributes):
                tags.add(tag[1])
            at = html.find(word, at + 1)
    return frozenset(tags)


def called(document: dom.Document, words: Sequence[str], attributes: Sequence[str] = ("class", "id")) -> Iterator[dom.Element]:
    """The elements that have one of ``words`` in one of ``attributes``, in document order."""
    tags = tags_called(document.html, words, attributes)
    if tags is None or tags:
        said = re.compile("|".join(map(re.escape, words)))
        for node in document.root.iter(*(tags or ())):
            if any(said.search(node.get(attribute) or "") for attribute in attributes):
                yield node


def ancestors(node: dom.Element, most: int, stop: Collection[str] = ("body", "html")) -> Iterator[dom.Element]:
    """Yield at most ``most`` elements around ``node``, the innermost first, as far as the first of the tags ``stop``."""
    for above in islice(node.iterancestors(), most):
        if above.tag in stop:
            return
        yield above


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
