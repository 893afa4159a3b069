"""Who wrote it: what the page tells machines, else its byline, else the element that calls itself author, else the first and last lines.

The site itself, the editor on duty (责任编辑) and the photographer (记者某某 摄) are no authors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from newsportal import dom
from newsportal.extractors.bylines import (
    AFTER,
    BY,
    BY_WORD,
    BYLINE,
    CUT,
    DESCRIBED_CHARS,
    EDITOR,
    FIRST_WORD,
    IN_TEXT,
    LABELLED,
    LAST_WORDS,
    LATIN_PARTS,
    MAX_CHINESE_CHARS,
    MAX_NAME_CHARS,
    MAY_BE_BY,
    NOT_NAMES,
    PARTS,
    REPORTER,
    ROLE_FIRST,
)
from newsportal.extractors.called import called, short_text
from newsportal.extractors.metadata import Metadata
from newsportal.extractors.title import SEPARATOR
from newsportal.text import CJK, clean

AUTHOR_META: Final = (
    "author",
    "article:author",
    "og:article:author",
    "dc.creator",
    "sailthru.author",
    "parsely-author",
    "byl",
    "articleauthor",
    "cxenseparse:author",
    "twitter:creator",
)

MAX_BYLINES: Final = 2000
MAX_BYLINE_CHARS: Final = 80
"""Lines looked at, and how long they may be: a byline stands before the middle of a page and is no paragraph."""

MAX_PARTS: Final = 10  # a line of more elements is a navigation

MAX_NAMES: Final = 6
SITE_CHARS: Final = 20
SITE_WORDS: Final = 4
"""Names of sites are not longer."""

WHOLE_NAME: Final = 6  # letters of a site's name that is known in a longer one

ELEMENT_CLASS: Final = re.compile(r"(?<![a-z])(?:authors?|byline)(?:[-_]*(?:names?|list|item|link))*(?![a-z])", re.IGNORECASE)
ELEMENT_LINK: Final = re.compile(r"/(?:authors?|autor|autoren|auteurs?|autores)/[^/?#]+/?(?:[^/?#]+/?)?$")
"""Where a site tells about one author."""

ELEMENT_CHARS: Final = 40
OTHERS: Final = re.compile(r"comment|reply|pinglun|relate|recommend|sidebar|footer|hot|rank|teaser|card", re.IGNORECASE)
COMMENTS: Final = re.compile(r"comment|reply|pinglun|relate|recommend|teaser", re.IGNORECASE)
"""Where other people's names stand; the names that say so themselves are believed in more places."""

ROLE: Final = re.compile(r"role|job|position|title|date|time|desc|bio|avatar|social", re.IGNORECASE)
"""What stands beside a name inside the author's element."""


def author(
    document: dom.Document, meta: Metadata, lines: Sequence[str], language: str | None = None, heading: str | None = None
) -> str | None:
    """The author's name; of several, all, parted by ``; ``.

    An organisation that is named as author counts last, the site itself last of all, and neither on Chinese pages: there the newsroom
    is 来源.
    """
    site = site_names(document, meta)
    chinese = (language or "zh").startswith("zh")
    witnesses: tuple[Callable[[], Iterable[str]], ...] = (
        lambda: _told(document, meta, heading),
        lambda: () if chinese else meta.organisations("author"),
        lambda: _written(document, lines, heading),
        lambda: _marked(document),
    )
    for witness in witnesses:
        found = [name for name in dict.fromkeys(map(_bare, witness())) if is_name(name) and not is_site(name, site)]
        if found:
            return "; ".join(found[:MAX_NAMES])
    if chinese:
        return None
    named = (*meta.people("author"), *meta.organisations("author"), meta.get("author") or "")
    return next((name for name in map(_bare, named) if is_name(name)), None)


def site_names(document: dom.Document, meta: Metadata) -> frozenset[str]:
    """What the site calls itself: in ``meta``, as publisher, behind the page's title; and the first letters of these."""
    title = next((dom.text_of(node) for node in document.root.iter("title")), "")
    told = (meta.get("og:site_name"), meta.get("application-name"), *meta.organisations("publisher"), *SEPARATOR.split(title)[1:])
    ends = (title.rpartition(mark)[2] for mark in "-," if mark in title)
    names = frozenset("".join(name.lower().split()) for name in (*told, *(end for end in ends if len(end) <= SITE_CHARS)) if name)
    short = ("".join(word[0] for word in name.lower().split()) for name in told if name and 2 <= name.count(" ") <= SITE_WORDS)
    return names | frozenset(word for word in short if word.isalpha())


def is_site(name: str, site: Iterable[str]) -> bool:
    """Whether ``name`` is the site's, or the beginning of it (网易 of 网易财经), or begins with it."""
    bare = "".join(name.lower().split())
    return any(other.startswith(bare) or (len(other) >= WHOLE_NAME and bare.startswith(other)) for other in site)


def is_name(name: str) -> bool:
    most = MAX_CHINESE_CHARS if CJK.search(name) else MAX_NAME_CHARS
    return 2 <= len(name) <= most and not NOT_NAMES.search(name)


def _bare(name: str) -> str:
    name = AFTER.sub("", FIRST_WORD.sub("", ROLE_FIRST.sub("", name)))
    return name.partition(",")[0] if len(name) > DESCRIBED_CHARS and not CJK.search(name) else name


def _told(document: dom.Document, meta: Metadata, heading: str | None) -> Iterator[str]:
    """People in JSON-LD, else the first ``meta`` with a name that is not the title and not whom the page calls its editor."""
    people = meta.people("author")
    if people:
        yield from people
        return
    for key in AUTHOR_META:
        name = meta.get(key)
        if name and is_name(name) and name != heading and not (CJK.search(name) and name in _editors(document)):
            yield name
            return


def _editors(document: dom.Document) -> frozenset[str]:
    return frozenset(match["name"] for line in document.lines if "编" in line or "編" in line for match in EDITOR.finditer(line))


def _written(document: dom.Document, lines: Sequence[str], heading: str | None) -> list[str]:
    """Lines that are bylines, from the heading on and then before it; at last the ends of the text."""
    page = document.lines[:MAX_BYLINES]
    start = next((number for number, line in enumerate(page) if heading and line.startswith(heading[:20])), 0)
    labelled: list[tuple[str, bool]] = []
    for line in (*page[start:], *page[:start]):
        if len(line) <= MAX_BYLINE_CHARS and line.count("\t") <= MAX_PARTS and not line.endswith(("。", "！", "？", "”")):
            chinese = not line.isascii() and BYLINE.search(line) is not None
            if chinese or (MAY_BE_BY.search(line.lower()) and BY_WORD.search(line)):
                labelled.append((line, chinese))
    for form in (LABELLED, REPORTER, IN_TEXT):
        for line, chinese in labelled:
            match = (form if chinese else BY).search(line)
            if match:
                return _parted(next(filter(None, match.groups())))
    for line in (*lines[:2], *lines[-2:]):
        match = IN_TEXT.search(line)
        if match:
            return _parted(next(filter(None, match.groups())))
    last = LAST_WORDS.search(lines[-1]) if lines else None
    return _parted(last["names"]) if last else []


def _parted(names: str) -> list[str]:
    names = CUT.sub("", clean(names))
    return (PARTS if CJK.search(names) else LATIN_PARTS).split(names)


def _is_marked(node: dom.Element) -> bool:
    if "author" in ((node.get("rel") or "").lower(), (node.get("itemprop") or "").lower()) or ELEMENT_CLASS.search(node.get("class") or ""):
        return True
    return node.tag == "a" and ELEMENT_LINK.search(node.get("href") or "") is not None


def _marked(document: dom.Document) -> list[str]:
    """The first element that is marked as the author, outside of comments and teasers."""
    for node in called(document, ("uthor", "yline", "AUTHOR", "/aut"), ("class", "rel", "itemprop", "href")):
        if not _is_marked(node):
            continue
        text = FIRST_WORD.sub("", _name_in(node))
        if not 2 <= len(text) <= ELEMENT_CHARS or re.search(r"[\d:：]", text):
            continue
        others = COMMENTS if node.get("itemprop") else OTHERS
        if any(others.search(f"{above.get('class') or ''} {above.get('id') or ''}") for above in node.iterancestors()):
            continue
        return _parted(text)
    return []


def _name_in(node: dom.Element) -> str:
    """The text of the author's element without what its parts tell about the author."""
    if not any(ROLE.search(f"{child.get('class') or ''} {child.get('itemprop') or ''}") for child in node):
        return short_text(node)
    kept = (short_text(child) for child in node if not ROLE.search(f"{child.get('class') or ''} {child.get('itemprop') or ''}"))
    return clean(" ".join((node.text or "", *kept)))
