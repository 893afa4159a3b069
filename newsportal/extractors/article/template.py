"""Templates from sibling pages (Zhang, Kang, Wu 2009, section 1.3): two pages of one directory with the same tree and different texts.

    content nodes      what an author writes: text, links, images, paragraphs, headings, lists; all tags not in ``LAYOUT``
    structureTagSeq    the tags of the page's tree without content nodes, depth first
    contentTagSeq      the tags from ``body`` down to the block where the texts of the two pages differ

The paper compares the trees of two siblings after removing content nodes, and refers to Liu and Wu (2007) for the analysis of blocks and to
Wang and Lochovsky (2002, DSE) for the comparison. Implemented here as:

- *Blocks*: a block with less than ``NOISE_CHARS`` characters outside links is noise (navigation, related links, advertisements) and not
  part of the tree. Adjacent equal blocks count as one. So pages match whatever their numbers of paragraphs, links and list rows, and
  paragraphs written as ``div``s are one block, repeated.
- *DSE*: the trees are walked in parallel; texts that both pages have in the same block belong to the template, the others are data. From
  ``body`` the walk descends into the block with most data while it has at least ``ALPHA`` of it. The last block is the content, with all
  blocks in it that have data, without the template's texts.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import groupby
from typing import Final

from newsportal.text import dom, visible_length

# The elements used for page layout.
LAYOUT: Final = frozenset("body div table tr td th form center section article main header footer aside nav".split())
NO_TEXT: Final = frozenset(("a", "select", "button", "option", "datalist"))  # their text is navigation
NOISE_CHARS: Final = 40  # outside links; a block with less has no paragraph. Measured: 20 costs 4 points of F1, 1 little
MAX_BLOCKS: Final = 3000
MAX_TEXTS: Final = 5000  # A page with more has no layout to learn: ten times the largest of the development pages
_TAGS = re.compile(r"([a-z]+)|([( ])|(\)+ ?)")
SIZE_BITS: Final = 16
MAX_SIZE: Final = (1 << SIZE_BITS) - 1
ALPHA: Final = 0.5  # of the data; a byline or comments may be outside. Measured: 0.65 costs 1.5 points of F1, 0.8 four
SHARED_CHARS: Final = 8  # shorter shared texts (「记者」, a comma between two links) may be the author's


@dataclass(frozen=True, slots=True)
class Layout:
    """A page waiting for its sibling: its tree, and the marks of each block's texts (see :func:`mark_of`)."""

    tags: tuple[str, ...]  # structureTagSeq, depth first
    parents: tuple[int, ...]  # index of each block's parent in ``tags``; -1 for the root
    texts: tuple[array[int], ...]  # marks of each block's text nodes outside links

    @property
    def structure(self) -> str:
        """The tree as text: ``body(div(div) table(tr(td)))``. Equal texts mean equal trees."""
        return write_structure(self.tags, self.parents)


def read_structure(text: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Parse the output of :func:`write_structure` into tags and parents. Raises ``ValueError`` for anything else."""
    tags: list[str] = []
    parents: list[int] = []
    parent = -1
    for name, step, close in _TAGS.findall(text):
        if name:
            tags.append(name)
            parents.append(parent)
        elif step == "(":
            parent = len(tags) - 1
        else:
            for _ in range(close.count(")")):
                parent = parents[parent] if parent >= 0 else -1
    if not tags or not LAYOUT.issuperset(tags) or len(tags) > MAX_BLOCKS or write_structure(tags, parents) != text:
        raise ValueError("not a structure")
    return tuple(tags), tuple(parents)


def write_structure(tags: Iterable[str], parents: Iterable[int]) -> str:
    """See :attr:`Layout.structure`."""
    parts: list[str] = []
    open_: list[int] = []
    for place, (tag, parent) in enumerate(zip(tags, parents, strict=True)):
        closed = 0
        while open_ and open_[-1] != parent:
            open_.pop()
            closed += 1
        parts += (")" * (closed - 1) + " " if closed else "(" if open_ else "", tag)
        open_.append(place)
    return "".join(parts) + ")" * (len(open_) - 1)


@dataclass(slots=True)
class Survey:
    """The layout of a page under analysis, with the index in it of each element."""

    layout: Layout
    places: dict[dom.Element, int]


def survey(body: dom.Element) -> Survey | None:
    """Analyse the blocks of a page; ``None`` for a page with more than ``MAX_BLOCKS`` or ``MAX_TEXTS``."""
    nodes, sizes, texts = _measure(body)
    if len(texts) > MAX_TEXTS:
        return None
    kinds, children = _classify_blocks(nodes, sizes, body)
    tags: list[str] = []
    parents: list[int] = []
    places: dict[dom.Element, int] = {}
    waiting: list[tuple[int, list[dom.Element]]] = [(-1, [body])]  # index of the parent, and the equal elements below it
    while waiting:
        parent, group = waiting.pop()
        if len(tags) >= MAX_BLOCKS:
            return None
        places.update(dict.fromkeys(group, len(tags)))
        tags.append(str(group[0].tag))
        parents.append(parent)
        runs = [_group_runs(children[node], kinds) for node in group]
        waiting.extend((places[group[0]], [node for run in column for node in run]) for column in reversed(list(zip(*runs, strict=True))))
    marks = tuple(array("Q") for _ in tags)  # of each block's texts, without those of nested blocks and of noise
    for node, text in texts:
        block: dom.Element | None = node
        while block is not None and block not in places:
            block = None if block.tag in LAYOUT else block.getparent()
        if block is not None and not text.isspace():
            marks[places[block]].append(mark_of(text))
    return Survey(Layout(tuple(tags), tuple(parents), marks), places)


def _measure(body: dom.Element) -> tuple[list[dom.Element], dict[dom.Element, int], list[tuple[dom.Element, str]]]:
    """Return the visible elements in document order, the characters outside links below each, and texts outside links by element."""
    nodes, hidden, linked = list[dom.Element](), set[dom.Element](), set[dom.Element]()
    sizes: dict[dom.Element, int] = {}
    texts: list[tuple[dom.Element, str]] = []
    for node in body.iter():
        parent = node.getparent()
        inside = node is not body and parent is not None
        if inside and node.tail and parent not in hidden and parent not in linked:
            texts.append((parent, node.tail))
        if (inside and parent in hidden) or node.tag in dom.SKIPPED_TAGS:
            hidden.add(node)
            continue
        if (inside and parent in linked) or node.tag in NO_TEXT:
            linked.add(node)
        elif node.text:
            texts.append((node, node.text))
        nodes.append(node)
        sizes[node] = 0
    for node, text in texts:
        sizes[node] += visible_length(text)
    for node in reversed(nodes[1:]):
        sizes[node.getparent()] += sizes[node]
    return nodes, sizes, texts


def _classify_blocks(
    nodes: list[dom.Element], sizes: dict[dom.Element, int], body: dom.Element
) -> tuple[dict[dom.Element, int], dict[dom.Element, list[dom.Element]]]:
    """Return the kind of each block (equal trees have equal kinds) and its child blocks. Children come after their parents in ``nodes``."""
    kind_ids: dict[tuple[str, tuple[int, ...]], int] = {}
    kinds: dict[dom.Element, int] = {}
    below: dict[dom.Element, list[dom.Element]] = {node: [] for node in nodes}
    for node in reversed(nodes):
        below[node].reverse()
        if node is body or (node.tag in LAYOUT and sizes[node] >= NOISE_CHARS):
            runs = tuple(kinds[run[0]] for run in _group_runs(below[node], kinds))
            kinds[node] = kind_ids.setdefault((str(node.tag), runs), len(kind_ids))
            if node is not body:
                below[node.getparent()].append(node)
        else:
            below[node.getparent()].extend(reversed(below.pop(node)))
    return kinds, below


def _group_runs(nodes: Iterable[dom.Element], kinds: dict[dom.Element, int]) -> list[list[dom.Element]]:
    return [list(run) for _, run in groupby(nodes, kinds.__getitem__)]


def mark_of(text: str) -> int:
    """Return a text as 64 bits, the same in every process, ignoring white space: 48 of its hash, 16 of its length (:func:`size_of`)."""
    squeezed = "".join(text.split())
    digest = blake2b(squeezed.encode("utf-8", "surrogatepass"), digest_size=6).digest()
    return int.from_bytes(digest, "big") << SIZE_BITS | min(len(squeezed), MAX_SIZE)


def size_of(mark: int) -> int:
    """Return the number of non-space characters of a marked text, up to ``MAX_SIZE``."""
    return mark & MAX_SIZE


@dataclass(frozen=True, slots=True)
class Template:
    """A template learned from siblings. ``content``: indices in the structure, the first is the block that contains the others."""

    structure: str
    path: tuple[str, ...]  # contentTagSeq
    content: tuple[int, ...]
    shared: frozenset[int] = frozenset()  # marks of the template's own texts
    pages: int = 2

    def matches(self, other: Template) -> bool:
        """Return whether both have the same structure and content block."""
        return self.structure == other.structure and self.content[0] == other.content[0]

    def merge(self, other: Template) -> Template:
        """Merge two templates that agree."""
        content = (self.content[0], *sorted({*self.content[1:], *other.content[1:]}))
        return Template(self.structure, self.path, content, self.shared & other.shared, self.pages + other.pages)


def compare(first: Layout, second: Layout) -> Template | None:
    """Return the template of two siblings; ``None`` if their trees differ, or their texts do not."""
    if (first.tags, first.parents) != (second.tags, second.parents):
        return None
    data: list[int] = []  # characters of data in each block
    shared: set[int] = set()
    for mine, theirs in zip(first.texts, second.texts, strict=True):
        both = set(mine).intersection(theirs)
        data.append(sum(size_of(mark) for mark in (*mine, *theirs) if mark not in both))
        shared |= {mark for mark in both if size_of(mark) >= SHARED_CHARS}
    below = list(data)
    for place in range(len(data) - 1, 0, -1):
        below[first.parents[place]] += below[place]
    if not below or not below[0]:
        return None
    largest: dict[int, int] = {}
    for place in range(1, len(below)):
        best = largest.get(first.parents[place])
        if best is None or below[place] > below[best]:
            largest[first.parents[place]] = place
    content = 0
    while content in largest and below[largest[content]] >= ALPHA * below[content]:
        content = largest[content]
    inside = {content}
    for place in range(content + 1, len(data)):
        if first.parents[place] in inside:
            inside.add(place)
    within = [place for place in sorted(inside) if data[place] and place != content]
    return Template(first.structure, path_to(content, first.tags, first.parents), (content, *within), frozenset(shared))


def path_to(place: int, all_tags: Sequence[str], parents: Sequence[int]) -> tuple[str, ...]:
    """Return the tags from ``body`` down to a block."""
    tags: list[str] = []
    while place >= 0:
        tags.append(all_tags[place])
        place = parents[place]
    return tuple(reversed(tags))


def content_of(template: Template, page: Survey) -> list[dom.Element]:
    """Return copies of the elements that contain the content, without noise and the template's own texts."""
    content: set[int] = set()  # the content blocks and their ancestors
    for place in template.content:
        while place >= 0 and place not in content:
            content.add(place)
            place = page.layout.parents[place]
    found = []
    for top in [node for node, place in page.places.items() if place == template.content[0]]:
        copy = dom.copy_of(top)
        # the copy has its elements in the same order as the original
        for original, node in list(zip(top.iter(), copy.iter(), strict=True)):
            if original is not top and original.tag in LAYOUT and page.places.get(original) not in content:
                # empty the element but keep its tail
                tail = node.tail
                node.clear()
                node.tail = tail
                continue
            if _is_shared(original.text, template):
                node.text = None
            if original is not top and _is_shared(original.tail, template):
                node.tail = None
        copy.tail = None
        found.append(copy)
    return found


def _is_shared(text: str | None, template: Template) -> bool:
    return text is not None and mark_of(text) in template.shared
