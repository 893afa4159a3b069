"""Meanings of class and id names as bit masks, and a search for elements by such names."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, Final

from newsportal.text import clean, dom

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
}  # meanings of names, by regular expression; the index in this table is the bit
_PATTERNS: Final = tuple(re.compile(pattern) for pattern in MEANINGS.values())
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD: Final = re.compile("[a-z]+")  # no pattern spans words, and words repeat more often than names, which helps the cache
_ANY: Final = re.compile("|".join(MEANINGS.values()))
MAX_NAME_CHARS: Final = 200  # longer class attributes are generated utility classes
FIRST_TAG_BIT: Final = 16
_TAGS: Final = "header,footer address,nav menu,aside dialog,form,figure,table,ul ol dl,blockquote,article,main".split(",")
TAG_MASK: Final[dict[str, int]] = {tag: 1 << bit for bit, tags in enumerate(_TAGS, FIRST_TAG_BIT) for tag in tags.split()}
HIDDEN: Final = 1 << 27
ARTICLE_BODY: Final = 1 << 28  # Marked as the article's body (schema.org)
LAST_TAG_BIT: Final = 28
TAG_NAMES: Final = (
    *("in_header", "in_footer", "in_nav", "in_aside", "in_form", "in_figure", "in_table", "in_list", "in_blockquote"),
    *("in_article", "in_main", "in_hidden", "in_article_body"),
)  # Names of bits 16 to 28
ASIDE_MASK: Final = sum(1 << bit for bit in range(8)) | 1 << 17 | 1 << 18 | 1 << 19 | HIDDEN
BODY_MASK: Final = 1 << list(MEANINGS).index("body")  # Masks: names of asides; names of the body
TAG: Final = re.compile(r"<([a-z][^\s/>]*)")
MAX_TAG_CHARS: Final = 300
MAX_ATTEMPTS: Final = 200
MAX_SHORT_CHARS: Final = 4000
MAX_SHORT_PIECES: Final = 600  # Limit for a short text, counting white space and elements in its markup


@lru_cache(maxsize=16384)
def meanings_of(name: str) -> int:
    """Return the meanings of a name, or of several separated by spaces: the bits of all words in them. Cached by word."""
    name, mask = name[:MAX_NAME_CHARS], 0
    for word in _WORD.findall(name if name.islower() else _CAMEL.sub("-", name).lower()):
        mask |= _meaning(word)
    return mask


@lru_cache(maxsize=16384)
def _meaning(word: str) -> int:
    return sum(1 << bit for bit, pattern in enumerate(_PATTERNS) if pattern.search(word)) if _ANY.search(word) else 0


def is_aside(mask: Any) -> Any:
    """Return whether an element is named navigation, comments, sharing or the like, or is hidden. ``mask``: an integer or an array."""
    return (mask & ASIDE_MASK != 0) & ((mask & BODY_MASK == 0) | (mask & (HIDDEN | 7 << 17) != 0))


def find_tags(html: str, words: Sequence[str], attributes: Sequence[str]) -> Mapping[str, Collection[str]] | None:
    """Return tags (no ``meta``, ``link``) that may contain one of ``words``, and ``attributes`` before it; a superset; ``None``: any."""
    tags: defaultdict[str, set[str]] = defaultdict(set)
    for word in words:
        place, tries = html.find(word), 0
        while place >= 0:
            tries += 1
            start = html.rfind("<", max(0, place - MAX_TAG_CHARS), place)
            if tries > MAX_ATTEMPTS or start < 0:
                return None  # too many matches, or a tag too long to search
            before = html[start:place].lower()
            tag = TAG.match(before)
            if tag and ">" not in before and tag[1] not in ("meta", "link"):
                tags[tag[1]].update(attribute for attribute in attributes if f"{attribute}=" in before)
            place = html.find(word, place + 1)
    return {tag: found for tag, found in tags.items() if found}


def find_elements(document: dom.Document, words: Sequence[str], attributes: Sequence[str] = ("class", "id")) -> Iterator[dom.Element]:
    """Yield the elements with one of ``words`` in one of ``attributes``, in document order."""
    tags = find_tags(document.html, words, attributes)
    if tags is None or tags:
        pattern = re.compile("|".join(map(re.escape, words)))
        for node in document.root.iter(*(tags or ())):
            for attribute in attributes if tags is None else tags[node.tag]:
                if (value := node.get(attribute)) and pattern.search(value):
                    yield node
                    break


def ancestors(node: dom.Element, levels: int, stop: Collection[str] = ("body", "html")) -> Iterator[dom.Element]:
    """Yield at most ``levels`` ancestors of ``node``, innermost first, up to the first with a tag in ``stop``."""
    for above in islice(node.iterancestors(), levels):
        if above.tag in stop:
            return
        yield above


def short_text(node: dom.Element, max_chars: int = MAX_SHORT_CHARS) -> str:
    """Return the visible text below ``node`` on one line, or ``""`` if it is longer than ``max_chars``. Stops early."""
    parts: list[str] = []
    size = 0
    for kind, text in dom.text_pieces(node):
        parts.append(text if kind == "text" else " ")
        size += len(text)
        if size > max_chars or len(parts) > MAX_SHORT_PIECES:
            return ""
    return clean("".join(parts))
