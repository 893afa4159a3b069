"""Find the densest box of a page: CEVC's walk (thesis E, 2.3) over boxes, made robust.

Differences from the thesis: a sentence mark also makes a text valid; boxes whose names mark them as asides do not count, unless they
contain most of the page or the heading; text in links weighs less, boxes around the heading weigh more; it never enters a paragraph.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from newsportal.extractors.article.blocks import Blocks
from newsportal.extractors.article.hints import ARTICLE_BODY, is_aside

ALPHA: Final = 0.5  # thesis E, 2.4.3
BODY_SHARE: Final = 0.5  # a box with more than this share of the page's valid characters is the body, whatever its name
MIN_REMAINING_SHARE: Final = 0.3
MIN_REMAINING_CHARS: Final = 150  # if less than this remains without asides (or beside the heading), their names are ignored
MIN_DECLARED_SHARE: Final = 0.2
HEADING_BONUS: Final = 2.0
PARAGRAPH_TAGS: Final = frozenset("p li h1 h2 h3 blockquote".split())
Floats = NDArray[np.float64]
FEATURES: Final = ("records", "records_share", "records_dated", "records_linked", "record_lines", "alike", "alike_share", "alike_linked")


@dataclass(frozen=True, slots=True)
class Core:
    """``box``: the densest box; ``levels_above``: for each block, levels from ``box`` up to their lowest common ancestor; ``counted``:
    blocks outside asides; ``share``: the box's share of the page's valid characters; ``linked``: share of link text in it."""

    box: int
    levels_above: NDArray[np.float32]
    counted: NDArray[np.bool_]
    share: float
    linked: float


def sum_below(page: Blocks, rows: Floats) -> Floats:
    """Sum ``rows`` over the blocks below every box: from (k, blocks) to (k, boxes)."""
    sums = np.zeros((rows.shape[0], rows.shape[1] + 1))
    np.cumsum(rows, axis=1, out=sums[:, 1:])
    return sums[:, np.array(page.end)] - sums[:, np.array(page.start)]


def levels_from(page: Blocks, box: int) -> NDArray[np.float32]:
    """Return for each block how many levels above ``box`` its lowest common ancestor with ``box`` is."""
    chain = boxes_around(page, box)
    climb = np.zeros(len(page.blocks), dtype=np.float32)
    for level in range(len(chain) - 1, -1, -1):
        climb[page.start[chain[level]] : page.end[chain[level]]] = level
    return climb


def find_core(page: Blocks, valid: Floats, text: Floats, linked: Floats, heading: int | None) -> Core:
    """Return the core. ``valid``, ``text``, ``linked``: characters of each block; ``heading``: the block that is the article's title."""
    around = boxes_around(page, page.blocks[heading].box) if heading is not None else []
    # exclude blocks in asides, unless too little remains
    sums = np.concatenate([[0.0], np.cumsum(valid)])
    start, end = np.array(page.start), np.array(page.end)
    aside = is_aside(np.array(page.mask)) & (sums[end] - sums[start] < BODY_SHARE * sums[-1])
    aside[around] = False
    size = len(sums)
    open_asides = np.cumsum(np.bincount(start[aside], minlength=size) - np.bincount(end[aside], minlength=size))
    counted: NDArray[np.bool_] = open_asides[:-1] == 0
    left = valid[counted].sum()
    if left < MIN_REMAINING_SHARE * sums[-1] and not (around and left >= MIN_REMAINING_CHARS):
        counted[:] = True
    valid_chars, chars, links = sum_below(page, np.stack([np.where(counted, valid, 0), text, linked]))
    weight = valid_chars * (1 - links / np.maximum(chars, 1))
    weight[around] *= HEADING_BONUS
    own_chars = np.bincount([block.box for block in page.blocks], np.where(counted, valid, 0), len(weight))
    marked = np.flatnonzero((np.array(page.mask) & ARTICLE_BODY != 0) & (valid_chars > MIN_DECLARED_SHARE * valid_chars[0]))
    box = _step_into(page, int(marked[-1]) if len(marked) else 0, weight, own_chars)
    return Core(box, levels_from(page, box), counted, valid_chars[box] / max(valid_chars[0], 1), links[box] / max(chars[box], 1))


def boxes_around(page: Blocks, box: int) -> list[int]:
    found = []
    while box >= 0:
        found.append(box)
        box = page.parent[box]
    return found


def _step_into(page: Blocks, box: int, weight: Floats, own_chars: NDArray[Any]) -> int:
    """Descend to the densest box: thesis E, algorithm 2.2, but stop above a single paragraph."""
    parent = np.array(page.parent)
    while True:
        inside = np.flatnonzero(parent == box)
        if not len(inside):
            return max(page.parent[box], 0)
        largest = int(inside[np.argmax(weight[inside])])
        most = weight[largest]
        if most <= 0 or most < ALPHA * (sum(weight[inside].tolist()) + own_chars[box]) or page.nodes[largest].tag in PARAGRAPH_TAGS:
            return box
        box = largest


# Repeated boxes: comments, teasers and lists are records with the same path, and each record holds several lines.

MIN_RECORDS: Final = 3
MIN_RECORD_SHARE: Final = 0.6  # Siblings with one path are records if there are this many and this share of them holds more than one line


def find_records(
    page: Blocks, lines: NDArray[np.float64], share: NDArray[np.float64], dated: NDArray[np.float64], links: NDArray[np.float64]
) -> NDArray[np.float32]:
    """Return features of records for each box; shape: (len(FEATURES), boxes). Of the records around it: number, share of the page's
    characters, share with a date, share with a link, lines of this record; then number, share and links of its siblings with its path.

    ``lines``, ``share``, ``dated``, ``links``: sums below each box: lines, share of the page's characters, dated lines, lines with a link.
    """
    rows = np.zeros((len(FEATURES), len(page.nodes)), dtype=np.float32)
    rows[5] = 1
    boxes = np.flatnonzero(lines[1:]) + 1
    forms = np.array(page.parent)[boxes] * (len(page.nodes) + 1) + np.array(page.path)[boxes]
    _, group = np.unique(forms, return_inverse=True)
    size = np.bincount(group)
    shares, linked = np.bincount(group, share[boxes]), np.bincount(group, links[boxes] > 0) / size
    alike = size[group] > 1
    rows[5:, boxes[alike]] = np.stack([size, shares, linked])[:, group[alike]]
    strong = (size >= MIN_RECORDS) & (np.bincount(group, lines[boxes] > 1) >= MIN_RECORD_SHARE * size)
    if strong.any():
        is_record = strong[group]
        dated = np.bincount(group, dated[boxes] > 0) / size
        rows[:4, boxes[is_record]] = np.stack([size, shares, dated, linked])[:, group[is_record]]
        rows[4, boxes[is_record]] = lines[boxes[is_record]] + 1
        record_of = [0] * len(page.nodes)
        for box in boxes[is_record].tolist():
            record_of[box] = box
        for box in range(1, len(record_of)):
            record_of[box] = record_of[box] or record_of[page.parent[box]]
        rows[:5] = rows[:5, np.array(record_of)]
    rows[[0, 4, 5]] = np.log1p(rows[[0, 4, 5]])
    return rows
