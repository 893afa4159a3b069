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
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Final

from newsportal import dom
from newsportal.text import has_stop_word, visible_length

ALPHA: Final = 0.5
"""Thesis E, 2.4.3."""

SENTENCE: Final = re.compile(r"[。！？；，۔؟،।….!?;,](?:(?<![.!?;,])|\s|$)")
"""A mark of a language that needs no space after it, or one before a space. (One class of characters first: twice as fast.)"""

NOTICE: Final = ("copyright", "all rights reserved", "©", "版权所有", "版權所有", "著作權", "icp备", "icp证")
NOTICE_FIRST: Final = ("免责声明", "免責聲明", "郑重声明", "特别声明", "var ")
NOTICE_FORM: Final = re.compile(r"未经.{0,12}(?:许可|授权)|\{[^{}]{0,200}:[^{}]{0,200};|function\s*\(")
"""Legal notices and code that stand in the page as text: words, words at the start, forms (of lower-case text)."""

NOTICE_CHARS: Final = 400

NEVER: Final = frozenset(
    "script style noscript template iframe object embed svg math select option button textarea input audio video canvas".split()
)
"""Elements that hold no body text."""

ASIDES: Final = frozenset("nav footer aside dialog menu form".split())
"""Elements that say by their name that they are not the body; markup that is never closed may still put it into them."""

WHOLE: Final = frozenset("blockquote pre ul ol dl".split())
"""Parts of a text; a body that is nothing but one of them is entered."""

PARAGRAPHS: Final = frozenset("p br span font b strong em i u h2 h3 h4 h5 h6 blockquote pre ul ol table img figure center".split())

_ASIDE_STEMS = (
    "comment cmt pinglun disqus respond reply replies sidebar foot nav menu breadcrumb crumb related relates recommend tuijian xiangguan "
    "share sharing bdshare jiathis bshare addthis copyright disclaimer advert guanggao banner toolbar pagination newsletter subscri promo "
    "sponsor widget outbrain taboola cookie consent onetrust optanon gdpr popup modal qrcode signup login topbar"
)
_ASIDE_WORDS = (
    "side aside relate relevant hot rank ranking social statement ad ads tool tools pager paging tag tags keywords vote survey "
    "author byline profile bio meta info source prev next weixin wechat readmore skip"
)
_STEM, _WORD = "|".join(_ASIDE_STEMS.split()), "|".join(_ASIDE_WORDS.split())
UNLIKELY: Final = re.compile(rf"(?<![a-z])(?:(?:{_STEM})[a-z]*|(?:{_WORD})(?![a-z]))")
LIKELY: Final = re.compile(
    r"(?<![a-z])(?:article|content|body|main|text|story|post|entry|detail|zoom|news|neirong|zhengwen|paragraph|rich)(?![a-z])"
)
CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")

LONG_LINK: Final = 80
"""A link with so many characters and a sentence mark is a paragraph that somebody forgot to close."""

MOST: Final = 0.5
"""A block with more than this share of the page's valid characters is its body, whatever it calls itself."""


ENOUGH_CHARS: Final = 150
ENOUGH: Final = 0.3
"""If what remains without asides is a smaller share, their names do not mean what they say here."""


@dataclass(slots=True)
class Counts:
    """Of everything below one element: valid characters, all visible characters, those in links, valid text nodes.

    ``inside`` says that the element is a link or inside one.
    """

    valid: int = 0
    text: int = 0
    linked: int = 0
    pieces: int = 0
    inside: bool = False


@lru_cache(maxsize=4096)
def unlikely(name: str) -> bool:
    """Whether a block with this class and id says that it is not the body."""
    words = CAMEL.sub("-", name).lower()
    return UNLIKELY.search(words) is not None and LIKELY.search(words) is None


def is_aside(node: dom.Element) -> bool:
    """Navigation, comments, forms, hidden blocks and the like, by what the element says of itself."""
    if node.tag in ASIDES:
        return True
    name = f"{node.get('class') or ''} {node.get('id') or ''}"
    if name != " " and unlikely(name[:200]):
        return True
    style = node.get("style")
    return node.get("hidden") is not None or (style is not None and "display:none" in style.replace(" ", "").lower())


def is_valid(text: str) -> bool:
    """Whether a text node reads like a sentence (definition 2.6, or a sentence mark) and is no code and no legal notice."""
    return (SENTENCE.search(text) is not None or has_stop_word(text)) and not _is_notice(text[:NOTICE_CHARS].lower())


def _is_notice(text: str) -> bool:
    return text.lstrip().startswith(NOTICE_FIRST) or any(word in text for word in NOTICE) or NOTICE_FORM.search(text) is not None


class Survey:
    """The counts of every element below ``body``, made in one pass; asides count apart."""

    def __init__(self, body: dom.Element, heading: str | None = None) -> None:
        self.body = body
        self.heading = heading
        self.counts: dict[dom.Element, Counts] = {body: Counts()}
        self._count()
        self.nodes = list(self.counts)
        self.beside = self._ancestors_of_heading()
        self._leave_asides_out()

    def _count(self) -> None:
        """Every element with its text in document order, then children to parents, from the leaves up.

        What never holds text is left out with all below it, but the text after it is not.
        """
        counts, pairs = self.counts, []
        self._add(counts[self.body], self.body.text or "")
        for node in islice(self.body.iter(), 1, None):
            above = counts.get(node.getparent())
            if above is None:
                continue
            tag, text, tail = node.tag, node.text, node.tail
            if tail and not tail.isspace():
                self._add(above, tail)
            if tag not in NEVER:
                here = counts[node] = Counts(inside=above.inside or tag == "a")
                if text and not text.isspace():
                    self._add(here, text)
                pairs.append((here, above))
        for here, above in reversed(pairs):
            above.valid += here.valid
            above.text += here.text
            above.linked += here.linked
            above.pieces += here.pieces

    def _add(self, counts: Counts, text: str) -> None:
        length = visible_length(text)
        if not length:
            return
        counts.text += length
        if counts.inside and (length < LONG_LINK or not SENTENCE.search(text)):
            counts.linked += length
        elif is_valid(text):
            counts.valid += length
            counts.pieces += 1

    def _ancestors_of_heading(self) -> frozenset[dom.Element]:
        for node in self.nodes:
            if self.heading and node.tag in ("h1", "h2", "h3") and dom.text_of(node) == self.heading:
                return frozenset(node.iterancestors())
        return frozenset()

    def _leave_asides_out(self) -> None:
        """By class and id, or if that leaves too little, by element alone, or not at all."""
        total = self.counts[self.body].valid
        before = {node: (counts.valid, counts.pieces) for node, counts in self.counts.items()}
        for by_name in (is_aside, lambda node: node.tag in ASIDES):
            for node in self.nodes[1:]:
                valid = self.counts[node].valid
                if valid and node not in self.beside and self._may_go(valid, total) and by_name(node):
                    self._take_out(node)
            left = self.counts[self.body].valid
            if left >= ENOUGH * total or (self.beside and left >= ENOUGH_CHARS):
                return
            for node, (valid, pieces) in before.items():
                self.counts[node].valid, self.counts[node].pieces = valid, pieces

    def _may_go(self, valid: int, total: int) -> bool:
        return valid < MOST * total or (bool(self.beside) and self.counts[self.body].valid - valid >= ENOUGH_CHARS)

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


def find(body: dom.Element, heading: str | None = None) -> tuple[list[dom.Element], Survey]:
    """The elements that hold the article's text, in document order; empty when nothing below ``body`` reads like text.

    ``heading`` is the article's title: the body is rather beside it than in another part of the page.
    """
    survey = Survey(body, heading)
    if not survey.counts[body].valid:
        return [], survey
    declared = _declared(survey)
    block = step_into(survey, body if declared is None else declared)
    return with_siblings(block, survey), survey


def _declared(survey: Survey) -> dom.Element | None:
    """The one element that is marked as the article's body (schema.org), if it holds text."""
    marked = [node for node in survey.nodes if "articlebody" in (node.get("itemprop") or "").lower()]
    if len(marked) == 1 and survey.counts[marked[0]].valid > DECLARED_SHARE * survey.counts[survey.body].valid:
        return marked[0]
    return None


def step_into(survey: Survey, start: dom.Element) -> dom.Element:
    """Thesis E, algorithm 2.2, that stops before a single paragraph."""
    node, counts = start, survey.counts
    while True:
        children = [(weight(counts[child], child in survey.beside), child) for child in node if child in counts]
        most, largest = max(children, key=lambda pair: pair[0], default=(0.0, node))
        own = counts[node].valid - sum(counts[child].valid for _, child in children)
        if not most or most < ALPHA * (sum(pair[0] for pair in children) + own):
            return node
        there, share = counts[largest], counts[largest].valid / counts[node].valid
        single = there.pieces < 2 and (not len(largest) or largest.tag in PARAGRAPHS)
        if largest.tag == "p" or single or (largest.tag in WHOLE and share < NEARLY_ALL):
            return node
        node = largest


DECLARED_SHARE: Final = 0.2
NEARLY_ALL: Final = 0.9
HEADING_BONUS: Final = 2.0


def weight(counts: Counts, beside: bool = False) -> float:
    """Valid characters, fewer where much of the text is links (teasers), more where the heading stands."""
    if not counts.text:
        return 0.0
    return counts.valid * (1 - counts.linked / counts.text) * (HEADING_BONUS if beside else 1.0)


SIBLING_SHARE: Final = 0.08
SIBLING_CHARS: Final = 40
"""A sibling with running text of this many characters, or this share of the block's, is a part of the body."""

MAX_LINK_SHARE: Final = 0.3
RUNNING_SHARE: Final = 0.7
"""Of a body's characters at least so many stand in sentences."""

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
    return here.valid > RUNNING_SHARE * here.text and (alike or here.pieces > 1)
