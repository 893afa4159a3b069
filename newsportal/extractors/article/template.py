"""Templates of sibling pages (Zhang, Kang, Wu 2009, section 1.3): two pages of one directory, the same tree, other texts.

    content nodes      what an author fills in: text, links, pictures, paragraphs, headings, lists; all that is not in ``LAYOUT``
    structureTagSeq    the tags of the page's tree without content nodes, depth first
    contentTagSeq      the tags from ``body`` down to the block where the texts of the two pages differ

The paper calls two siblings' trees equal once their content nodes are removed, and refers to Liu and Wu (2007) for the analysis of
blocks and to Wang and Lochovsky (2002, DSE) for the comparison. How they are read here:

- *Blocks*: a block with less than ``NOISE_CHARS`` characters outside links is noise (navigation, related links, an advertisement's place)
  and no part of the tree. Equal blocks in a row count as one. So two pages agree whatever the number of their paragraphs, of their
  links and of the rows of a list, and paragraphs that are ``div``s are one block, repeated.
- *DSE*: the trees are walked side by side; texts that both pages hold in the same block are the template's, the others are data. From
  ``body`` the walk steps into the block with most data while it has at least ``ALPHA`` of it; its end is the content, all its blocks
  that hold data belong to it, and the texts that are the template's do not.
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

# The elements that lay a page out.
LAYOUT: Final = frozenset("body div table tr td th form center section article main header footer aside nav".split())
NO_TEXT: Final = frozenset(("a", "select", "button", "option", "datalist"))  # what they say is navigation
NOISE_CHARS: Final = 40  # outside links; below it a block holds no paragraph. Measured: 20 costs 4 points of F1, 1 little
MAX_BLOCKS: Final = 3000
MAX_TEXTS: Final = 5000  # A page with more has no layout to learn from: ten times the largest of the development pages
_TAGS = re.compile(r"([a-z]+)|([( ])|(\)+ ?)")
SIZE_BITS: Final = 16
MAX_SIZE: Final = (1 << SIZE_BITS) - 1
ALPHA: Final = 0.5  # of the data; a byline or comments may stay outside. Measured: 0.65 costs 1.5 points of F1, 0.8 four
SHARED_CHARS: Final = 8  # shorter texts that both pages hold (「记者」, a comma between two links) may be the author's


@dataclass(frozen=True, slots=True)
class Layout:
    """What is kept of a page that waits for its sibling: its tree, and of each block's texts the marks (see :func:`mark_of`)."""

    tags: tuple[str, ...]  # structureTagSeq, depth first
    parents: tuple[int, ...]  # of each block its parent's place in ``tags``; -1 for the first
    texts: tuple[array[int], ...]  # of each block the marks of the text nodes outside links

    @property
    def structure(self) -> str:
        """The tree as text: ``body(div(div) table(tr(td)))``. Equal texts are equal trees."""
        return written(self.tags, self.parents)


def read_structure(text: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Tags and parents of what :func:`written` wrote. Raises ``ValueError`` for anything else."""
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
    if not tags or not LAYOUT.issuperset(tags) or len(tags) > MAX_BLOCKS or written(tags, parents) != text:
        raise ValueError("not a structure")
    return tuple(tags), tuple(parents)


def written(tags: Iterable[str], parents: Iterable[int]) -> str:
    """See :attr:`Layout.structure`."""
    parts: list[str] = []
    open_: list[int] = []
    for place, (tag, parent) in enumerate(zip(tags, parents, strict=True)):
        closed = 0
        while open_ and open_[-1] != parent:
            open_.pop()
            closed += 1
        parts.append(")" * (closed - 1) + " " if closed else "(" if open_ else "")
        parts.append(tag)
        open_.append(place)
    return "".join(parts) + ")" * (len(open_) - 1)


@dataclass(slots=True)
class Survey:
    """A page's blocks while it is read: the elements of each place, and the characters outside links of each element."""

    layout: Layout
    places: dict[dom.Element, int]


def survey(body: dom.Element) -> Survey | None:
    """Read the blocks of a page; ``None`` for a page with more than ``MAX_BLOCKS`` or ``MAX_TEXTS``."""
    nodes, sizes, texts = _measured(body)
    if len(texts) > MAX_TEXTS:
        return None
    kinds, children = _kinds(nodes, sizes, body)
    tags: list[str] = []
    parents: list[int] = []
    places: dict[dom.Element, int] = {}
    waiting: list[tuple[int, list[dom.Element]]] = [(-1, [body])]  # a parent's place, and the equal elements below it
    while waiting:
        parent, group = waiting.pop()
        if len(tags) >= MAX_BLOCKS:
            return None
        places.update(dict.fromkeys(group, len(tags)))
        tags.append(str(group[0].tag))
        parents.append(parent)
        runs = [_runs(children[node], kinds) for node in group]
        waiting.extend((places[group[0]], [node for run in column for node in run]) for column in reversed(list(zip(*runs, strict=True))))
    marks = tuple(array("Q") for _ in tags)  # of the texts of each block, without those of the blocks below it and of noise
    for node, text in texts:
        block: dom.Element | None = node
        while block is not None and block not in places:
            block = None if block.tag in LAYOUT else block.getparent()
        if block is not None and not text.isspace():
            marks[places[block]].append(mark_of(text))
    return Survey(Layout(tuple(tags), tuple(parents), marks), places)


def _measured(body: dom.Element) -> tuple[list[dom.Element], dict[dom.Element, int], list[tuple[dom.Element, str]]]:
    """All visible elements in document order, the characters outside links below each, and each text outside links with its element."""
    nodes, hidden, linked = list[dom.Element](), set[dom.Element](), set[dom.Element]()
    sizes: dict[dom.Element, int] = {}
    texts: list[tuple[dom.Element, str]] = []
    for node in body.iter():
        parent = node.getparent()
        inside = node is not body and parent is not None
        if inside and node.tail and parent not in hidden and parent not in linked:
            texts.append((parent, node.tail))
        if (inside and parent in hidden) or node.tag in dom.SKIPPED:
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


def _kinds(
    nodes: list[dom.Element], sizes: dict[dom.Element, int], body: dom.Element
) -> tuple[dict[dom.Element, int], dict[dom.Element, list[dom.Element]]]:
    """Of each block its kind (equal trees have equal kinds) and the blocks right below it. Children come after their parents."""
    known: dict[tuple[str, tuple[int, ...]], int] = {}
    kinds: dict[dom.Element, int] = {}
    below: dict[dom.Element, list[dom.Element]] = {node: [] for node in nodes}
    for node in reversed(nodes):
        below[node].reverse()
        if node is body or (node.tag in LAYOUT and sizes[node] >= NOISE_CHARS):
            runs = tuple(kinds[run[0]] for run in _runs(below[node], kinds))
            kinds[node] = known.setdefault((str(node.tag), runs), len(known))
            if node is not body:
                below[node.getparent()].append(node)
        else:
            below[node.getparent()].extend(reversed(below.pop(node)))
    return kinds, below


def _runs(nodes: Iterable[dom.Element], kinds: dict[dom.Element, int]) -> list[list[dom.Element]]:
    """Equal neighbours together."""
    return [list(run) for _, run in groupby(nodes, kinds.__getitem__)]


def mark_of(text: str) -> int:
    """A text in 64 bits, the same in every process, whatever its white space: 48 of its hash, 16 of its length (:func:`size_of`)."""
    squeezed = "".join(text.split())
    digest = blake2b(squeezed.encode("utf-8", "surrogatepass"), digest_size=6).digest()
    return int.from_bytes(digest, "big") << SIZE_BITS | min(len(squeezed), MAX_SIZE)


def size_of(mark: int) -> int:
    """The characters of a marked text that are not white space, as far as they were counted."""
    return mark & MAX_SIZE


@dataclass(frozen=True, slots=True)
class Template:
    """What two siblings taught: ``content`` are places in the structure, the first of them the block that holds the others."""

    structure: str
    path: tuple[str, ...]  # contentTagSeq
    content: tuple[int, ...]
    shared: frozenset[int] = frozenset()  # marks of texts that are the template's
    pages: int = 2

    def agrees(self, other: Template) -> bool:
        """Whether both say the same of a page."""
        return self.structure == other.structure and self.content[0] == other.content[0]

    def joined(self, other: Template) -> Template:
        """One template for the pages of both."""
        content = (self.content[0], *sorted({*self.content[1:], *other.content[1:]}))
        return Template(self.structure, self.path, content, self.shared & other.shared, self.pages + other.pages)


def compare(first: Layout, second: Layout) -> Template | None:
    """The template of two siblings; ``None`` if their trees differ, or their texts do not."""
    if (first.tags, first.parents) != (second.tags, second.parents):
        return None
    own: list[int] = []  # characters of data in each block
    shared: set[int] = set()
    for mine, theirs in zip(first.texts, second.texts, strict=True):
        both = set(mine).intersection(theirs)
        own.append(sum(size_of(mark) for mark in (*mine, *theirs) if mark not in both))
        shared |= {mark for mark in both if size_of(mark) >= SHARED_CHARS}
    below = list(own)
    for place in range(len(own) - 1, 0, -1):
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
    for place in range(content + 1, len(own)):
        if first.parents[place] in inside:
            inside.add(place)
    within = [place for place in sorted(inside) if own[place] and place != content]
    return Template(first.structure, path_to(content, first.tags, first.parents), (content, *within), frozenset(shared))


def path_to(place: int, all_tags: Sequence[str], parents: Sequence[int]) -> tuple[str, ...]:
    """The tags from ``body`` down to a place."""
    tags: list[str] = []
    while place >= 0:
        tags.append(all_tags[place])
        place = parents[place]
    return tuple(reversed(tags))


def content_of(template: Template, page: Survey) -> list[dom.Element]:
    """Copies of the elements that hold the content, without noise, without the template's own texts."""
    kept: set[int] = set()  # the content's places and those that hold them
    for place in template.content:
        while place >= 0 and place not in kept:
            kept.add(place)
            place = page.layout.parents[place]
    found = []
    for top in [node for node, place in page.places.items() if place == template.content[0]]:
        copy = dom.copy_of(top)
        # the copy's elements stand in the same order as the original's
        for original, node in list(zip(top.iter(), copy.iter(), strict=True)):
            if original is not top and original.tag in LAYOUT and page.places.get(original) not in kept:
                # empty an element where it stands
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
