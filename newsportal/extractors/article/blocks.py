"""Split a page into text blocks and boxes: one walk over the tree, the input of everything that searches for the body.

A *block* is a visible line: the text between two elements that break lines. A *box* is such an element (``div``, ``p``, ``td`` …). Boxes
are in document order, so the descendants of a box are a range of blocks, and sums over subtrees are differences of cumulative sums.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

from newsportal.extractors.article.hints import ARTICLE_BODY, HIDDEN, TAG_MASK, meanings_of
from newsportal.text import clean, dom, visible_length
from newsportal.text.steps import Step, read_steps, steps_below

SKIPPED: Final = frozenset(
    "script style noscript template iframe object embed svg math select option button textarea input audio video canvas head".split()
)  # Elements without body text
LINE_BREAKS: Final = frozenset(("br", "hr"))
BOLD: Final = frozenset(("b", "strong"))
NAMED_INLINE: Final = frozenset(("span", "em", "i", "a", "font", "small", "cite", "time"))
COUNTED_INLINE: Final = BOLD | {"a"}
INLINE: Final = NAMED_INLINE | COUNTED_INLINE | {"img"}  # Inline elements handled by the walk; for ``COUNTED_INLINE`` also their end tags
BOX: Final = 1  # kinds of elements for the walk; all others are treated as text
LINE: Final = 2
OTHER: Final = 3
ELEMENT_KINDS: Final = (
    dict.fromkeys(dom.BREAKING_TAGS, BOX) | dict.fromkeys(LINE_BREAKS, LINE) | dict.fromkeys(INLINE, OTHER) | dict.fromkeys(SKIPPED, -1)
)
MAX_LINK_CHARS: Final = 400  # longer text in a link means a missing end tag: teasers of whole stories have up to 300
MAX_BLOCKS: Final = 6_000  # longer pages are cut: of 2,259 real pages the longest has 2,641
MAX_CHARS: Final = 500_000  # visible ones; more than ``pages.MAX_TEXT`` keeps, and five times the longest of those pages


@dataclass(slots=True)
class Block:
    """A line of the page. ``parts``: its text nodes as (element, whether it is the tail); lengths are visible characters."""

    box: int
    text: str
    length: int
    linked: int
    bold: int
    links: int
    mask: int
    parts: list[tuple[dom.Element, bool]]


@dataclass(slots=True)
class Blocks:
    """Result of the walk. Box 0 is the page's ``body``; ``start`` and ``end`` are the range of blocks below each box.

    ``mask`` holds the meanings of a box's class names, ``around`` also those of its ancestors (bits: :mod:`hints`); ``path`` is equal for
    boxes with the same tags and classes from the root down; ``pictures`` are (image, its box, number of the block that follows). Arrays,
    because numpy reads them ten times as fast as lists.
    """

    nodes: list[dom.Element]
    parent: array[int] = field(default_factory=lambda: array("q", [-1]))
    depth: array[int] = field(default_factory=lambda: array("q", [0]))
    mask: array[int] = field(default_factory=lambda: array("q", [0]))
    around: array[int] = field(default_factory=lambda: array("q", [0]))
    path: array[int] = field(default_factory=lambda: array("q", [0]))
    start: array[int] = field(default_factory=lambda: array("q", [0]))
    end: array[int] = field(default_factory=lambda: array("q", [0]))
    blocks: list[Block] = field(default_factory=list)
    pictures: list[tuple[dom.Element, int, int]] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        return [block.text for block in self.blocks]


def read_blocks(body: dom.Element, steps: Sequence[Step] | None = None) -> Blocks:
    """Read the blocks below ``body``; ``steps``: the page's walk, if already made. Linear in the page's size; not recursive."""
    walk = _Walk(body)
    walk.run(steps_below(steps or (), body) or steps_below(read_steps(dom.walk(body)), body))  # they omit a ``body`` in ``head``
    return walk.page


class _Walk:
    """``opened``: node, parent, depth, mask, mask around, path, start and end of each box; ``box``: the innermost open box; ``count``:
    blocks so far; ``left``: characters still to read. Of the current block: its pieces, and those of them that are linked or bold."""

    def __init__(self, body: dom.Element) -> None:
        self.page = Blocks([body])
        self.body = body
        self.opened: list[list[Any]] = [[body, -1, 0, 0, 0, 0, 0, -1]]
        self.box = self.count = 0
        self.left = MAX_CHARS
        self.paths: defaultdict[tuple[int, str, str | None], int] = defaultdict(count(1).__next__)
        self.links_open = self.bold_open = self.pre_open = 0
        self.link_starts: list[int] = []
        self.pieces: list[str] = []
        self.parts: list[tuple[dom.Element, bool]] = []
        self.linked: list[str] = []
        self.bold: list[str] = []
        self.links = self.mask = 0

    def run(self, steps: Sequence[Step]) -> None:
        """Process the steps. One lookup of the tag per step; the branches for rare nodes come after it."""
        hidden, kind_of = None, ELEMENT_KINDS.get
        for begins, node, tag, text in steps:
            if hidden is not None:
                if begins or node is not hidden:
                    continue
                hidden = None
            elif (kind := kind_of(tag)) is None:
                pass
            elif kind == OTHER:
                if begins:
                    self._enter(node, tag)
                elif tag in COUNTED_INLINE:
                    self._leave(tag)
            elif kind < 0:
                if begins:
                    hidden = node
                    continue
            else:
                if self.pieces:
                    self._flush()
                if kind == BOX:
                    if tag == "pre":
                        self.pre_open += 1 if begins else -1
                    if not begins and self.box:
                        closed = self.opened[self.box]
                        self.box, closed[-1] = closed[1], self.count
                    elif begins and node is not self.body:
                        self._open(node, tag)
                if not begins and (self.count >= MAX_BLOCKS or self.left <= 0):
                    break
            if text:
                if not text.isspace():
                    if self.pre_open and "\n" in text:
                        self._add_lines(node, text, not begins)
                        continue
                    self.pieces.append(text)
                    self.parts.append((node, not begins))
                    if self.links_open:
                        self.linked.append(text)
                    if self.bold_open:
                        self.bold.append(text)
                elif self.pieces:
                    if self.pre_open and "\n" in text:
                        self._flush()
                    else:
                        self.pieces.append(" ")
        self._finish()

    def _finish(self) -> None:
        if self.pieces:
            self._flush()
        page, self.opened[0][-1] = self.page, self.count
        columns = list(zip(*self.opened, strict=True))
        page.nodes = list(columns[0])
        page.parent, page.depth, page.mask, page.around, page.path, page.start, ends = (array("q", column) for column in columns[1:])
        page.end = array("q", [self.count if end < 0 else end for end in ends])

    def _enter(self, node: dom.Element, tag: str) -> None:
        if tag == "a":
            self.links_open += 1
            self.links += 1
            self.link_starts.append(self.count)
        elif tag in BOLD:
            self.bold_open += 1
        elif tag == "img":
            self.page.pictures.append((node, self.box, self.count))
        if tag in NAMED_INLINE and (name := node.get("class")):
            self.mask |= meanings_of(name)

    def _leave(self, tag: str) -> None:
        """Handle the end of a link or of bold type. Blocks inside a link that was never closed do not count as linked."""
        if tag != "a":
            self.bold_open -= 1
            return
        self.links_open -= 1
        first = self.link_starts.pop()
        if self.count - first > 1:
            inside = self.page.blocks[first:]
            if sum(block.length for block in inside) > MAX_LINK_CHARS:
                for block in inside:
                    block.linked = 0

    def _open(self, node: dom.Element, tag: str) -> None:
        name = ident = None
        mask = TAG_MASK.get(tag, 0)
        for key, value in node.items():
            if key == "class":
                name = value
            elif key == "id":
                ident = value
            elif (key == "hidden") or (key == "style" and "none" in value and "display:none" in value.replace(" ", "").lower()):
                mask |= HIDDEN
            elif key == "itemprop" and "articlebody" in value.lower():
                mask |= ARTICLE_BODY
        if name or ident:
            mask |= meanings_of(f"{name or ''} {ident or ''}")
        above = self.opened[self.box]
        path = self.paths[above[5], tag, name]
        self.opened.append([node, self.box, above[2] + 1, mask, above[4] | mask, path, self.count, -1])
        self.box = len(self.opened) - 1

    def _add_lines(self, node: dom.Element, text: str, tail: bool) -> None:
        """Add the text of a ``pre``, in which line feeds are line breaks."""
        for number, line in enumerate(text.split("\n")):
            if number and self.pieces:
                self._flush()
            if self.count >= MAX_BLOCKS or self.left <= 0:
                return
            if line and not line.isspace():
                self.pieces.append(line)
                self.parts.append((node, tail))

    def _flush(self) -> None:
        text = clean("".join(self.pieces))
        if len(text) > self.left:
            text = text[: self.left].rstrip()
        if text:
            length = len(text) - text.count(" ")
            self.left -= len(text)
            linked = self._share(self.linked, length) if self.linked else 0
            bold = self._share(self.bold, length) if self.bold else 0
            self.page.blocks.append(Block(self.box, text, length, linked, bold, self.links, self.mask, self.parts))
            self.count += 1
        self.pieces, self.parts, self.linked, self.bold, self.links, self.mask = [], [], [], [], 0, 0

    def _share(self, pieces: list[str], length: int) -> int:
        """Return the visible characters of some ``pieces`` of the block, usually all of them."""
        return length if pieces == self.pieces else min(visible_length("".join(pieces)), length)
