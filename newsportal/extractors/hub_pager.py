"""The further pages of a list page: ``rel=next``, 「下一页」 and its kin, and rows of page numbers.

Numbers are no pager by themselves (a board writes 「2 3 4」 behind every long thread), so a row of them counts only where the page
says so: its addresses continue the page's own address, it stands in an element named as a pager, or a next link shares its form.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field

from newsportal import dom
from newsportal.extractors.hub_urls import MAX_URL_CHARS, Address
from newsportal.extractors.page_labels import NEXT, dead

MAX_PAGES = 20  # more pages of one list are history, not news
MAX_NUMBER = 9_999
MAX_ANCHORS = 5_000
PAGER_NAME = re.compile(r"pag(?:e|er|ination|ebar|enav|elist|es|ing)?(?![a-z])|fenye|\bpg\b|pagination|navigation", re.IGNORECASE)
PAGER_LEVELS = 4
MIN_ROW = 2
MIN_STEP = 5  # entries a page, where addresses count entries


@dataclass(slots=True)
class Row:
    """Numbered links of one address form. ``pages`` maps a page's number to its URL."""

    pages: dict[int, str] = field(default_factory=dict)
    named: bool = False


def next_pages(document: dom.Document) -> list[str]:
    """URLs of further pages of this list on the same site: the next page first, then the numbered ones; at most ``MAX_PAGES``.

    Empty for a list without a pager. The page itself is never among them, so a pager that points at itself ends there.
    """
    own = Address(document.url)
    rows: dict[str, Row] = defaultdict(Row)
    nexts = _declared(document)
    for node in list(document.root.iter("a"))[:MAX_ANCHORS]:
        text = dom.text_of(node)[:40]
        number = text.strip("[]【】()· ")
        further = bool(NEXT.match(text)) or "next" in (node.get("rel") or "").lower().split()
        url = dom.link_of(node, document.base) if further or number.isdecimal() else None  # few are worth joining
        if url is None:
            continue
        if further:
            nexts += [url] if not dead(node) else []
        else:
            _note(rows, int(number[:6]), url, node)
    row = _pager(rows, nexts, own)
    found = dict.fromkeys([*nexts, *(row.pages[number] for number in sorted(row.pages))])
    return [url for url in found if _further(url, own)][:MAX_PAGES]


def _declared(document: dom.Document) -> list[str]:
    """``<link rel="next">`` of the head."""
    found = (dom.link_of(node, document.base) for node in document.root.iter("link") if (node.get("rel") or "").lower() == "next")
    return [url for url in found if url]


def _further(url: str, own: Address) -> bool:
    address = Address(url)
    return address.domain == own.domain and address.same_page.rstrip("/") != own.same_page.rstrip("/")


def _note(rows: dict[str, Row], number: int, url: str, node: dom.Element) -> None:
    form = _form(url, number) if 0 < number <= MAX_NUMBER else None
    if form:
        row = rows[form]
        row.pages.setdefault(number, url)
        row.named = row.named or _named(node)


def _form(url: str, number: int) -> str | None:
    """``url`` with the page's number (or its offset: ``pn=20`` behind 「3」) put aside; ``None`` when the number is not in it."""
    runs = [run for run in re.finditer(r"\d+", url[:MAX_URL_CHARS]) if len(run.group()) < 9]
    ranked = [(_distance(int(run.group()), number), -run.start(), run) for run in runs]
    fit, _, best = min(ranked, default=(None, 0, None), key=lambda found: (found[0] is None, found[0] or 0, found[1]))
    return f"{url[: best.start()]}{{}}{url[best.end() :]}" if best and fit is not None else None


def _distance(value: int, number: int) -> int | None:
    """How well a number in a URL goes with a page number: the same, counted from 0, an offset; ``None``: not at all."""
    if value in (number, number - 1):
        return number - value
    step, rest = divmod(value, max(number - 1, 1))
    return 2 if number > 1 and step >= MIN_STEP and rest == 0 else None


def _named(node: dom.Element) -> bool:
    above = node.getparent()
    for _ in range(PAGER_LEVELS):
        if above is None or above.tag in ("body", "html"):
            return False
        if PAGER_NAME.search(f"{above.get('class') or ''} {above.get('id') or ''}"):
            return True
        above = above.getparent()
    return False


def _pager(rows: dict[str, Row], nexts: list[str], own: Address) -> Row:
    """The row that is the pager, or an empty one."""
    best, best_rank = Row(), (False, False, False, 0)
    for form, row in rows.items():
        # addresses of the form with any number
        before, _, after = form.partition("{}")
        numbered = re.compile(f"{re.escape(before.rstrip('_-'))}[_-]?\\d*{re.escape(after)}")
        rank = (any(numbered.fullmatch(url) for url in nexts), bool(numbered.fullmatch(own.same_page)), row.named, len(row.pages))
        if any(rank[:3]) and (len(row.pages) >= MIN_ROW or rank[0]) and rank > best_rank:
            best, best_rank = row, rank
    return best
