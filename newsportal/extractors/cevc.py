"""CEVC, content extraction via valid characters (thesis E, chapter 2.3), and its title and date (4.3.2): pure, as published.

    valid characters   the non-space characters of a text node that is in no link and holds a stop word       (definition 2.6)
    C(i)               the valid characters below node i                                                    (algorithm 2.1)
    MCR(i) = max over children j of C(j) / C(i)                                                                      (2-12)

From ``body`` step into the child with most valid characters while MCR ≥ α = 0.5, and answer with the node where the walk stops;
a walk that reaches a node whose children have none answers with that node's parent (algorithm 2.2). The output is the valid
characters below the answer. Published: F1 95.8 % on 1,270 pages. O(n) in the nodes of the page.
"""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import Final

from newsportal import dom
from newsportal.errors import NotApplicable
from newsportal.extractors.clock import CHINA
from newsportal.extractors.date import find_dates
from newsportal.extractors.sanitise import sanitise
from newsportal.extractors.title import thesis_title
from newsportal.items import Extraction, Link
from newsportal.text import chinese_share, clean, has_stop_word, visible_length

ALPHA: Final = 0.5
"""The thesis, 2.4.3: F1 is flat between 0.3 and 0.6."""

REMOVED: Final = frozenset(("script", "style"))
"""What the thesis removes before counting (comments never reach the tree)."""

DATE_CHARS: Final = 200
"""A text node longer than this is a paragraph; dates in it are read from its first characters only."""


def extract(document: dom.Document, link: Link | None, fetched: datetime) -> Extraction:
    """The page's article as the thesis finds it. Raises ``NotApplicable("no-body")`` for a page without valid characters."""
    body = next(iter(document.root.iter("body")), None)
    counts = count_valid(body) if body is not None else {}
    if body is None or not counts[body]:
        raise NotApplicable("no-body", "no text outside links holds a stop word")
    block = step_into(body, counts)
    text = "\n".join(valid_lines(block))
    return Extraction(
        title=thesis_title(document),
        text=text,
        html=sanitise(dom.html_of(block), document.base),
        published=newest_date(document.root, fetched, CHINA if chinese_share(text) > 0.1 else None),
        algorithm="cevc",
    )


def count_valid(body: dom.Element) -> dict[dom.Element, int]:
    """C(i) of every element below ``body`` (algorithm 2.1, without recursion: children stand after their parents)."""
    nodes: list[dom.Element] = []
    linked: dict[dom.Element, bool] = {}
    counts: dict[dom.Element, int] = {}
    for node in body.iter():
        parent = node.getparent()
        outside = parent is not None and node is not body
        linked[node] = (outside and linked[parent]) or node.tag == "a" or node.tag in REMOVED
        nodes.append(node)
        counts[node] = 0 if linked[node] else _valid_length(node.text)
        if outside and not linked[parent]:
            counts[parent] += _valid_length(node.tail)
    for node in reversed(nodes[1:]):
        counts[node.getparent()] += counts[node]
    return counts


def _valid_length(text: str | None) -> int:
    return visible_length(text) if text and has_stop_word(text) else 0


def step_into(body: dom.Element, counts: dict[dom.Element, int], alpha: float = ALPHA) -> dom.Element:
    """The core block (algorithm 2.2)."""
    node = body
    while True:
        largest = max(node, key=lambda child: counts[child], default=None)
        if largest is None or not counts[largest]:
            parent = node.getparent()
            return node if node is body or parent is None else parent
        if counts[largest] / counts[node] < alpha:
            return node
        node = largest


def valid_lines(block: dom.Element) -> list[str]:
    """The valid text nodes below ``block``; those of one paragraph are joined."""
    pieces: list[str] = []
    for kind, text in dom.pieces(block, skipped=REMOVED | {"a"}):
        pieces.append("\n" if kind == "break" else text if has_stop_word(text) else "")
    return [line for line in map(clean, "".join(pieces).split("\n")) if line]


def newest_date(root: dom.Element, fetched: datetime, zone: tzinfo | None = None) -> datetime | None:
    """The newest plausible date with a year that is written on the page (algorithm 4.1)."""
    newest = None
    for _, text in dom.pieces(root, skipped=REMOVED):
        if any(character.isdigit() for character in text[:DATE_CHARS]):
            for written in find_dates(text[:DATE_CHARS], fetched, zone):
                if written.has_year and not written.relative and (newest is None or written.when > newest):
                    newest = written.when
    return newest
