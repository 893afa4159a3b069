"""Templates of sibling pages (Zhang, Kang, Wu 2009, section 1.3): two pages of one directory, the same tree, other texts.

    content nodes      what an author fills in: text, links, pictures, paragraphs, headings, lists; all that is not in ``layout.LAYOUT``
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

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from newsportal import dom
from newsportal.extractors.layout import LAYOUT, Layout, Survey, mark_of, size_of

ALPHA: Final = 0.5  # of the data; a byline or comments may stay outside. Measured: 0.65 costs 1.5 points of F1, 0.8 four
SHARED_CHARS: Final = 8  # shorter texts that both pages hold (「记者」, a comma between two links) may be the author's


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
    content = _walk(below, first.parents)
    within = [place for place in _subtree(content, first.parents) if own[place] and place != content]
    return Template(first.structure, path_to(content, first.tags, first.parents), (content, *within), frozenset(shared))


def _walk(below: list[int], parents: tuple[int, ...]) -> int:
    largest: dict[int, int] = {}
    for place in range(1, len(below)):
        best = largest.get(parents[place])
        if best is None or below[place] > below[best]:
            largest[parents[place]] = place
    place = 0
    while place in largest and below[largest[place]] >= ALPHA * below[place]:
        place = largest[place]
    return place


def _subtree(top: int, parents: tuple[int, ...]) -> Iterator[int]:
    """``top`` and the places below it, depth first."""
    inside = {top}
    yield top
    for place in range(top + 1, len(parents)):
        if parents[place] in inside:
            inside.add(place)
            yield place


def path_to(place: int, all_tags: Sequence[str], parents: Sequence[int]) -> tuple[str, ...]:
    """The tags from ``body`` down to a place."""
    tags: list[str] = []
    while place >= 0:
        tags.append(all_tags[place])
        place = parents[place]
    return tuple(reversed(tags))


def content_of(template: Template, page: Survey) -> list[dom.Element]:
    """Copies of the elements that hold the content, without noise, without the template's own texts."""
    tops = [node for node, place in page.places.items() if place == template.content[0]]
    return [_cleaned(node, template, page) for node in tops]


def _cleaned(top: dom.Element, template: Template, page: Survey) -> dom.Element:
    """A copy of ``top``; its elements stand in the same order as the original's, so that the two can be walked together."""
    kept = _around(template.content, page.layout.parents)
    copy = dom.copy_of(top)
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
    return copy


def _around(content: Iterable[int], parents: tuple[int, ...]) -> set[int]:
    """The content's places and those that hold them."""
    kept: set[int] = set()
    for place in content:
        while place >= 0 and place not in kept:
            kept.add(place)
            place = parents[place]
    return kept


def _is_shared(text: str | None, template: Template) -> bool:
    return text is not None and mark_of(text) in template.shared
