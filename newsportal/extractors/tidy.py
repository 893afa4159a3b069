"""The body as markup: a copy of the smallest part of the page that holds all of its text, without what is no text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from newsportal import dom
from newsportal.extractors.blocks import NEVER, Blocks
from newsportal.extractors.body import Body
from newsportal.extractors.hints import says_aside
from newsportal.extractors.paragraphs import copy_of, drop_box, with_paragraphs

CAPTION_CHARS: Final = 200  # a box without text of the article that holds a picture stays, with at most so many characters under it
LEAD_BLOCKS: Final = 3  # a picture stands at most so many lines before the text


def tidied(body: Body) -> dom.Element:
    """One ``div`` with a copy of the body; the page's tree is left as it is."""
    page = body.page
    whole = page.nodes[0].makeelement("div")
    top = _common(page, body)
    if top is None:
        return whole
    kept = _boxes_kept(page, body)
    _with_pictures(page, body, top, kept)
    original = page.nodes[top]
    copy = copy_of(original)
    pairs = dict(zip(original.iter(), copy.iter(), strict=True))
    for node, tail in _dropped_parts(page, body, top, kept):
        if tail:
            pairs[node].tail = None
        else:
            pairs[node].text = None
    for node in list(_dropped_nodes(page, top, kept)):
        drop_box(pairs[node])
    for node in [node for node in copy.iter() if node.tag in NEVER]:
        if node.getparent() is not None:
            node.drop_tree()
    with_paragraphs(copy)
    whole.append(copy)
    return whole


def _common(page: Blocks, body: Body) -> int | None:
    """The smallest box that holds every kept block."""
    numbers = body.kept.nonzero()[0]
    if not len(numbers):
        return None
    first, last = int(numbers[0]), int(numbers[-1])
    box = page.blocks[first].box
    while box > 0 and (page.nodes[box].tag == "tr" or not (page.start[box] <= first and last < page.end[box])):
        box = page.parent[box]
    return box


def _boxes_kept(page: Blocks, body: Body) -> set[int]:
    kept: set[int] = set()
    for block, wanted in zip(page.blocks, body.kept, strict=True):
        box = block.box if wanted else -1
        while box >= 0 and box not in kept:
            kept.add(box)
            box = page.parent[box]
    return kept


def _with_pictures(page: Blocks, body: Body, top: int, kept: set[int]) -> None:
    """Keep the boxes of pictures that stand in the text or shortly before it, captions included."""
    numbers = body.kept.nonzero()[0]
    first, last = int(numbers[0]) - LEAD_BLOCKS, int(numbers[-1]) + 1
    for _, box, number in page.pictures:
        chain = []
        while box > 0 and box != top and box not in kept:
            chain.append(box)
            box = page.parent[box]
        inside = box == top or (box in kept and page.start[top] <= number <= page.end[top])
        if chain and inside and first <= number <= last and all(_is_picture_box(page, one) for one in chain):
            kept.update(below for one in chain for below in _below(page, one))


def _below(page: Blocks, box: int) -> Iterator[int]:
    """``box`` and the boxes in it, which stand right behind it."""
    yield box
    for inner in range(box + 1, len(page.nodes)):
        if page.depth[inner] <= page.depth[box]:
            return
        yield inner


def _is_picture_box(page: Blocks, box: int) -> bool:
    if page.end[box] - page.start[box] > CAPTION_CHARS or says_aside(page.mask[box]):
        return False  # every block has a character
    blocks = page.blocks[page.start[box] : page.end[box]]
    return sum(block.length for block in blocks) <= CAPTION_CHARS and not any(block.linked > block.length / 2 for block in blocks)


def _dropped_parts(page: Blocks, body: Body, top: int, kept: set[int]) -> Iterator[tuple[dom.Element, bool]]:
    """The text nodes of dropped blocks that stand in kept boxes; a picture's own box keeps its caption, a ``pre`` all of its lines."""
    shared = {part for block, wanted in zip(page.blocks, body.kept, strict=True) if wanted for part in block.parts}
    so_far = np.concatenate([[0], np.cumsum(body.kept)])  # looking at a box's blocks for each of them takes quadratic time
    for number in range(page.start[top], page.end[top]):
        block = page.blocks[number]
        if not body.kept[number] and block.box in kept and so_far[page.end[block.box]] > so_far[page.start[block.box]]:
            yield from (part for part in block.parts if part not in shared)


def _dropped_nodes(page: Blocks, top: int, kept: set[int]) -> Iterator[dom.Element]:
    """The topmost boxes below ``top`` that are not kept."""
    for box in range(top + 1, len(page.nodes)):
        if page.start[box] >= page.end[top] and page.depth[box] <= page.depth[top]:
            break
        if box not in kept and page.parent[box] in kept:
            yield page.nodes[box]
