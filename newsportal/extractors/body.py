"""The body of an article without templates: which blocks of the page are its text.

Each block is asked for by itself (:mod:`newsportal.extractors.block_model`), with features that see its box, its neighbours and the
page. Then the answers are brought together: a page on which the model is shy of everything has its own measure, and a short line
between two lines of text is text too.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from newsportal import dom
from newsportal.extractors.block_features import features
from newsportal.extractors.block_model import block_model
from newsportal.extractors.blocks import Blocks, read_blocks

THRESHOLD: Final = 0.5

BEST_CHARS: Final = 300
SHY: Final = 0.5
LEAST: Final = 0.08
"""Where the likeliest ``BEST_CHARS`` characters of a page stay below 1, half (``SHY``) of what they reach is enough; below ``LEAST``
nothing is text."""

GAP_CHARS: Final = 30
GAP_LEAST: Final = 0.1
"""Lines between two lines of text: so many characters at most, none of them less likely than this."""


LOOSE_CHARS: Final = 40


@dataclass(frozen=True, slots=True)
class Body:
    """``kept``: for each block whether it is text of the article; ``likely``: how likely each is, from 0 to 1."""

    page: Blocks
    kept: NDArray[np.bool_]
    likely: NDArray[np.float32]

    @property
    def lines(self) -> list[str]:
        return [block.text for block, kept in zip(self.page.blocks, self.kept, strict=True) if kept]

    @property
    def confidence(self) -> float:
        """How sure the choice is, from 0 to 1: the mean over all characters near the decision of how far from even they stand.

        Characters that are certainly furniture do not count, so a long page is no surer than a short one.
        """
        length = np.array([block.length for block in self.page.blocks], dtype=np.float32)
        asked = self.kept | (self.likely > LEAST)
        weight = float(length[asked].sum())
        if not weight:
            return 0.0
        right = np.where(self.kept, self.likely, 1 - self.likely)
        return float((length * right)[asked].sum() / weight)


def find_body(top: dom.Element, heading: str | None = None, told: str | None = None) -> Body:
    """The body below ``top`` (the page's ``body``). ``heading``: the article's title; ``told``: how the page or a link describes it."""
    page = read_blocks(top)
    if not page.blocks:
        return Body(page, np.zeros(0, dtype=bool), np.zeros(0, dtype=np.float32))
    table = features(page, heading, told)
    model = block_model()
    likely = model.likely(table.of(model.columns))
    return Body(page, without_loose_links(choose(likely, table.length), page), likely)


def without_loose_links(kept: NDArray[np.bool_], page: Blocks) -> NDArray[np.bool_]:
    """``kept`` without the short lines at its ends that are nothing but a link."""
    numbers = [int(number) for number in np.flatnonzero(kept)]
    while len(numbers) > 1 and _is_loose(page, numbers[-1]):
        kept[numbers.pop()] = False
    while len(numbers) > 1 and _is_loose(page, numbers[0]):
        kept[numbers.pop(0)] = False
    return kept


def _is_loose(page: Blocks, number: int) -> bool:
    block = page.blocks[number]
    return block.linked == block.length <= LOOSE_CHARS


def choose(likely: NDArray[np.float32], length: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Which blocks are text, from how likely each is and how many characters it has."""
    kept = likely >= min(THRESHOLD, max(SHY * _reached(likely, length), LEAST))
    found = np.flatnonzero(kept)
    for first, last in pairwise(found):
        if last - first > 1 and length[first + 1 : last].sum() <= GAP_CHARS and likely[first + 1 : last].min() >= GAP_LEAST:
            kept[first + 1 : last] = True
    return kept


def _reached(likely: NDArray[np.float32], length: NDArray[np.float32]) -> float:
    """The mean probability of the likeliest ``BEST_CHARS`` characters."""
    order = np.argsort(-likely, kind="stable")
    enough = int(np.searchsorted(np.cumsum(length[order]), BEST_CHARS)) + 1
    best = order[:enough]
    return float((likely[best] * length[best]).sum() / max(length[best].sum(), 1))
