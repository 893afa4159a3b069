"""PEAN: Post Extraction via Anchor Nodes (Ma 2016, thesis E, 3.3).

    RMD = (1/n Σ |x_i − x̄|) / |x̄|        (3-2)        x: the anchors of each child that has any
    MPR = max_j P_j / P_i                   (3-3)        P: anchors of node i and of its child j

Step into the child with most anchors (algorithm 3.2) until several children have some, RMD < α and MPR < β. That child is the first
post; its siblings with an anchor, ordered by how many of their nodes match its (algorithm 3.3), are posts until one matches less than
half as much as the one before it.

The thesis does not define a post's author and text: ``text`` is the block's, and ``author`` is ``None``.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Final

from newsportal.errors import NotApplicable
from newsportal.extractors.fields.date import default_zone
from newsportal.extractors.forum.anchors import ABSOLUTE, contains_date
from newsportal.extractors.forum.times import parse_time
from newsportal.extractors.forum.tree import steps_of
from newsportal.items import Post
from newsportal.text import dom

# Top-down tree matching (thesis E, 3.3.1, definition 3.4 and algorithm 3.1), and the anchors that PEAN and MiBAT share (3.3.2).
#
#     W(i, j) = treeMatch(A_i, B_j)
#     M(i, j) = max(M(i, j-1), M(i-1, j), M(i-1, j-1) + W(i, j))          treeMatch(A, B) = M(m, n) + 1, or 0 if the labels differ
#
# A, B: trees with the first-level subtrees A_1 … A_m and B_1 … B_n; the label is the tag. Equal subtrees share a shape here, and the match
# of two shapes is computed once per page. Beyond ``MAX_CHILDREN`` children or ``MAX_DEPTH`` levels a tree is cut: the thesis compares
# posts, whose trees are small, and O(n²) is too slow for others. ``MAX_COMPARED`` bounds the work per page.

# Figure 3-4 is missing in the scan; derived from the three examples below it: 2014-06-12 10:10:20, 2014/06/12 10:10, 2014/6/12 10:10:20.
POST_TIME: Final = re.compile(r"(?<!\d)\d{4}[-/]\d{1,2}[-/]\d{1,2}\s{1,3}\d{1,2}:\d{1,2}(?::\d{1,2})?(?!\d)")
MIN_ANCHORS: Final = 2  # times in the thesis's forms; a page with fewer is not a Chinese forum's, and any written date is an anchor
MAX_TEXT_CHARS: Final = 2_000  # characters of a longer text that are searched: a post time is in a short line
REMOVED_TAGS: Final = frozenset(("script", "style"))  # 3.3.2: removed beforehand, as comments are
MAX_CHILDREN: Final = 60
MAX_DEPTH: Final = 30
MAX_NODES: Final = 60_000
MAX_COMPARED: Final = 1_000_000  # pairs of subtrees of a page, about a second's work; real threads need below 34,000
Shape = tuple[str, tuple[int, ...]]


@dataclass
class MarkedPage:
    """A page's nodes in document order. ``pivots``: anchors in the subtree; ``shape``: the same for equal ones; ``size``: its nodes."""

    nodes: list[dom.Element] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    children: list[list[int]] = field(default_factory=list)
    anchor: list[bool] = field(default_factory=list)
    pivots: list[int] = field(default_factory=list)
    shape: list[int] = field(default_factory=list)
    shapes: list[Shape] = field(default_factory=list)
    size: list[int] = field(default_factory=list)
    matched: dict[tuple[int, int], int] = field(default_factory=dict)
    compared: int = 0

    @cached_property
    def _steps(self) -> list[str]:
        steps = [""] * len(self.nodes)
        for children in self.children:
            for child, step in zip(children, steps_of([str(self.nodes[child].tag) for child in children]), strict=True):
                steps[child] = step
        return steps

    def xpath(self, at: int) -> str:
        steps = []
        while at > 0:
            steps.append(self._steps[at])
            at = self.parent[at]
        return dom.path_of(self.nodes[0]) + "".join(reversed(steps))

    def within(self, top: int) -> Iterator[int]:
        """Yield the nodes of a subtree in document order. Not recursive."""
        waiting = [top]
        while waiting:
            at = waiting.pop()
            yield at
            waiting.extend(reversed(self.children[at]))


def marked_page(document: dom.Document) -> MarkedPage:
    """Mark the nodes of a page. Raises ``NotApplicable`` (``no-anchors``) if none contains a time."""
    body = document.root.find("body")
    page = mark(body if body is not None else document.root)
    if not page.nodes or not page.pivots[0]:
        raise NotApplicable("no-anchors", "no node has a post time")
    return page


def mark(body: dom.Element) -> MarkedPage:
    """Number the nodes, and count anchors: nodes whose text contains a post time while no node below has one (definition 3.5)."""
    page = MarkedPage()
    current = -1
    events = dom.walk(body)
    for event, element in events:
        if event == "start":
            if element.tag in REMOVED_TAGS or len(page.nodes) >= MAX_NODES:
                events.skip_subtree()
                continue
            page.nodes.append(element)
            page.parent.append(current)
            page.children.append([])
            if current >= 0:
                page.children[current].append(len(page.nodes) - 1)
            current = len(page.nodes) - 1
        elif current >= 0 and page.nodes[current] is element:
            current = page.parent[current]
    _count_anchors(page, POST_TIME.search)
    if page.nodes and page.pivots[0] < MIN_ANCHORS:
        _count_anchors(page, contains_date)
    shape_ids: dict[Shape, int] = {}
    count = len(page.nodes)
    page.shape, page.size, height = [0] * count, [1] * count, [1] * count
    for at in reversed(range(count)):
        children = page.children[at][:MAX_CHILDREN]
        height[at] = 1 + max((height[child] for child in children), default=0)
        inner = tuple(page.shape[child] for child in children) if height[at] <= MAX_DEPTH else ()
        shape = (str(page.nodes[at].tag), inner)
        page.shape[at] = shape_ids.setdefault(shape, len(shape_ids))
        if page.shape[at] == len(page.shapes):
            page.shapes.append(shape)
        page.size[at] = 1 + sum(page.size[child] for child in page.children[at])
    return page


def _count_anchors(page: MarkedPage, is_dated: Callable[[str], object]) -> None:
    """Mark as anchors the nodes whose text has a date while none of their descendants' does, and count them per subtree."""
    dated = []
    for at, node in enumerate(page.nodes):
        texts = (node.text, *(page.nodes[child].tail for child in page.children[at]))
        dated.append(any(text and not text.isspace() and is_dated(text[:MAX_TEXT_CHARS]) for text in texts))
    page.pivots = [0] * len(page.nodes)
    page.anchor = [False] * len(page.nodes)
    for at in reversed(range(len(page.nodes))):
        below = sum(page.pivots[child] for child in page.children[at])
        page.anchor[at] = dated[at] and not below
        page.pivots[at] = below + page.anchor[at]


def tree_match(page: MarkedPage, first: int, second: int) -> int:
    """Return the number of maximal matched nodes of two subtrees (algorithm 3.1)."""
    return _match(page, page.shape[first], page.shape[second])


def _match(page: MarkedPage, first: int, second: int) -> int:
    """Return the match of two shapes, recursively to at most ``MAX_DEPTH`` levels."""
    key = (first, second) if first <= second else (second, first)
    found = page.matched.get(key)
    if found is not None:
        return found
    (tag, inner), (other_tag, other_inner) = page.shapes[key[0]], page.shapes[key[1]]
    best = 0
    if tag == other_tag:
        row = [0] * (len(other_inner) + 1)
        page.compared += len(inner) * len(other_inner)
        for shape in inner if page.compared <= MAX_COMPARED else ():
            before, row = row, [0]
            for place, other in enumerate(other_inner):
                row.append(max(row[place], before[place + 1], before[place] + _match(page, shape, other)))
        best = row[-1] + 1
    page.matched[key] = best
    return best


# Conversion of a block found by PEAN or MiBAT to a post: all its text, and the first time in it.


def as_post(page: MarkedPage, at: int, now: datetime) -> Post:
    """Return the block of node ``at`` as a post. The thesis does not define a post's text and author."""
    text = "\n".join(dom.lines_of(page.nodes[at]))
    match = POST_TIME.search(text) or ABSOLUTE.search(text)
    date_text = match[0] if match else None
    return Post(
        author=None,
        published=parse_time(date_text, now, default_zone(text)) if date_text else None,
        text=text,
        date_text=date_text,
        block_text=text,
        xpath=page.xpath(at),
        full_text=text,
    )


ALPHA: Final = 1.0
BETA: Final = 0.8  # not in the thesis; example 3.1 stops at RMD 0.29, MPR 0.14 and continues at MPR 1
DROP: Final = 0.5  # algorithm 3.3: ``mappings[C] < lastNum / 2``


def extract(document: dom.Document, now: datetime, alpha: float = ALPHA, beta: float = BETA) -> tuple[Post, ...]:
    """Return the posts in page order. Raises ``NotApplicable`` (``no-anchors``: no time; ``no-records``: all posts in one place)."""
    page = marked_page(document)
    node = 0
    while children := [child for child in page.children[node] if page.pivots[child]]:  # algorithm 3.2, without its recursion
        most = max(children, key=lambda child: page.pivots[child])
        pivots = [page.pivots[child] for child in children]
        if len(pivots) > 1 and relative_mean_deviation(pivots) < alpha and max(pivots) / sum(pivots) < beta:
            return tuple(as_post(page, at, now) for at in sorted(_records(page, children, most)))
        node = most
    raise NotApplicable("no-records", "all post times are in one node")


def relative_mean_deviation(sample: Sequence[int]) -> float:
    """RMD of a sample (3-2)."""
    mean = sum(sample) / len(sample)
    return sum(abs(value - mean) for value in sample) / len(sample) / mean


def _records(page: MarkedPage, children: Sequence[int], base: int) -> list[int]:
    """Return the posts among siblings (algorithm 3.3)."""
    matches = sorted(((tree_match(page, child, base), -child) for child in children if child != base), reverse=True)
    found, last = [base], 0
    for size, child in matches:
        if size < last * DROP:
            break
        last = size
        found.append(-child)
    return found
