"""PEAN: Post Extraction via Anchor Nodes (Ma 2016, thesis E, 3.3).

    RMD = (1/n Σ |x_i − x̄|) / |x̄|        (3-2)        x: the anchors of each child that has any
    MPR = max_j P_j / P_i                   (3-3)        P: anchors of node i and of its child j

Step into the child with most anchors (algorithm 3.2) until more than one child has some, RMD < α and MPR < β. That child is the first
post; its siblings with an anchor, ordered by how many of their nodes match its (algorithm 3.3), are posts until one matches less than
half as much as the one before it.

Author and text of a post are left open by the thesis: ``text`` is the block's, and nobody is named.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from newsportal.errors import NotApplicable
from newsportal.extractors.forum.matching import Marked, as_post, marked_page, tree_match
from newsportal.items import Post
from newsportal.text import dom

ALPHA: Final = 1.0
BETA: Final = 0.8  # not in the thesis; example 3.1 stops at RMD 0.29, MPR 0.14 and goes on at MPR 1
DROP: Final = 0.5  # algorithm 3.3: ``mappings[C] < lastNum / 2``


def extract(document: dom.Document, now: datetime, alpha: float = ALPHA, beta: float = BETA) -> tuple[Post, ...]:
    """The posts in page order. Raises ``NotApplicable`` (``no-anchors``: no time; ``no-records``: none beside another)."""
    page = marked_page(document)
    node = 0
    while children := [child for child in page.children[node] if page.pivots[child]]:  # algorithm 3.2, without its recursion
        most = max(children, key=lambda child: page.pivots[child])
        pivots = [page.pivots[child] for child in children]
        if len(pivots) > 1 and relative_mean_deviation(pivots) < alpha and max(pivots) / sum(pivots) < beta:
            return tuple(as_post(page, at, now) for at in sorted(_records(page, children, most)))
        node = most
    raise NotApplicable("no-records", "the post times stand in one place")


def relative_mean_deviation(sample: Sequence[int]) -> float:
    """RMD of a sample (3-2)."""
    mean = sum(sample) / len(sample)
    return sum(abs(value - mean) for value in sample) / len(sample) / mean


def _records(page: Marked, children: Sequence[int], base: int) -> list[int]:
    """Algorithm 3.3."""
    matches = sorted(((tree_match(page, child, base), -child) for child in children if child != base), reverse=True)
    found, last = [base], 0
    for size, child in matches:
        if size < last * DROP:
            break
        last = size
        found.append(-child)
    return found
