"""CETD, content extraction via text density (Sun, Song, Liao, SIGIR 2011; thesis E, 2.2.2): pure, as published.

    TD_i  = C_i / T_i                                                                                                 (2-5)
    CTD_i = C_i / T_i · log_B( C_i / LC_i · T_i / LT_i ),   B = ln( C_i / ¬LC_i · LC_i + LC_b / C_b · C_i + e )             (2-6)
    DensitySum_N = Σ CTD_i over the children i of N, text nodes among them                                               (2-7)

    C, LC, ¬LC   characters below the node; of them inside links; outside links
    T, LT        tags below the node (not counting itself); of them links
    b            the ``body`` node

A count of zero is taken as 1 (the thesis requires it for denominators; the authors' program also does it for LC in B, and otherwise B is 1
on a page without links). A text node is a leaf with C characters and no tags: the authors' program adds those too, and an article separated
by ``br`` has no other children.

``cetd`` returns the text of the node with the greatest DensitySum, as compared in the thesis (2.4.5, where it is called CECTD-DS).
Published there: F1 95.5 % on 1,270 pages.

``cetd_threshold`` is the full algorithm of SIGIR 2011: the least density from that node up to ``body`` is the threshold, and every node
reached from ``body`` through nodes of at least that density adds the node with the greatest DensitySum below it.

Both are O(n) in the nodes of the page.
"""

from datetime import datetime
from math import e, log
from typing import Final, NamedTuple

from newsportal.extractors.papers.common import LINK, REMOVED, add_up, body_of, character_counts, make_extraction, text_lines
from newsportal.items import Extraction, Link
from newsportal.text import dom, visible_length

LINK_TAGS: Final = LINK | {"button", "select"}  # the authors' program also counts buttons and selection lists as links
SKIPPED_TAGS: Final = REMOVED | {"textarea"}  # removed for CETD: a ``textarea`` full of code is the densest block of many blogs (2.4.5)


class Counts(NamedTuple):
    """Counts below every element: C, ¬LC, T, LT."""

    characters: dict[dom.Element, int]
    unlinked: dict[dom.Element, int]
    tags: dict[dom.Element, int]
    links: dict[dom.Element, int]


class Sums(NamedTuple):
    """CTD of every element, its DensitySum, and the first node with the greatest DensitySum in its subtree (itself included)."""

    density: dict[dom.Element, float]
    total: dict[dom.Element, float]
    densest: dict[dom.Element, dom.Element]


def extract(document: dom.Document, link: Link | None, fetched: datetime) -> Extraction:
    """Extract the article as the densest node. Raises ``NotApplicable("no-body")`` for a page without text."""
    body = body_of(document)
    block = density_sums(body, count(body)).densest[body]
    return make_extraction(document, fetched, "cetd", text_lines(block, SKIPPED_TAGS), [block])


def extract_with_threshold(document: dom.Document, link: Link | None, fetched: datetime) -> Extraction:
    """Extract the article as the densest nodes down to the threshold. Raises ``NotApplicable("no-body")`` for a page without text."""
    body = body_of(document)
    blocks = content_blocks(body, density_sums(body, count(body)))
    lines = [line for block in blocks for line in text_lines(block, SKIPPED_TAGS)]
    return make_extraction(document, fetched, "cetd_threshold", lines, blocks)


def count(body: dom.Element) -> Counts:
    """Return C, ¬LC, T and LT of every element below ``body``."""
    characters = character_counts(body, visible_length, SKIPPED_TAGS)
    unlinked = character_counts(body, visible_length, SKIPPED_TAGS | LINK_TAGS)
    tags = add_up(body, dict.fromkeys(characters, 1))
    links = add_up(body, {node: int(node.tag in LINK_TAGS) for node in characters})
    for node in characters:  # do not count the node itself
        tags[node] -= 1
        links[node] -= node.tag in LINK_TAGS
    return Counts(characters, unlinked, tags, links)


def composite_density(characters: int, unlinked: int, tags: int, links: int, ratio: float) -> float:
    """Return CTD (2-6) of one node; ``ratio`` is LC_b / C_b."""
    if not characters:
        return 0.0
    linked, tags, links = characters - unlinked or 1, tags or 1, links or 1
    base = log(characters / (unlinked or 1) * linked + ratio * characters + e)
    return characters / tags * log(characters / linked * tags / links) / log(base)


def density_sums(body: dom.Element, counts: Counts) -> Sums:
    """Compute densities and their sums bottom-up: every node, last first, adds its values to its parent. The first of equals is densest."""
    everything = counts.characters[body]
    ratio = (everything - counts.unlinked[body]) / everything if everything else 0.0
    density: dict[dom.Element, float] = {}
    total = dict.fromkeys(counts.characters, 0.0)
    densest = {node: node for node in counts.characters}
    for node in reversed(counts.characters):
        characters, unlinked = counts.characters[node], counts.unlinked[node]
        density[node] = composite_density(characters, unlinked, counts.tags[node], counts.links[node], ratio)
        if unlinked:
            total[node] += _text_density(node.text, ratio)
        if densest[node] is node or total[node] >= total[densest[node]]:
            densest[node] = node
        parent = node.getparent()
        if node is body or parent is None:
            break
        total[parent] += density[node] + (_text_density(node.tail, ratio) if counts.unlinked[parent] else 0.0)
        if densest[parent] is parent or total[densest[node]] >= total[densest[parent]]:
            densest[parent] = densest[node]
    return Sums(density, total, densest)


def _text_density(text: str | None, ratio: float) -> float:
    """Return the density of a text node outside links; inside links it is 0 (the logarithm of 1)."""
    length = visible_length(text) if text else 0
    return composite_density(length, length, 0, 0, ratio)


def content_blocks(body: dom.Element, sums: Sums) -> list[dom.Element]:
    """Return the nodes marked as content, in document order, none inside another."""
    best = sums.densest[body]
    threshold = min(sums.density[node] for node in (best, *best.iterancestors()) if node in sums.density)
    marked = {best}
    blocks: list[dom.Element] = []
    waiting = [(body, True)]
    while waiting:
        node, dense = waiting.pop()
        dense = dense and sums.density[node] >= threshold
        if node not in marked and dense:
            marked.add(sums.densest[node])
        if node in marked:
            blocks.append(node)
        else:
            waiting.extend((child, dense) for child in reversed(node))
    return blocks
