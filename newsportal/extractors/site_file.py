"""What is known of sites as JSON: written with a version, checked when it is read (anybody may have written the file).

A page is a row of numbers of eight bytes each, the least significant first, in base64: the hash of its title, the width of its text and
the hashes of its lines. A site takes about twenty kilobytes.
"""

from __future__ import annotations

import json
import sys
from array import array
from base64 import b64decode, b64encode
from typing import Any, Final

from newsportal.errors import LibraryError
from newsportal.extractors.site import MAX_LINES, MAX_PAGES, MAX_SITES, Known, SiteKnowledge, site_of

VERSION: Final = 1
FORMAT: Final = "newsportal-site-lines"


def write_knowledge(knowledge: SiteKnowledge) -> str:
    """All pages that are remembered, those of the site used last at the end."""
    pages = [{"url": url, "lines": b64encode(packed(known)).decode("ascii")} for url, known in knowledge.pages()]
    return json.dumps({"format": FORMAT, "version": VERSION, "pages": pages}, ensure_ascii=False, separators=(",", ":"))


def read_knowledge(text: str) -> SiteKnowledge:
    """The knowledge behind ``text``. Raises ``LibraryError`` that says what is wrong."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise LibraryError(f"not what is known of sites: {error}") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise LibraryError("not what is known of sites: it is some other JSON")
    if found.get("version") != VERSION:
        raise LibraryError(f"what is known of sites in version {found.get('version')!r}; this newsportal reads version {VERSION}")
    pages = found.get("pages")
    if not isinstance(pages, list) or len(pages) > MAX_SITES * MAX_PAGES:
        raise LibraryError("what is known of sites is broken: 'pages' is no list, or too long")
    knowledge = SiteKnowledge()
    for place, page in enumerate(pages):
        try:
            knowledge.remember(*_page(page))
        except (KeyError, TypeError, ValueError) as error:
            raise LibraryError(f"what is known of sites is broken: page {place + 1}: {error}") from error
    return knowledge


def _page(page: Any) -> tuple[str, Known]:
    url, written = page["url"], page["lines"]
    if not isinstance(url, str) or site_of(url) is None:
        raise ValueError("no address")
    return url, unpacked(b64decode(written, validate=True))


def packed(known: Known) -> bytes:
    """What is known of a page as bytes, the same on every machine."""
    return _swapped(array("Q", (known.title, known.text, *known.lines))).tobytes()


def unpacked(data: bytes) -> Known:
    """What :func:`packed` packed. Raises ``ValueError`` for anything else."""
    if len(data) % 8 or not 16 <= len(data) <= 8 * (MAX_LINES + 2):
        raise ValueError("title, text and lines are eight bytes each")
    numbers = array("Q")
    numbers.frombytes(data)
    title, text, *_ = numbers = _swapped(numbers)
    return Known(numbers[2:], title, text)


def _swapped(lines: array[int]) -> array[int]:
    """The same on every machine: from the machine's order of bytes to the file's, and back."""
    if sys.byteorder == "little":
        return lines
    other = array("Q", lines)
    other.byteswap()
    return other
