"""A page as blocks of text in boxes: one walk over the tree, from which everything that looks for the body takes its figures.

A *block* is a line as a reader sees it: the text between two elements that break lines. A *box* is such an element (``div``, ``p``,
``td`` …). Boxes stand in document order, so what lies below a box is a range of blocks: sums over subtrees are differences of
cumulative sums.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import Final

from newsportal.extractors.article.hints import ARTICLE_BODY, HIDDEN, TAG_MASK, named
from newsportal.text import CONTROL, INVISIBLE, dom, visible_length

NEVER: Final = frozenset(
    "script style noscript template iframe object embed svg math select option button textarea input audio video canvas head".split()
)  # Elements that hold no body text
LINE_BREAKS: Final = frozenset(("br", "hr"))
BOLD: Final = frozenset(("b", "strong"))
NAMED_INLINE: Final = frozenset(("span", "em", "i", "a", "font", "small", "cite", "time"))
COUNTED: Final = BOLD | {"a"}
INLINE: Final = NAMED_INLINE | COUNTED | {"img"}  # Elements within a line of which the walk takes note; of ``COUNTED`` also where they end
LONGEST_LINK: Final = 400  # a link around more characters is one that somebody forgot to close: teasers of whole stories have up to 300
MAX_BLOCKS: Final = 20_000  # of longer pages the beginning is read: ten times the longest article page of the development set


@dataclass(slots=True)
class Block:
    """One line of the page. ``parts``: the nodes its text stands in, with whether it is their tail; lengths are visible characters."""

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
    """The walk's result. Box 0 is the page's ``body``; ``start`` and ``end`` are the range of blocks below each box.

    ``mask`` says what a box calls itself, ``around`` that and what the boxes around it do (bits: :mod:`hints`);
    ``path`` is equal for boxes with the same tags and classes from the top down; ``pictures`` are images and the number of the block
    that follows each. Arrays, because numpy reads them ten times as fast as lists.
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


def read_blocks(body: dom.Element) -> Blocks:
    """Walk the tree below ``body`` once. Linear in the page; never recursive."""
    walk = _Walk(body)
    walk.run()
    return walk.page


class _Walk:
    def __init__(self, body: dom.Element) -> None:
        self.page = Blocks([body])
        self.body = body
        self.box = 0
        self.paths: dict[tuple[int, str, str | None], int] = {}
        self.links_open = self.bold_open = self.pre_open = 0
        self.link_starts: list[int] = []
        self._clear()

    def _clear(self) -> None:
        self.pieces: list[str] = []
        self.parts: list[tuple[dom.Element, bool]] = []
        self.linked = self.bold = self.links = self.mask = 0

    def run(self) -> None:
        """One step a node: what most nodes do not need stands behind one look at the tag."""
        events = dom.walk(self.body)
        for event, node in events:
            tag = node.tag
            starts = event == "start"
            if starts:
                if tag in NEVER:
                    events.skip_subtree()  # its end event follows, and with it the tail
                    continue
                text = node.text
                if tag in dom.BREAKING:
                    if self.pieces:
                        self._flush()
                    if tag not in LINE_BREAKS and node is not self.body:
                        self._open(node, tag)
                    self.pre_open += tag == "pre"
                elif tag in INLINE:
                    self._enter(node, tag)
            else:
                text = node.tail if node is not self.body else None
                if tag in dom.BREAKING:
                    self._end_break(tag)
                    if len(self.page.blocks) >= MAX_BLOCKS:
                        break
                elif tag in COUNTED:
                    if tag == "a":
                        self.links_open -= 1
                        self._close_link(self.link_starts.pop())
                    else:
                        self.bold_open -= 1
            if text:
                if not text.isspace():
                    self._add(node, text, not starts)
                elif self.pre_open:
                    # white space in a ``pre``
                    if "\n" in text:
                        self._flush()
                    elif self.pieces:
                        self.pieces.append(" ")
                elif self.pieces:
                    self.pieces.append(" ")
        self._flush()
        count = len(self.page.blocks)
        self.page.end = array("q", [count if end < 0 else end for end in self.page.end])
        self.page.end[0] = count

    def _end_break(self, tag: str) -> None:
        if self.pieces:
            self._flush()
        if tag not in LINE_BREAKS and self.box:
            self.page.end[self.box] = len(self.page.blocks)
            self.box = self.page.parent[self.box]
        self.pre_open -= tag == "pre"

    def _enter(self, node: dom.Element, tag: str) -> None:
        if tag == "a":
            self.links_open += 1
            self.links += 1
            self.link_starts.append(len(self.page.blocks))
        elif tag in BOLD:
            self.bold_open += 1
        elif tag == "img":
            self.page.pictures.append((node, self.box, len(self.page.blocks)))
        if tag in NAMED_INLINE:
            name = node.get("class")
            if name:
                self.mask |= named(name)

    def _close_link(self, first: int) -> None:
        """What lies in a link that was never closed is no link text."""
        inside = self.page.blocks[first:]
        if len(inside) > 1 and sum(block.length for block in inside) > LONGEST_LINK:
            for block in inside:
                block.linked = 0

    def _open(self, node: dom.Element, tag: str) -> None:
        page, above = self.page, self.box
        name, ident = node.get("class"), node.get("id")
        mask = TAG_MASK.get(tag, 0)
        if name or ident:
            mask |= named(f"{name or ''} {ident or ''}")
        style = node.get("style")
        if node.get("hidden") is not None or (style and "none" in style and "display:none" in style.replace(" ", "").lower()):
            mask |= HIDDEN
        if "articlebody" in (node.get("itemprop") or "").lower():
            mask |= ARTICLE_BODY
        page.nodes.append(node)
        page.parent.append(above)
        page.depth.append(page.depth[above] + 1)
        page.mask.append(mask)
        page.around.append(page.around[above] | mask)
        page.path.append(self.paths.setdefault((page.path[above], tag, name), len(self.paths) + 1))
        page.start.append(len(page.blocks))
        page.end.append(-1)
        self.box = len(page.nodes) - 1

    def _add(self, node: dom.Element, text: str, tail: bool) -> None:
        if self.pre_open and "\n" in text:
            # text of a ``pre``, whose line feeds mean lines
            for number, line in enumerate(text.split("\n")):
                if number:
                    self._flush()
                if line and not line.isspace():
                    self.pieces.append(line)
                    self.parts.append((node, tail))
            return
        self.pieces.append(text)
        self.parts.append((node, tail))
        if self.links_open or self.bold_open:
            length = visible_length(text)
            self.linked += length if self.links_open else 0
            self.bold += length if self.bold_open else 0

    def _flush(self) -> None:
        if not self.pieces:
            return
        words = "".join(self.pieces).split()
        text = " ".join(words)
        if not text.isprintable():  # else it has none of these: much of a page has not
            words = CONTROL.sub(" ", INVISIBLE.sub("", text)).split()
            text = " ".join(words)
        if words:
            length = len(text) - len(words) + 1
            linked, bold = min(self.linked, length), min(self.bold, length)
            self.page.blocks.append(Block(self.box, text, length, linked, bold, self.links, self.mask, self.parts))
        self._clear()
