"""The links of a page that say they turn it, and what they stand among."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from newsportal import dom
from newsportal.extractors.page_labels import Kind, dead, said
from newsportal.extractors.page_marks import last_id, last_name, places

MAX_ANCHORS: Final = 5_000
MAX_LABEL: Final = 60
"""Characters of a link's text that are looked at: 「下一页」 may be followed by that page's heading."""

MAX_INSIDE: Final = 30  # elements within a link; those of pagers hold a few
SHORT_KEY: Final = 4  # shorter names (``/t/1.html``) stand in too many addresses to sift links by them

NOWHERE: Final = "http://page.invalid/"
"""Stands for the address of a page that has none, so that its relative links can be joined; RFC 6761 keeps the name free."""

ASIDE: Final = re.compile(
    r"(?:^|[\s_-])(?:js-)?(?:comments?|commentlist|comment-?(?:section|list|area|box|page)|cmts?|repl(?:y|ies)|pinglun|liuyan|disqus|respond|related|"
    r"recommend(?:ed|ation)?s?|xiangguan|tuijian|calendar|rili)(?:$|[\s_-])",
    re.IGNORECASE,
)
"""Class and id of what stands beside an article."""

ASIDE_LEVELS: Final = 6
COMMENTS: Final = re.compile(
    r"(?:评论|評論|留言|跟帖|回复|回覆|コメント|댓글|comment|repl(?:y|ies)|discussion|отзыв|комментари|coment[aá]rio|commentaire)",
    re.IGNORECASE,
)
HEADING: Final = 40
"""Characters of what stands above a pager that make it a heading rather than the article's text."""

COMMENT_LINK: Final = re.compile(r"#\w*(?:comment|reply|respond|cmt|pinglun)|[?&](?:cpage|comment\w*|replytocom)=", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Turn:
    """A link that says of itself that it turns the page. ``number`` as written, for the kind ``number``."""

    kind: Kind
    number: int
    url: str
    node: dom.Element


def turns(document: dom.Document) -> Iterator[Turn]:
    """The links that say they turn the page. Few links pass the first two looks, which are cheap: most pages have hundreds."""
    key = _key(document.url)
    for number, node in enumerate(document.root.iter("a", "link", "option")):
        href = node.get("href") or node.get("value")
        if not href or number > MAX_ANCHORS:
            continue
        if key is not None and key not in href and "/" in href and not href.startswith(("?", "./")):
            continue
        kind, page = _said(node)
        if kind is None or COMMENT_LINK.search(href) or dead(node):
            continue
        url = joined(document, href)
        if url is not None:
            yield Turn(kind, page, url, node)


def _key(url: str) -> str | None:
    """What an address must hold, or be relative, to continue ``url``: the shortest last name of its readings."""
    own = places(url)
    key = min((last_id(place.stem) or last_name(place.stem) for place in own), key=len, default="")
    return key if len(key) >= SHORT_KEY and key.isascii() else None


def joined(document: dom.Document, href: str) -> str | None:
    base = document.base
    return dom.join(base if base.startswith("http") else NOWHERE, href)


def _said(node: dom.Element) -> tuple[Kind | None, int]:
    """What a link says: in words, else by its ``rel``."""
    head = node.tag == "link"
    if not head:
        kind, page = said((written(node) or _unwritten(node))[:MAX_LABEL])
        if kind is not None:
            return kind, page
    rel = node.get("rel")
    if not rel:
        return None, 0
    words = rel.lower().split()
    return ("declared" if "next" in words else "canonical" if head and "canonical" in words else None), 0


def written(node: dom.Element) -> str:
    """The text of a link, none for one that holds half a page: so broken markup costs no time."""
    if not len(node):
        text = node.text
        return text.strip() if text else ""
    return dom.text_of(node) if sum(1 for _ in islice(node.iterdescendants(), MAX_INSIDE + 1)) <= MAX_INSIDE else ""


def _unwritten(node: dom.Element) -> str:
    """What a link without text is called: an arrow that is drawn."""
    image = next(node.iter("img"), None) if len(node) else None
    return node.get("title") or node.get("aria-label") or (image.get("alt") if image is not None else "") or ""


def beside(node: dom.Element) -> bool:
    """Whether a link stands among comments or related stories."""
    above: dom.Element | None = node
    for _ in range(ASIDE_LEVELS):
        if above is None or above.tag in ("body", "html", "article", "main"):
            return False
        if ASIDE.search(f"{above.get('class') or ''} {above.get('id') or ''}"):
            return True
        above = above.getparent()
    return False


def under_comments(node: dom.Element) -> bool:
    """Whether a heading or a form of comments stands right above: their pagers continue the article's address with a parameter."""
    above: dom.Element | None = node
    for _ in range(ASIDE_LEVELS):
        if above is None or above.tag in ("body", "html"):
            return False
        before = above.getprevious()
        for _ in range(ASIDE_LEVELS):
            if before is None:
                break
            text = dom.text_of(before)
            if len(text) > HEADING * 5:
                return False  # the text that is paged
            if (len(text) <= HEADING and COMMENTS.search(text)) or next(before.iter("textarea"), None) is not None:
                return True
            before = before.getprevious()
        above = above.getparent()
    return False
