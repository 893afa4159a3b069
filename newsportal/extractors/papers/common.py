"""Shared by the papers' algorithms: character counts, the title and date of thesis E, the extraction from blocks or lines.

The papers differ in which characters count, not in how counts are summed: ``character_counts`` does that for all in one pass. Lengths are
characters except white space, as the thesis measures its results (2.4.2). Everything here is linear in the page and not recursive.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, tzinfo
from html import escape
from math import ceil, exp
from typing import Final

from newsportal.errors import NotApplicable
from newsportal.extractors.article.sanitise import sanitise
from newsportal.extractors.article.tidy import markup_of
from newsportal.extractors.fields.date import find_dates
from newsportal.extractors.fields.date_forms import CHINA
from newsportal.extractors.fields.title import thesis_title
from newsportal.items import Extraction, Link
from newsportal.text import chinese_share, clean, dom

REMOVED: Final = frozenset(("script", "style"))  # removed before counting in the thesis (comments are not in the tree)
LINK: Final = frozenset(("a",))
DATE_CHARS: Final = 200  # a longer text node is a paragraph; only its first characters are searched for dates
MIN_CHINESE: Final = 0.1  # share of Chinese characters among the letters that makes a page Chinese: names on a foreign page stay below


def body_of(document: dom.Document) -> dom.Element:
    """Return the ``body`` element. Raises ``NotApplicable("no-body")`` for a page without one (frames, an empty file)."""
    body = next(iter(document.root.iter("body")), None)
    if body is None:
        raise NotApplicable("no-body", "the page has no body element")
    return body


def character_counts(body: dom.Element, length: Callable[[str], int], skipped: frozenset[str]) -> dict[dom.Element, int]:
    """Return for every element below ``body``, in document order, the sum of ``length`` over its text nodes outside ``skipped``."""
    outside: dict[dom.Element, bool] = {}
    counts: dict[dom.Element, int] = {}
    for node in body.iter():
        parent = None if node is body else node.getparent()
        around = parent is None or outside[parent]
        outside[node] = inside = around and node.tag not in skipped
        counts[node] = length(node.text) if inside and node.text else 0
        if parent is not None and around and node.tail:
            counts[parent] += length(node.tail)
    return add_up(body, counts)


def add_up(body: dom.Element, counts: dict[dom.Element, int]) -> dict[dom.Element, int]:
    """Add each element's number in ``counts`` (in document order: children come after their parents) to all of its ancestors."""
    for node in reversed(counts):
        if node is not body:
            counts[node.getparent()] += counts[node]
    return counts


def text_lines(block: dom.Element, skipped: frozenset[str] = REMOVED, valid: Callable[[str], bool] = bool) -> list[str]:
    """Return the text below ``block``, a cleaned paragraph per line, without the text nodes that are not ``valid``."""
    pieces = ("\n" if kind == "break" else text if valid(text) else "" for kind, text in dom.text_pieces(block, skipped=skipped))
    return clean_lines("".join(pieces).split("\n"))


def clean_lines(lines: Iterable[str]) -> list[str]:
    return [line for line in map(clean, lines) if line]


def gaussian_kernel(sigma: float) -> list[float]:
    """Return k', 2⌈σ⌉ + 1 weights: k_j = exp(−j² / 2σ²) for −⌈σ⌉ ≤ j ≤ ⌈σ⌉, divided by their sum (thesis E, 2-1 and 2-2)."""
    kernel = [exp(-(j**2) / (2 * sigma**2)) for j in range(-ceil(sigma), ceil(sigma) + 1)]
    return [k / sum(kernel) for k in kernel]


def make_extraction(
    document: dom.Document, fetched: datetime, algorithm: str, lines: list[str], blocks: Iterable[dom.Element] | None = None
) -> Extraction:
    """Return the article with ``lines``, and ``blocks`` as HTML (default: a paragraph per line). Raises ``NotApplicable("no-body")``."""
    text = "\n".join(lines)
    if not text:
        raise NotApplicable("no-body", f"{algorithm} finds no usable text")
    html = map(markup_of, blocks) if blocks is not None else (f"<p>{escape(line)}</p>" for line in lines)
    return Extraction(
        title=thesis_title(document),
        text=text,
        html=sanitise("".join(html), document.base),
        published=newest_date(document.root, fetched, CHINA if chinese_share(text) > MIN_CHINESE else None),
        algorithm=algorithm,
    )


def make_extraction_from_link(document: dom.Document, link: Link | None, algorithm: str, blocks: Sequence[dom.Element]) -> Extraction:
    """Return the article in ``blocks`` with the link's title, date and author; the title falls back to the thesis's rule."""
    return Extraction(
        title=(link.title if link else None) or thesis_title(document),
        text="\n".join(line for block in blocks for line in dom.lines_of(block)),
        html=sanitise("".join(map(markup_of, blocks)), document.base),
        published=link.published if link else None,
        author=link.author if link else None,
        algorithm=algorithm,
    )


def newest_date(root: dom.Element, fetched: datetime, zone: tzinfo | None = None) -> datetime | None:
    """Return the newest plausible date with a year on the page (thesis E, algorithm 4.1)."""
    beginnings = (text[:DATE_CHARS] for _, text in dom.text_pieces(root, skipped=REMOVED))
    dates = (date for text in beginnings if any(map(str.isdigit, text)) for date in find_dates(text, fetched, zone))
    return max((date.when for date in dates if date.has_year and not date.relative), default=None)
