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

SEPARATOR: Final = re.compile(r"\s*(?:[_|｜–—»›·•]|--+|(?<=\s)[-:](?=\s)|(?<=[^\x00-\x7f])-|-(?=[^\x00-\x7f])|::)\s*")
"""What stands between a title and the site's name. A hyphen counts between spaces or beside a Chinese character."""

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
    page = (_first_text(document, "title") or "")[:MAX_TITLE_CHARS]
    named = next((found for found in map(meta.get, META_TITLES) if found), None) or meta.article("headline")
    told = link.title if link else None
    witnesses = [letters(text) for text in (page, named, told) if text]
    headings = [heading for heading in _headings(document) if any(_confirms(letters(heading), witness) for witness in witnesses)]
    if headings:
        return headings[0]
    for padded in (named, page, told):
        if padded:
            return without_site(padded, meta.get("og:site_name")) or padded
    return _first_text(document, "h1")


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


def without_site(title: str, site: str | None = None) -> str:
    """``title`` without the names of site and section at its end (rarely its start)."""
    title = clean(title)
    if site and len(site) > 1 and title.endswith(site) and title != site:
        title = title[: -len(site)].rstrip(" _|｜–—»›·•-:")
    parts = [part for part in SEPARATOR.split(title) if part]
    if len(parts) < 2:
        return title
    longest = max(parts, key=len)
    if len(longest) >= 2 * len(parts[0]) and parts[0] != longest:
        return longest
    end = title.index(parts[0]) + len(parts[0])
    for part in parts[1:]:
        place = title.index(part, end)
        if len(part) < 8 or len(part) * 2 < len(parts[0]):
            break
        end = place + len(part)
    return title[:end].strip()
