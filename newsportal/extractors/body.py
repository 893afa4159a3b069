"""The body of an article without templates: CEVC (thesis E, 2.3) made robust.

What differs from the thesis, and why:

1. A sentence mark makes a text valid too (a one-line 快讯 may hold no stop word), and blocks that call themselves navigation,
   comments, related articles or sharing do not count, unless they hold most of the page.
2. The walk never enters a single paragraph: it ends at the block that holds the paragraphs, ``<br>``-separated text included.
3. Afterwards it looks back: siblings that hold running text of their own belong to the body as well.
4. The output is all the block's text, cleaned of link lists, captions of controls and the tails of :mod:`newsportal.extractors.tails`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from newsportal import dom
from newsportal.text import STOP_WORD, visible_length

ALPHA: Final = 0.5
"""Thesis E, 2.4.3."""

SENTENCE: Final = re.compile("[。！？；，]|[.!?;,](?:\\s|$)")

NEVER: Final = frozenset(
    "script style noscript template iframe object embed svg math select option button textarea input nav footer aside audio video canvas "
    "dialog menu".split()
)
"""Elements that hold no body text."""

PARAGRAPHS: Final = frozenset("p br span font b strong em i u h2 h3 h4 h5 h6 blockquote pre ul ol table img figure center".split())

UNLIKELY: Final = re.compile(
    r"(?<![a-z])(?:comments?|cmts?|pinglun|disqus|respond|repl(?:y|ies)|sidebar|side|aside|foot(?:er)?|nav(?:igation|bar)?|menu|breadcrumbs?|crumbs?|"
    r"relate[ds]?|relevant|recommend(?:ed|s|ation)?|tuijian|xiangguan|hot|rank(?:ing)?|share|sharing|bdshare|jiathis|bshare|addthis|social|copyright|"
    r"statement|disclaimer|ads?|advert(?:isement)?|guanggao|banner|toolbar|tools?|pagers?|pagination|page|tags?|keywords?|login|signup|popup|modal|"
    r"newsletters?|subscri(?:be|ption)|promo|sponsor(?:ed)?|widgets?|outbrain|taboola|cookies?|consent|hidden|print|editor|more|vote|survey|"
    r"author|byline|profile|bio|meta|info|source|prev|next|topbar|bottom|qrcode|weixin|wechat|readmore|jump|skip)(?![a-z])"
)
LIKELY: Final = re.compile(
    r"(?<![a-z])(?:article|content|body|main|text|story|post|entry|detail|zoom|news|neirong|zhengwen|paragraph|rich)(?![a-z])"
)
CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")

MOST: Final = 0.5
"""A block with more than this share of the page's valid characters is its body, whatever it calls itself."""


@dataclass(slots=True)
class Counts:
    """Of everything below one element: valid characters, all visible characters, those in links, valid text nodes."""

    valid: int = 0
    text: int = 0
    linked: int = 0
    pieces: int = 0


@lru_cache(maxsize=4096)
def unlikely(name: str) -> bool:
    """Whether a block with this class and id says that it is not the body."""
    words = CAMEL.sub("-", name).lower()
    return UNLIKELY.search(words) is not None and LIKELY.search(words) is None


def is_aside(node: dom.Element) -> bool:
    """Navigation, comments, hidden blocks and the like, by what the element says of itself."""
    name = f"{node.get('class') or ''} {node.get('id') or ''}"
    if name != " " and unlikely(name[:200]):
        return True
    style = node.get("style")
    return node.get("hidden") is not None or (style is not None and "display:none" in style.replace(" ", "").lower())


def is_valid(text: str) -> bool:
    """Whether a text node reads like a sentence (definition 2.6, or a sentence mark)."""
    return STOP_WORD.search(text) is not None or SENTENCE.search(text) is not None


class Survey:
    """The counts of every element below ``body``, made in one pass; asides count apart."""

    def __init__(self, body: dom.Element) -> None:
        self.body = body
        self.counts: dict[dom.Element, Counts] = {}
        self.nodes: list[dom.Element] = []
        self.asides: list[dom.Element] = []
        linked: dict[dom.Element, bool] = {}
        for node in self._visible(body):
            parent = node.getparent()
            inside = node is not body and linked[parent]
            linked[node] = inside or node.tag == "a"
            counts = self.counts[node] = Counts()
            self.nodes.append(node)
            if node.text:
                self._add(counts, node.text, linked[node])
            if node.tail and node is not body:
                self._add(self.counts[parent], node.tail, inside)
        self._sum()

    def _visible(self, body: dom.Element) -> Iterator[dom.Element]:
        """Elements in document order. What never holds text is left out, but the text after it is not."""
        left_out: set[dom.Element] = set()
        for node in body.iter():
            parent = node.getparent()
            if parent in left_out and node is not body:
                left_out.add(node)
                continue
            if node.tag in NEVER:
                left_out.add(node)
                if node.tail and parent in self.counts:
                    self._add(self.counts[parent], node.tail, linked=False)
                continue
            yield node

    def _add(self, counts: Counts, text: str, linked: bool) -> None:
        length = visible_length(text)
        if not length:
            return
        counts.text += length
        if linked:
            counts.linked += length
        elif is_valid(text):
            counts.valid += length
            counts.pieces += 1

    def _sum(self) -> None:
        """Add children to parents, from the leaves up; then take asides out of all that holds them."""
        for node in reversed(self.nodes[1:]):
            here, above = self.counts[node], self.counts[node.getparent()]
            above.valid += here.valid
            above.text += here.text
            above.linked += here.linked
            above.pieces += here.pieces
        total = self.counts[self.body].valid
        for node in self.nodes[1:]:
            if is_aside(node) and self.counts[node].valid < MOST * total:
                self._take_out(node)

    def _take_out(self, node: dom.Element) -> None:
        here = self.counts[node]
        valid, pieces = here.valid, here.pieces
        if not valid:
            return
        above = node.getparent()
        while above is not None and above in self.counts:
            self.counts[above].valid -= valid
            self.counts[above].pieces -= pieces
            above = above.getparent()
        for inner in node.iter():
            if inner in self.counts:
                self.counts[inner].valid = self.counts[inner].pieces = 0


def find(body: dom.Element) -> tuple[list[dom.Element], Survey]:
    """The elements that hold the article's text, in document order; empty when nothing below ``body`` reads like text."""
    survey = Survey(body)
    if not survey.counts[body].valid:
        return [], survey
    block = step_into(survey)
    return with_siblings(block, survey), survey


def step_into(survey: Survey) -> dom.Element:
    """Thesis E, algorithm 2.2, that stops before a single paragraph."""
    node, counts = survey.body, survey.counts
    while True:
        here = counts[node]
        largest = max((child for child in node if child in counts), key=lambda child: counts[child].valid, default=None)
        if largest is None:
            return node
        there = counts[largest]
        if there.valid < ALPHA * here.valid or not there.valid:
            return node
        if largest.tag == "p" or (there.pieces < 2 and not len(largest)):
            return node
        if there.pieces < 2 and largest.tag in PARAGRAPHS:
            return node
        node = largest


SIBLING_SHARE: Final = 0.08
SIBLING_CHARS: Final = 60
"""A sibling with running text of this many characters, or this share of the block's, is a part of the body."""

MAX_LINK_SHARE: Final = 0.3
LEVELS: Final = 3


def with_siblings(block: dom.Element, survey: Survey) -> list[dom.Element]:
    """``block``, and what runs on beside it or one of its next ancestors."""
    counts = survey.counts
    nodes = [block]
    top = block
    for _ in range(LEVELS):
        parent = top.getparent()
        if parent is None or top is survey.body or parent not in counts:
            break
        beside = [node for node in parent if node is top or (node in counts and _runs_on(node, block, counts))]
        if len(beside) > 1:
            nodes = [piece for node in beside for piece in (nodes if node is top else [node])]
        top = parent
    return nodes


def _runs_on(node: dom.Element, block: dom.Element, counts: dict[dom.Element, Counts]) -> bool:
    here = counts[node]
    if here.valid < max(SIBLING_CHARS, SIBLING_SHARE * counts[block].valid) or here.linked > MAX_LINK_SHARE * here.text:
        return False
    if node.tag == "p":
        return True
    alike = node.tag == block.tag and (node.get("class") or "") == (block.get("class") or "")
    return alike and here.valid > 0.7 * here.text
