"""MiBAT: mining data records based on anchor trees (Song et al. 2010, as described in thesis E, 3.2).

    TreeSim_f(T1, T2) = |M ∩ (f(V1) × f(V2))| / ((|f(V1)| + |f(V2)|) / 2)       (3-1)
    f_PS(V) = {v ∈ V: parent(v) = parent(p)}                                    (definition 3.2: Pivot and Siblings)

M: a top-down matching; p: an anchor of the tree. Siblings are compared with one another; one similar to an anchor tree becomes one and
contributes its anchors, until none is added.

Our reading: two trees are compared by the pairs of their anchors below the same tags (else M does not contain the pair), and the most
similar pair counts; M on f is the longest common subsequence of the anchors' siblings, by tag, with the anchors matched to each other.
The result is the largest set of anchor trees on the page.
"""

from collections.abc import Sequence
from datetime import datetime
from itertools import product
from typing import Final

from newsportal.errors import NotApplicable
from newsportal.extractors.forum.pean import MarkedPage, as_post, marked_page
from newsportal.items import Post
from newsportal.text import dom

THRESHOLD: Final = 0.7  # minimum similarity of two trees; the thesis gives no value
MAX_ANCHORS: Final = 4  # anchors of one tree that are compared: a post that quotes ten others has many
MAX_SIBLINGS: Final = 12  # siblings compared on either side of an anchor
MAX_KINDS: Final = 24  # different anchor trees compared with a sibling
Pivot = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]  # tags down to an anchor, of its siblings before, and after


def extract(document: dom.Document, now: datetime, threshold: float = THRESHOLD) -> tuple[Post, ...]:
    """Return the posts in page order. Raises ``NotApplicable`` (``no-anchors``: no time; ``no-records``: no two similar trees)."""
    page = marked_page(document)
    best: list[int] = []
    for node, children in enumerate(page.children):
        dated = [child for child in children if page.pivots[child]] if page.pivots[node] > len(best) else []
        if len(dated) > max(1, len(best)):
            found = _anchor_trees(page, dated, threshold)
            best = found if len(found) > len(best) else best
    if len(best) < 2:
        raise NotApplicable("no-records", "no two trees with a post time are alike")
    return tuple(as_post(page, at, now) for at in best)


def _anchor_trees(page: MarkedPage, siblings: Sequence[int], threshold: float) -> list[int]:
    """Return the largest set of siblings connected by similarity."""
    pivots = {at: frozenset(_pivots(page, at)) for at in siblings}
    kinds = list(dict.fromkeys(pivots.values()))[:MAX_KINDS]
    alike = {kind: [other for other in kinds if _similarity(kind, other) >= threshold] for kind in kinds}
    left, best = list(kinds), frozenset[frozenset[Pivot]]()
    while left:
        reached, waiting = set(), [left[0]]
        while waiting:
            kind = waiting.pop()
            if kind not in reached:
                reached.add(kind)
                waiting.extend(alike[kind])
        left = [kind for kind in left if kind not in reached]
        if sum(kind in reached for kind in pivots.values()) > sum(kind in best for kind in pivots.values()):
            best = frozenset(reached)
    return [at for at in siblings if pivots[at] in best]


def _pivots(page: MarkedPage, top: int) -> list[Pivot]:
    found: list[Pivot] = []
    for at in page.within(top):
        if page.anchor[at]:
            tags, node = [], at
            while node != top:
                tags.append(str(page.nodes[node].tag))
                node = page.parent[node]
            siblings = page.children[page.parent[at]] if at != top else [at]
            place = siblings.index(at)
            before, after = siblings[max(0, place - MAX_SIBLINGS) : place], siblings[place + 1 : place + 1 + MAX_SIBLINGS]
            sibling_tags = tuple(str(page.nodes[child].tag) for child in before), tuple(str(page.nodes[child].tag) for child in after)
            found.append((tuple(tags), *sibling_tags))
            if len(found) >= MAX_ANCHORS:
                break
    return found


def _similarity(first: frozenset[Pivot], second: frozenset[Pivot]) -> float:
    """Return formula 3-1 for the pair of anchors that maximises it."""
    best = 1.0 if first == second else 0.0
    for pivot, other in product(first, second) if first != second else ():
        if pivot[0] == other[0]:
            matched = 1 + _lcs_length(pivot[1], other[1]) + _lcs_length(pivot[2], other[2])
            sizes = 2 + sum(map(len, (*pivot[1:], *other[1:])))
            best = max(best, matched / (sizes / 2))
    return best


def _lcs_length(first: Sequence[str], second: Sequence[str]) -> int:
    row = [0] * (len(second) + 1)
    for tag in first:
        before, row = row, [0]
        for place, other in enumerate(second):
            row.append(before[place] + 1 if tag == other else max(row[place], before[place + 1]))
    return row[-1]
