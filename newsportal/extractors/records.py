"""Boxes that repeat: comments, teasers and lists are records of one form, and each record holds several lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from newsportal.extractors.blocks import Blocks

RECORDS: Final = 3
SEVERAL: Final = 0.6
"""So many boxes of one form beside one another, of which this share holds more than one line, are records."""


@dataclass(frozen=True, slots=True)
class Records:
    """Of each box: the records it stands in (number, share of the page's characters, share that hold a date, share that hold a link,
    lines of this record), and how often it stands itself beside its like. Shape of each: (boxes,)."""

    rows: NDArray[np.float32]


NAMES: Final = ("records", "records_share", "records_dated", "records_linked", "record_lines", "alike", "alike_share", "alike_linked")


def find_records(
    page: Blocks, lines: NDArray[np.float64], share: NDArray[np.float64], dated: NDArray[np.float64], links: NDArray[np.float64]
) -> Records:
    """``lines``, ``share``, ``dated``, ``links``: of everything below each box, its lines, its share of the page's characters, lines
    with a date and lines with a link."""
    rows = np.zeros((len(NAMES), len(page.nodes)), dtype=np.float32)
    rows[5] = 1
    boxes = np.flatnonzero(lines[1:]) + 1
    forms = np.array(page.parent)[boxes] * (len(page.nodes) + 1) + np.array(page.path)[boxes]
    _, group = np.unique(forms, return_inverse=True)
    size = np.bincount(group)
    whole, linked = np.bincount(group, share[boxes]), np.bincount(group, links[boxes] > 0) / size
    alike = size[group] > 1
    rows[5:, boxes[alike]] = np.stack([size, whole, linked])[:, group[alike]]
    strong = (size >= RECORDS) & (np.bincount(group, lines[boxes] > 1) >= SEVERAL * size)
    if strong.any():
        held = strong[group]
        dated = np.bincount(group, dated[boxes] > 0) / size
        rows[:4, boxes[held]] = np.stack([size, whole, dated, linked])[:, group[held]]
        rows[4, boxes[held]] = lines[boxes[held]] + 1
        rows[:5] = rows[:5, _innermost(page, boxes[held])]
    rows[[0, 4, 5]] = np.log1p(rows[[0, 4, 5]])
    return Records(rows)


def _innermost(page: Blocks, wanted: NDArray[np.intp]) -> NDArray[np.intp]:
    """For each box the nearest of the ``wanted`` ones around it, itself included, or the page."""
    found = [0] * len(page.nodes)
    for box in wanted.tolist():
        found[box] = box
    for box in range(1, len(found)):
        found[box] = found[box] or found[page.parent[box]]
    return np.array(found)
