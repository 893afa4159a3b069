"""Classify a forum page and find its links: boards, listed threads, and its next page.

By the engines' URL schemes (:mod:`addresses`), else by the shape of rows (:mod:`rows`); never for a single site. See
docs/algorithms/forum_ways.md.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Final, Literal

from newsportal.extractors.fields.date import default_zone
from newsportal.extractors.forum.addresses import Address, Kind, host_of, key_of, parse_address
from newsportal.extractors.forum.rows import read_row, rows_of, sort_by_shape
from newsportal.extractors.lists import hub
from newsportal.extractors.lists.page_turns import NEXT
from newsportal.extractors.lists.pagination import find_pager
from newsportal.text import clean, dom

MAX_LINKS: Final = 5_000
MAX_TITLE: Final = 300
ZONE_CHARS: Final = 20_000  # of the page, by whose characters dates without a zone are read
LOGIN_WALL: Final = re.compile(
    r"(?:尚未|还没有?|沒有|请先|需要|必须).{0,8}登[录陆錄入]|登[录陆錄入].{0,10}(?:才能|才可|后|後|查看|浏览)|没有权限|無權限|权限不足"
    r"|(?:must|need to|required to|have to) (?:be )?(?:registered|log(?:ged)?[ -]?in|sign(?:ed)?[ -]?in)|not logged in"
    r"|requires? you to be (?:registered|logged)|do not have (?:permission|access)|not authori[sz]ed to (?:view|read)",
    re.IGNORECASE,
)  # messages that only members may read a page
# Suffix of a further page's URL, after the first page's, in unknown URL schemes.
LATER_PAGE: Final = re.compile(r"[/_?&-](?:(?:page|p|pn|start)[=/-]?)?\d+(?:\.\w+)?$")
MAX_WALL: Final = 1_500  # visible characters: a login wall is short, a thread that complains about one is longer


@dataclass(frozen=True, slots=True)
class Listed:
    """A thread or board in a list. ``last``: the thread's latest time, with a precision of ``precision`` seconds."""

    url: str
    key: str
    title: str
    replies: int | None = None
    last: datetime | None = None
    precision: float = 86_400.0
    sticky: bool = False


@dataclass(frozen=True, slots=True)
class ForumPage:
    """``key`` identifies the board or thread, ``place`` is the page number or offset in the URL (0: the first)."""

    kind: Kind
    key: str | None = None
    place: int = 0
    boards: tuple[Listed, ...] = ()
    threads: tuple[Listed, ...] = ()
    next: str | None = None


@dataclass(frozen=True, slots=True)
class Anchor:
    node: dom.Element
    at: Address
    text: str


def classify(document: dom.Document, now: datetime) -> ForumPage:
    """Return the page's kind and links. Never raises."""
    current = parse_address(document.url)
    anchors = list(_anchors(document))
    if current.kind in ("thread", "post"):
        return ForumPage("thread", current.key, current.place, next=_next(document, current, anchors))
    if not any(anchor.at.kind in ("board", "thread") and anchor.at.key != current.key for anchor in anchors):
        # classify the same links by their rows instead of their URLs
        open_ = [(anchor.node, anchor.at.url, anchor.text) for anchor in anchors if anchor.at.kind == "other"]
        kinds = sort_by_shape(open_)
        anchors = [replace(anchor, at=_by_shape(anchor, kinds)) for anchor in anchors]
    found: dict[str, Listed] = {}
    for anchor in anchors:
        at = anchor.at
        if at.kind == "board" and at.key and at.key != current.key and at.place == 0 and anchor.text and not anchor.text.isdecimal():
            found.setdefault(at.key, Listed(at.url, at.key, anchor.text))
    boards, threads = tuple(found.values()), _threads(anchors, now, default_zone(document.html[:ZONE_CHARS]))
    following = _next(document, current, anchors)
    if current.kind == "board":
        kind: Kind = "board" if threads or boards or not is_login_wall(document) else "login"
        return ForumPage(kind, current.key, current.place, boards, threads, following)
    # a box of the latest threads on a front page lists titles only, without activity
    bare = sum(thread.replies is None and thread.last is None for thread in threads)
    if len(threads) > len(boards) and not (boards and bare > len(threads) / 2):  # a list of boards names at most one thread per board
        return ForumPage("board", key_of(document.url), 0, boards, threads, following)
    if boards:
        return ForumPage("front", boards=boards)
    kind = "login" if is_login_wall(document) else current.kind if current.kind in ("member", "search", "calendar", "login") else "other"
    return ForumPage(kind, next=following)


def next_of_thread(document: dom.Document) -> str | None:
    """Return the URL of a thread's next page, in any URL scheme; ``None`` on the last."""
    return _next(document, parse_address(document.url), list(_anchors(document)))


def is_login_wall(document: dom.Document) -> bool:
    """Return whether the page is a login wall: it says that only members may read it, and little else."""
    text = " ".join(document.lines) or " ".join(line for node in document.css("noscript") for line in dom.lines_of(node))
    password = any((node.get("type") or "").lower() == "password" for node in document.root.iter("input"))
    return len(text) <= MAX_WALL and password and LOGIN_WALL.search(text) is not None


def _anchors(document: dom.Document) -> Iterator[Anchor]:
    host = host_of(document.url)
    for number, node in enumerate(document.root.iter("a")):
        if number >= MAX_LINKS:
            return
        url = dom.link_of(node, document.base)
        if url and host_of(url) == host:
            yield Anchor(node, parse_address(url), clean(node.text_content())[:MAX_TITLE])


def _by_shape(anchor: Anchor, kinds: Mapping[str, Literal["board", "thread"]]) -> Address:
    url = anchor.at.url
    if url in kinds:
        return Address(kinds[url], url, key_of(url))
    first = LATER_PAGE.sub("", url) if anchor.text.isdecimal() else url  # 「2 3 4」 after a thread's title
    return Address(kinds[first], url, key_of(first), int(anchor.text[:6])) if first in kinds else anchor.at


def _threads(anchors: Sequence[Anchor], now: datetime, zone: tzinfo) -> tuple[Listed, ...]:
    thread_links = [anchor for anchor in anchors if anchor.at.kind == "thread" and anchor.at.key]
    titles: dict[str, Anchor] = {}
    pagers: dict[str, list[dom.Element]] = {}
    for anchor in thread_links:
        key = anchor.at.key or ""
        if anchor.at.place:
            pagers.setdefault(key, []).append(anchor.node)
        elif not re.fullmatch(r"[\W\d_]*", anchor.text) and len(anchor.text) > len(titles[key].text if key in titles else ""):
            titles[key] = anchor
    rows = rows_of((anchor.node, anchor.at.key or "") for anchor in thread_links if anchor.at.key in titles)
    return tuple(
        Listed(anchor.at.url, key, anchor.text, *read_row(rows[key], anchor.node, pagers.get(key, ()), now, zone))
        for key, anchor in titles.items()
    )


def _next(document: dom.Document, current: Address, anchors: Sequence[Anchor]) -> str | None:
    """Return the next page: with the next higher number if the URL scheme is known, else by the page's pager."""
    if current.key:
        further = {anchor.at.place: anchor.at.url for anchor in anchors if anchor.at.key == current.key and anchor.at.place > current.place}
        return further[min(further)] if further else None
    labelled = [anchor.at.url for anchor in anchors if NEXT.match(anchor.text) or "next" in (anchor.node.get("rel") or "").lower().split()]
    candidates = (*labelled[:1], find_pager(document).next, *hub.next_pages(document)[:1])
    return next((parse_address(url).url for url in candidates if url and parse_address(url).url != current.url), None)
