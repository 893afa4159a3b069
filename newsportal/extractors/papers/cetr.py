"""CETR, content extraction via tag ratios (Weninger, Hsu, Han, WWW 2010; thesis E, 2.2.1): pure, as published.

    T_i  = characters outside tags / tags, for every line i of the source that is not empty (without tags: the characters)
    k_j  = exp(−j² / 2σ²),  k'_j = k_j / Σ k                      for −⌈σ⌉ ≤ j ≤ ⌈σ⌉                     (2-1, 2-2: Gaussian kernel)
    T'_i = Σ_j k'_j T_{i−j}                                                                               (2-3: smoothed ratios)
    G_i  = ( Σ_{j=0..α} T'_{i+j} ) / α − T'_i                                                                  (2-4: what comes next)
    Ĝ_i  = | G'_i |,  G' smoothed as (2-3)                                                                          (absolute derivative)

The points (T'_i, Ĝ_i) are clustered by k-means with k = 3, one centre of which stays at the origin; the lines of that cluster are noise,
all others are content. σ = 1 and α = 3 (as in the published program; the thesis gives no values). In the scan, (2-1) sums over j; the text
(a kernel with a window of 2⌈σ⌉ + 1) shows what is meant. Neighbours beyond the ends of the page count as zero.

A page written on a single line has no histogram: its source is split into lines first (our reading, ``MAX_MEAN``).

Published: F1 75.2 % on the 1,270 pages of the thesis. O(n) in the source; the centres are found on at most ``MAX_POINTS`` lines.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from html import unescape
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newsportal.extractors.papers.common import clean_lines, gaussian_kernel, make_extraction
from newsportal.items import Extraction, Link
from newsportal.text import dom, visible_length

SIGMA: Final = 1.0
ALPHA: Final = 3
CLUSTERS: Final = 3  # Weninger et al. 2010, chapter 4; k = 3 in the thesis too.
MAX_ROUNDS: Final = 100  # of k-means; pages of the development sets converge within 20
MAX_POINTS: Final = 20_000  # for longer pages the centres are found on evenly sampled lines; articles have below 5,000
INVISIBLE: Final = re.compile(r"<!--|<(script|style)\b[^<>]*>", re.IGNORECASE)
ENDS: Final = {"": re.compile("-->"), "script": re.compile("</script", re.IGNORECASE), "style": re.compile("</style", re.IGNORECASE)}
TAG: Final = re.compile(r"<[/!?]?([a-zA-Z][a-zA-Z0-9:-]{0,40})?[^<>]*>")
LINE_PIECE: Final = re.compile(r"<[^<>]*>|&[#\w]{1,10};|[^<&]{1,20}|[<&]")  # a line is not split within a tag or a character reference
LINE_CHARS: Final = 65
MAX_MEAN: Final = 1000  # characters per line: a source with more has no real lines, and is split into lines of ``LINE_CHARS``
Floats: TypeAlias = NDArray[np.float64]
Point: TypeAlias = tuple[float, float]


class SourceLine(NamedTuple):
    """A line of the source: its text outside tags (with a line feed for each tag that breaks lines) and the number of its tags."""

    text: str
    tags: int


def extract(
    document: dom.Document, link: Link | None, fetched: datetime, *, sigma: float = SIGMA, alpha: int = ALPHA, clusters: int = CLUSTERS
) -> Extraction:
    """Extract the article by tag ratios. Raises ``NotApplicable("no-body")`` for a page without text."""
    lines = source_lines(document.html[: dom.MAX_CHARS])
    content = set(content_lines([tag_ratio(line) for line in lines], sigma, alpha, clusters))
    text = "".join(line.text if number in content else "\n" for number, line in enumerate(lines))
    return make_extraction(document, fetched, "cetr", clean_lines(text.split("\n")))


def source_lines(html: str) -> list[SourceLine]:
    """Return the non-empty lines of the source, without scripts, styles and comments. A tag counts on the line where it starts."""
    source = TAG.sub(lambda tag: tag[0].replace("\n", " "), "".join(_seen(html)).replace("\r", "\n"))
    lines = [f"{line} " for line in source.split("\n") if line and not line.isspace()]
    if sum(map(len, lines)) > MAX_MEAN * len(lines):
        lines = list(_cut("".join(lines)))
    pairs = (TAG.subn(lambda tag: "\n" if tag[1] and tag[1].lower() in dom.BREAKING_TAGS else "", line) for line in lines)
    return [SourceLine(unescape(text), tags) for text, tags in pairs]


def _cut(source: str) -> Iterator[str]:
    line: list[str] = []
    width = 0
    for piece in LINE_PIECE.findall(source):
        line.append(piece)
        width += len(piece)
        if width >= LINE_CHARS:
            yield "".join(line)
            line, width = [], 0
    yield "".join(line)


def _seen(html: str) -> Iterator[str]:
    start = 0
    while (begin := INVISIBLE.search(html, start)) is not None:
        yield html[start : begin.start()]
        end = ENDS[(begin[1] or "").lower()].search(html, begin.end())
        if end is None:  # never closed: browsers hide the rest
            return
        start = end.end() if not begin[1] else html.find(">", end.end()) + 1 or len(html)
    yield html[start:]


def tag_ratio(line: SourceLine) -> float:
    """Return T_i."""
    return visible_length(line.text) / (line.tags or 1)


def content_lines(ratios: Sequence[float], sigma: float = SIGMA, alpha: int = ALPHA, clusters: int = CLUSTERS) -> list[int]:
    smoothed = smooth(ratios, sigma)
    points = np.column_stack((smoothed, np.abs(smooth(derivative(smoothed, alpha), sigma))))
    centres = cluster_centres(points[:: len(points) // MAX_POINTS + 1], clusters)
    return [int(number) for number in np.flatnonzero(_nearest(points, centres))]


def smooth(values: Sequence[float] | Floats, sigma: float = SIGMA) -> Floats:
    """Smooth ``values`` (2-3) with the Gaussian kernel of (2-1) and (2-2)."""
    kernel = gaussian_kernel(sigma)
    padded = np.pad(np.asarray(values, dtype=np.float64), len(kernel) // 2)
    return sum((k * padded[j : j + len(values)] for j, k in enumerate(kernel)), np.zeros(len(values)))


def derivative(smoothed: Sequence[float] | Floats, alpha: int = ALPHA) -> Floats:
    """Return (2-4), as printed: α + 1 terms over α."""
    values = np.asarray(smoothed, dtype=np.float64)
    padded = np.pad(values, (0, alpha))
    return sum((padded[j : j + len(values)] for j in range(alpha + 1)), np.zeros(len(values))) / alpha - values


def cluster_centres(points: ArrayLike, clusters: int = CLUSTERS) -> list[Point]:
    """Return the centres of k-means; the first stays at the origin, the others start evenly between it and both maxima."""
    points = np.asarray(points, dtype=np.float64).reshape(-1, 2)
    centres = np.outer(np.arange(clusters), points.max(axis=0, initial=0.0)) / (clusters - 1)
    for _ in range(MAX_ROUNDS):
        group = _nearest(points, centres)
        sizes = np.bincount(group, minlength=clusters)[:, None]
        sums = np.column_stack([np.bincount(group, column, clusters) for column in points.T])
        moved = np.where(sizes > 0, sums / np.maximum(sizes, 1), centres)
        moved[0] = 0.0
        if np.array_equal(moved, centres):
            break
        centres = moved
    return [(x, y) for x, y in centres.tolist()]


def _nearest(points: Floats, centres: ArrayLike) -> NDArray[np.intp]:
    (x, y), (a, b) = points.T, np.asarray(centres).T
    return np.asarray(((x[:, None] - a) ** 2 + (y[:, None] - b) ** 2).argmin(axis=1), dtype=np.intp)
