"""What elements say of themselves: class and id names by what they usually mean, and tags that mean something. One bit a meaning."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

MEANINGS: Final[dict[str, str]] = {
    "comments": r"comment|cmt|pinglun|disqus|respond|repl(?:y|ies)|discuss",
    "related": r"relat|recommend|tuijian|xiangguan|teaser|promo|more|popular|trending|latest|hot|rank|most|readnext|carousel",
    "legal": r"foot|copyright|disclaimer|legal|cookie|consent|gdpr|notice|statement",
    "navigation": r"nav|menu|crumb|header|topbar|toolbar|login|signup|search|skip",
    "sharing": r"share|social|jiathis|addthis|weixin|wechat|qrcode|follow|subscri|newsletter",
    "side": r"side(?:bar)?(?![a-z])|aside|widget|banner|advert|(?<![a-z])ads?(?![a-z])|sponsor|outbrain|taboola|guanggao|popup|modal",
    "author": r"author|byline|bio(?![a-z])|profile|writer",
    "information": r"meta|info|source|date|time|tags?(?![a-z])|keyword|(?<![a-z])cat(?:egory)?",
    "picture": r"caption|credit|figure|photo|image|gallery|media|video",
    "heading": r"title|headline|heading|subtitle|dek|standfirst|summary|lead|abstract|intro|description|excerpt",
    "body": r"(?<![a-z])(?:article|content|body|main|text|story|post|entry|detail|zoom|neirong|zhengwen|paragraph|rich|artical|txt|prose)"
    r"(?![a-z])",
    "item": r"(?<![a-z])list|item|card|grid|(?<![a-z])row|tile|feed|thumb",
}
"""What names mean, by the words in them; the place in this table is the bit."""

_PATTERNS: Final = tuple(re.compile(pattern) for pattern in MEANINGS.values())
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ANY: Final = re.compile("|".join(MEANINGS.values()))
MAX_NAME_CHARS: Final = 200  # longer lists of classes are style sheets written out
FIRST_TAG_BIT: Final = 16
TAG_MASK: Final[dict[str, int]] = {
    "header": 1 << 16,
    "footer": 1 << 17,
    "address": 1 << 17,
    "nav": 1 << 18,
    "aside": 1 << 19,
    "dialog": 1 << 19,
    "menu": 1 << 18,
    "form": 1 << 20,
    "figure": 1 << 21,
    "table": 1 << 22,
    "ul": 1 << 23,
    "ol": 1 << 23,
    "dl": 1 << 23,
    "blockquote": 1 << 24,
    "article": 1 << 25,
    "main": 1 << 26,
}
HIDDEN: Final = 1 << 27
ARTICLE_BODY: Final = 1 << 28
"""Marked as the article's body (schema.org)."""

LAST_TAG_BIT: Final = 28
TAG_NAMES: Final = (
    *("in_header", "in_footer", "in_nav", "in_aside", "in_form", "in_figure", "in_table", "in_list", "in_blockquote"),
    *("in_article", "in_main", "in_hidden", "in_article_body"),
)
"""Bits 16 to 28 by name."""

ASIDE: Final = sum(1 << bit for bit in range(8)) | 1 << 17 | 1 << 18 | 1 << 19 | HIDDEN
BODY: Final = 1 << list(MEANINGS).index("body")
"""Masks: says that it is beside the body; says that it is the body."""


@lru_cache(maxsize=16384)
def named(name: str) -> int:
    words = _CAMEL.sub("-", name[:MAX_NAME_CHARS]).lower()
    if _ANY.search(words) is None:
        return 0
    return sum(1 << bit for bit, pattern in enumerate(_PATTERNS) if pattern.search(words))


def says_aside(mask: int) -> bool:
    """Navigation, comments, sharing, hidden boxes and the like, by what the element says of itself."""
    return bool(mask & ASIDE) and not (mask & BODY and not mask & (HIDDEN | 7 << 17))


def say_aside(masks: NDArray[np.int64]) -> NDArray[np.bool_]:
    """:func:`says_aside` for many."""
    beside: NDArray[np.bool_] = (masks & ASIDE != 0) & ((masks & BODY == 0) | (masks & (HIDDEN | 7 << 17) != 0))
    return beside
