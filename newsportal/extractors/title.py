"""The title of an article: the thesis's rule, and ours that knows what titles of pages are padded with.

Thesis E, 4.3.2.2: the longest common substring of ``title`` and ``h1``; ``title`` where that is shorter than 5 characters;
``h1`` where there is no ``title``. Ours asks what the page calls its article in four places (heading, meta, ``title`` without the
site's name, what the link said) and takes the heading that the others confirm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

from newsportal import dom
from newsportal.extractors.metadata import Metadata
from newsportal.items import Link
from newsportal.text import clean, letters

SHORTEST_COMMON: Final = 5
"""Thesis E, 4.3.2.2, step 3."""

MAX_TITLE_CHARS: Final = 300
"""Longer "titles" are paragraphs or padding; the common substring is quadratic in them."""

SEPARATOR: Final = re.compile(
    r"\s*[_|｜]+\s*|\s+(?:[-–—·•»›:]|--|::)\s+|\s*(?:--+|——+)\s*|(?<=[^\x00-\x7f])-(?=[^\x00-\x7f])|-(?=[\u4e00-\u9fff]{2,8}[网網]$)"
)
"""What stands between a title and the site's name. A hyphen or point counts between spaces, a hyphen between Chinese characters."""

SITE_FIRST: Final = re.compile(r"^[\w\s]{2,12}?(?:网|網|新闻|新聞|日报|日報|在线|線上)[:：]\s*(?=\S{4})")
"""「某某新闻网：」 before the title."""

SITE_LAST: Final = re.compile(
    r"[-_|｜–—]\s*[^-_|｜–—]{0,16}(?:网|網|新闻|新聞|日报|日報|在线|線上|频道|頻道|online|news|\.com|\.cn)\s*$", re.IGNORECASE
)

META_TITLES: Final = ("og:title", "twitter:title", "dc.title", "articletitle", "headline", "sailthru.title", "parsely-title", "title")

CONFIRMED: Final = 0.6
"""Share of a heading's letters that ``title`` must hold, in order, for it to be the article's heading."""


def thesis_title(document: dom.Document) -> str | None:
    """The rule of the thesis; ``None`` for a page with neither element."""
    title, heading = _first_text(document, "title"), _first_text(document, "h1")
    if not title or not heading:
        return title or heading
    common = _common(title[:MAX_TITLE_CHARS], heading[:MAX_TITLE_CHARS]).strip()
    return common if len(common) >= SHORTEST_COMMON else title


def _common(first: str, second: str) -> str:
    match = SequenceMatcher(None, first, second, autojunk=False).find_longest_match()
    return first[match.a : match.a + match.size]


def _first_text(document: dom.Document, tag: str) -> str | None:
    for node in document.root.iter(tag):
        text = dom.text_of(node)
        if text:
            return text
    return None


def best_title(document: dom.Document, meta: Metadata, link: Link | None = None) -> str | None:
    """The title an editor would write down, or ``None``."""
    site = meta.get("og:site_name")
    page = without_site((_first_text(document, "title") or "")[:MAX_TITLE_CHARS], site)
    named = next((found for found in map(meta.get, META_TITLES) if found), None) or meta.article("headline")
    told = link.title if link else None
    witnesses = [letters(text) for text in (page, without_site(named or "", site), told) if text]
    for heading in _headings(document):
        if any(_confirms(letters(heading), witness) for witness in witnesses):
            return SITE_FIRST.sub("", heading)
    if named and SITE_LAST.search(named):
        named = without_site(named, site)
    return next((SITE_FIRST.sub("", found) for found in (named, page, told) if found), None) or _first_text(document, "h1")


def _headings(document: dom.Document) -> Iterator[str]:
    """Texts that may be the article's heading, the likeliest first."""
    seen: set[str] = set()
    for tag in ("h1", "h2", "h3"):
        for number, node in enumerate(document.root.iter(tag)):
            if number > 20:
                break
            text = dom.text_of(node)
            if 2 <= len(text) <= MAX_TITLE_CHARS and text not in seen:
                seen.add(text)
                yield text


def _confirms(heading: str, witness: str) -> bool:
    """Whether ``witness`` holds the heading at its start or nearly all of it: a site's name stands at the end of ``title``."""
    if len(heading) < 4 or not witness:
        return False
    if witness.startswith(heading):
        return True
    return len(_common(witness, heading)) >= CONFIRMED * len(heading) and len(heading) >= 0.3 * len(witness)


FEW: Final = 5
"""A title before the first separator has at least so many characters (twice that in Latin letters), else the longest part is taken."""


def without_site(title: str, site: str | None = None) -> str:
    """``title`` without the names of site and section at its end (rarely its start)."""
    title = clean(title)
    if site and len(site) > 1 and title.endswith(site) and title != site:
        title = title[: -len(site)].rstrip(" _|｜–—»›·•-:")
    parts = [part for part in SEPARATOR.split(title) if part]
    if len(parts) < 2:
        return title.strip(" _|｜-")
    first, longest = parts[0], max(parts, key=len)
    enough = FEW if not first.isascii() else 2 * FEW
    return first if len(first) >= enough and 3 * len(first) > len(longest) else longest
