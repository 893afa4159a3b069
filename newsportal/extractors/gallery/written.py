"""Slideshows whose data are written out as elements, mostly hidden: a record an element, the picture's address as text beside its words.

<dl><dt>老桥</dt><dd>https://i.example/1.jpg</dd><dd>桃花盛开。</dd></dl>   <dl>…
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from newsportal import dom
from newsportal.extractors.gallery.records import MAX_CAPTION_CHARS
from newsportal.extractors.gallery.variants import variant
from newsportal.extractors.images import PICTURE
from newsportal.text import clean, letters

MAX_ADDRESSES: Final = 2_000
MAX_PARTS: Final = 20
"""Elements of a record."""

LEAST_WORDS: Final = 4  # letters of words under a picture


def written(document: dom.Document) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Lists of records as :func:`newsportal.extractors.script_values.values` gives them, each with what the page calls it."""
    lists: dict[int, tuple[dom.Element, dict[int, dom.Element]]] = {}  # what is held keeps its id
    leaves = (node for node in document.root.iter() if isinstance(node.tag, str) and len(node) == 0 and _address(node))
    for leaf in islice(leaves, MAX_ADDRESSES):
        record = leaf.getparent()
        around = record.getparent() if record is not None else None
        if record is not None and around is not None and record.tag not in ("body", "html"):
            lists.setdefault(id(around), (around, {}))[1].setdefault(id(record), record)
    for around, records in lists.values():
        found = [_record(record) for record in records.values()]
        yield f"slides {around.get('id') or ''} {around.get('class') or ''}".strip(), found


def _address(node: dom.Element) -> str | None:
    text = (node.text or "")[:2_100].strip()
    return text if text.startswith(("http://", "https://", "//")) and PICTURE.match(text) else None


def _record(node: dom.Element) -> dict[str, Any]:
    """The largest copy (the first of several) and the longest text beside the addresses."""
    parts = list(islice(node, MAX_PARTS))
    urls = [url for part in parts if len(part) == 0 and (url := _address(part))]
    texts = [_text(part) for part in parts if not (len(part) == 0 and _address(part))]
    words = max((text for text in texts if _says(text) >= LEAST_WORDS), key=_says, default="")
    return {"img": max(urls, key=lambda url: variant(url).rank), "note": words}


def _text(part: dom.Element) -> str:
    """The beginning of an element's text; records may hold one another, so a whole one is never read."""
    return clean("".join(piece[:MAX_CAPTION_CHARS] for piece in islice(part.itertext(), MAX_PARTS)))[:MAX_CAPTION_CHARS]


def _says(text: str) -> int:
    """Letters of a text; a day says nothing of a picture."""
    return sum(not letter.isdecimal() for letter in letters(text))
