"""The pages of an article: which page comes next, which are known, where the whole stands on one page.

Own method (issue of papers B "multi-page articles joined" and C "page turning"): a link is believed for two reasons at once. Its
*words* say that it turns the page (「下一页」, 「2」, ``rel=next``), and its *address* continues this page's address (:mod:`page_marks`).
Either alone is wrong too often: ``rel=next`` leads to the next post on half of all blogs, 「下一页」 stands under comments, and
``news_12.html`` → ``news_13.html`` are two articles. What stands among comments or related stories never counts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from newsportal import dom
from newsportal.extractors.hub_urls import Address
from newsportal.extractors.page_labels import Kind, dead, said
from newsportal.extractors.page_marks import Place, Step, last_id, last_name, places, sister_step, step, without_mark
from newsportal.extractors.page_scripts import drawn

MAX_PAGES: Final = 100
"""Pages that are listed at most; a pager that names more is a list's or a trap's."""

MAX_ANCHORS: Final = 5_000
MAX_LABEL: Final = 60
"""Characters of a link's text that are looked at: 「下一页」 may be followed by that page's heading."""

SHORT_KEY: Final = 4
"""Shorter names (``/t/1.html``) stand in too many addresses to sift links by them."""

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

THREAD: Final = re.compile(
    r"^https?://(?:[\w-]+\.)*(?:bbs|forums?|club|tieba|boards?|community)\d?\.|viewthread|showthread|viewtopic|thread-\d|/threads?/|/(?:forums?|bbs)/",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Pager:
    """The pages of an article. ``pages``: this page and those known to follow it, in order, without gaps; this page alone if it is
    the only one or the last. ``whole``: a page that holds all of them. ``first``: the article's address, where this is a later page."""

    pages: tuple[str, ...]
    next: str | None = None
    whole: str | None = None
    first: str | None = None

    @property
    def known(self) -> tuple[str, ...]:
        """``pages`` where there are several, else none: what an extraction of this page alone says of it."""
        return self.pages if len(self.pages) > 1 else ()


@dataclass(frozen=True, slots=True)
class Turn:
    """A link that says of itself that it turns the page. ``number`` as written, for the kind ``number``."""

    kind: Kind
    number: int
    url: str
    node: dom.Element


@dataclass(frozen=True, slots=True)
class Row:
    """Links whose addresses continue this one in one way: page numbers (as a reader counts them) and their addresses."""

    this: int
    pages: dict[int, str]
    first: str | None = None


def find_pager(document: dom.Document) -> Pager:
    """The pager of a page. Never raises; a page without one is its own only page."""
    turns = list(_turns(document))
    known = document.url.startswith(("http://", "https://"))
    own = places(document.url) if known else _guessed(document, turns)
    row = _row(own, turns, trusted=known) or _script_row(document, own)
    url = document.url if known or not own else own[0].form
    if row is None:
        return Pager((url,))
    following: list[str] = []
    while row.this + len(following) + 1 in row.pages and len(following) < MAX_PAGES - 1:
        following.append(row.pages[row.this + len(following) + 1])
    pages = (url, *following)
    whole = _whole(own, turns, pages) if following or row.first else None
    return Pager(pages, following[0] if following else None, whole, row.first)


def is_thread(url: str) -> bool:
    """Whether an address is that of a forum's thread: its further pages are other people's posts, not the rest of an article."""
    return THREAD.search(url) is not None


# links


def _turns(document: dom.Document) -> Iterator[Turn]:
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
        url = _joined(document, href)
        if url is not None:
            yield Turn(kind, page, url, node)


def _key(url: str) -> str | None:
    """What an address must hold, or be relative, to continue ``url``: the shortest last name of its readings."""
    own = places(url)
    key = min((last_id(place.stem) or last_name(place.stem) for place in own), key=len, default="")
    return key if len(key) >= SHORT_KEY and key.isascii() else None


def _joined(document: dom.Document, href: str) -> str | None:
    base = document.base
    return dom.join(base if base.startswith("http") else NOWHERE, href)


def _said(node: dom.Element) -> tuple[Kind | None, int]:
    """What a link says: in words, else by its ``rel``."""
    if node.tag != "link":
        text = dom.text_of(node) if len(node) else (node.text or "").strip()
        kind, page = said((text or _unwritten(node))[:MAX_LABEL])
        if kind is not None:
            return kind, page
    return ("declared" if "next" in (node.get("rel") or "").lower().split() else None), 0


def _unwritten(node: dom.Element) -> str:
    """What a link without text is called: an arrow that is drawn."""
    image = next(node.iter("img"), None) if len(node) else None
    return node.get("title") or node.get("aria-label") or (image.get("alt") if image is not None else "") or ""


def _beside(node: dom.Element) -> bool:
    """Whether a link stands among comments or related stories."""
    above: dom.Element | None = node
    for _ in range(ASIDE_LEVELS):
        if above is None or above.tag in ("body", "html", "article", "main"):
            return False
        if ASIDE.search(f"{above.get('class') or ''} {above.get('id') or ''}"):
            return True
        above = above.getparent()
    return False


def _under_comments(node: dom.Element) -> bool:
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


# rows


def _row(own: Sequence[Place], turns: Sequence[Turn], *, trusted: bool) -> Row | None:
    """The row that turns this page's article, if there is one."""
    groups: dict[int | None, list[tuple[Turn, Step]]] = defaultdict(list)
    for turn in turns:
        if turn.kind != "whole":
            found = step(own, turn.url) or (sister_step(own, turn.url) if turn.kind == "next" else None)
            if found and not _beside(turn.node):
                groups[found.here].append((turn, found))
    ranked = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0] is not None))
    rows = (_read(here, steps) for here, steps in ranked)
    return next((row for row in rows if row is not None), None)


def _read(here: int | None, steps: list[tuple[Turn, Step]]) -> Row | None:
    """The pages that the links of one row name, counted as a reader counts; ``None`` where the row is no pager of this article."""
    numbered = [(turn.number, found) for turn, found in steps if turn.kind == "number"]
    shift = _shift(here, numbered, [found for turn, found in steps if turn.kind != "number"])
    this = 1 if here is None else here + shift
    pages: dict[int, str] = {}
    forms: dict[str, list[int]] = defaultdict(list)
    proven = False
    for turn, found in steps:
        page = 1 if found.there is None else found.there + shift
        if turn.kind == "number":
            if turn.number != page:
                continue
            proven = True
        elif page != this + 1:
            continue
        elif here is None or turn.kind == "next":
            proven = True
        pages.setdefault(page, turn.url)
        forms[found.form].append(page)
    if not proven or this < 1 or ("?" in next(iter(forms)) and _under_comments(steps[0][0].node)):
        return None
    for form, known in forms.items():
        for page in range(min(known), min(max(known), MAX_PAGES) + 1):
            if page > 1:
                pages.setdefault(page, form.replace("{}", str(page - shift), 1))
    return Row(this, pages, pages.get(1) if this > 1 else None)


def _shift(here: int | None, numbered: list[tuple[int, Step]], others: list[Step]) -> int:
    """What must be added to the number in an address to get the page's: 0, or 1 where addresses count from 0 (page 2 is ``_1``)."""
    said = [number - found.there for number, found in numbered if found.there is not None]
    if said:
        return 1 if said.count(1) > said.count(0) else 0
    from_zero = here is None and any(found.there == 1 for found in others) and all(found.there in (0, 1) for found in others)
    return 1 if from_zero or here == 0 else 0


def _script_row(document: dom.Document, own: Sequence[Place]) -> Row | None:
    for pager in drawn(document):
        addresses = {index: _joined(document, pager.address(index)) for index in range(min(pager.count, MAX_PAGES))}
        pages = {index + 1: url for index, url in addresses.items() if url and (not own or _same(own, url))}
        if pager.current + 2 in pages:
            return Row(pager.current + 1, pages, pages.get(1) if pager.current else None)
        if pager.current and 1 in pages:
            return Row(pager.current + 1, pages, pages[1])
    return None


def _same(own: Sequence[Place], url: str) -> bool:
    stems = {place.stem for place in own}
    return any(place.stem in stems for place in places(url))


# the rest


def _whole(own: Sequence[Place], turns: Sequence[Turn], pages: Sequence[str]) -> str | None:
    """A link to all on one page: its address holds the article's own name, on the same site."""
    for turn in turns:
        if turn.kind == "whole" and turn.url not in pages and not _beside(turn.node):
            domain = Address(turn.url).domain
            for place in own:
                name = last_name(place.stem)
                if Address(f"http://{place.stem}").domain == domain and len(name) >= SHORT_KEY and name in turn.url:
                    return turn.url
    return None


def _guessed(document: dom.Document, turns: Sequence[Turn]) -> tuple[Place, ...]:
    """Where a page lies whose address is not known: what it calls itself, else what its own pager continues."""
    for node in document.root.iter("link"):
        if "canonical" in (node.get("rel") or "").lower().split():
            found = places(dom.link_of(node, document.base) or "")
            if found:
                return found
    for turn in turns:
        for place in places(turn.url):
            if turn.kind in ("next", "number") and place.number in (1, 2) and last_id(place.stem) and not _beside(turn.node):
                return (Place(place.stem, None, without_mark(place.form)),)
    return ()
