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
    groups: dict[tuple[int, int], list[int]] = {}
    for box in range(1, len(page.nodes)):
        if lines[box]:
            groups.setdefault((page.parent[box], page.path[box]), []).append(box)
    strong = set()
    for group in groups.values():
        if len(group) < 2:
            continue
        whole = share[group].sum()
        linked = np.count_nonzero(links[group]) / len(group)
        rows[5, group], rows[6, group], rows[7, group] = len(group), whole, linked
        if len(group) >= RECORDS and np.count_nonzero(lines[group] > 1) >= SEVERAL * len(group):
            rows[0, group], rows[1, group] = len(group), whole
            rows[2, group], rows[3, group] = np.count_nonzero(dated[group]) / len(group), linked
            rows[4, group] = lines[group] + 1
            strong.update(group)
    if strong:
        source = np.arange(len(page.nodes))
        for box in range(1, len(page.nodes)):
            if box not in strong:
                source[box] = source[page.parent[box]]
        rows[:5] = rows[:5, source]
    rows[[0, 4, 5]] = np.log1p(rows[[0, 4, 5]])
    return Records(rows)
