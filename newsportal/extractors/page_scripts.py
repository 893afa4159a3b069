"""Pagers that a page draws with a script: what the script is told (how many pages, which one, their name) is read, nothing is run.

Forms of the publishing systems of Chinese newspapers::

    createPageHTML(5, 0, "t20120117_123", "html")     pages t20120117_123.html, t20120117_123_1.html … _4.html
    var currentPage = 0; var countPage = 5; … "<a href=\\"t20120117_123" + "_" + nextPage + ".htm\\">"
    var _PAGE_COUNT = "5"; var _PAGE_INDEX = "0"; var _PAGE_NAME = "t123"; var _PAGE_FILE_EXT = "html"
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from newsportal import dom
from newsportal.extractors.page_marks import MAX_PAGE

SIGNS: Final = ("createPage", "countPage", "_PAGE_COUNT")
"""A script without any of these words draws no pager; many a script has a ``pageCount`` of other things."""

MAX_SCRIPT: Final = 60_000  # Characters. Longer scripts are libraries and data; those that draw pagers have below 10,000

CALL: Final = re.compile(r"\bcreatePage(?:HTML)?\s*\(([^()<>{};]{5,300})\)", re.IGNORECASE)
COUNT: Final = re.compile(r"\b(?:countPage|_PAGE_COUNT)\s*=\s*[\"']?(\d{1,3})\b", re.IGNORECASE)
CURRENT: Final = re.compile(r"\b(?:currentPage|_PAGE_INDEX|curr?Page)\s*=\s*[\"']?(\d{1,3})\b", re.IGNORECASE)
NAME: Final = re.compile(r"\b(?:_PAGE_NAME|page_?name|file_?name)\s*=\s*[\"']([\w./-]{1,100})[\"']", re.IGNORECASE)
EXTENSION: Final = re.compile(r"\b(?:_PAGE_FILE_EXT|(?:page|file)_?ext)\s*=\s*[\"']\.?(\w{2,5})[\"']", re.IGNORECASE)
GLUE: Final = re.compile(r"[\"'\s+\\]+")
HREF: Final = re.compile(r"href=([\w./:-]{1,200}?)_\(?[A-Za-z]\w*(?:[-+]1)?\)?\.(\w{2,5})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Drawn:
    """``count`` pages, of which this is number ``current`` (from 0); page n is ``NAME_n.EXTENSION``, the first ``NAME.EXTENSION``."""

    count: int
    current: int
    name: str
    extension: str

    def address(self, index: int) -> str:
        """The address of a page, relative to this one."""
        return f"{self.name}_{index}.{self.extension}" if index else f"{self.name}.{self.extension}"


def drawn(document: dom.Document) -> Iterator[Drawn]:
    """The pagers of more than one page that the scripts of a page draw."""
    for node in document.root.iter("script"):
        text = node.text
        if text and len(text) <= MAX_SCRIPT and any(sign in text for sign in SIGNS):
            found = [*(_called(match[1]) for match in CALL.finditer(text)), *_assigned(text)]
            yield from (pager for pager in found if pager is not None and 1 < pager.count <= MAX_PAGE)


def _called(arguments: str) -> Drawn | None:
    """The numbers and names of a call whose arguments are all literals; some variants name an element first."""
    written = [argument.strip() for argument in arguments.split(",")]
    numbers = [at for at, argument in enumerate(written) if argument.isdecimal()]
    if len(numbers) < 2 or numbers[1] != numbers[0] + 1 or len(written) < numbers[1] + 3:
        return None
    name, extension = (argument.strip("\"'") for argument in written[numbers[1] + 1 : numbers[1] + 3])
    if not re.fullmatch(r"[\w./-]{1,100}", name) or not extension.isalnum():
        return None
    return Drawn(int(written[numbers[0]][:4]), int(written[numbers[1]][:4]), name, extension)


def _assigned(text: str) -> Iterator[Drawn]:
    """A pager for each count that is assigned; what else the script says of pages is said of all, and looked for once."""
    counts = [int(count[1]) for count in COUNT.finditer(text)]
    if not counts:
        return
    current, name, extension = CURRENT.search(text), NAME.search(text), EXTENSION.search(text)
    index = int(current[1]) if current else 0
    written = None if name and extension else HREF.search(GLUE.sub("", text))
    named = (name[1], extension[1]) if name and extension else (written[1], written[2]) if written else None
    if named is not None:
        yield from (Drawn(count, index, *named) for count in dict.fromkeys(counts))
