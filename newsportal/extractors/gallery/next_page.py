"""Find a story's further pages from the page's pager, completed up to the declared number of pages.

The pager is that of articles (:mod:`newsportal.extractors.lists.pagination`). Photo stories add three kinds: pages by letters
(``123a.html``, ``123b.html``), a row of numbers whose URLs share only their shape, and 「下一张」 beside a counter that has not reached
the total. Links to the next *story* (下一组图) are excluded.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Final
from urllib.parse import urlsplit

from newsportal.extractors.gallery.further_pages import MAX_PAGES
from newsportal.extractors.lists.hub_urls import Address, url_pattern
from newsportal.extractors.lists.page_marks import PageMark, marks_of, step
from newsportal.extractors.lists.page_turns import MAX_ANCHORS, MAX_LABEL, PagerLink, is_aside, is_disabled, link_label, page_turn_text
from newsportal.extractors.lists.pagination import Pager, find_pager
from newsportal.text import dom

MAX_TOTAL: Final = 500
MAX_CHARS: Final = 40  # Characters of a line that may be a counter: alone or with the words of a pager
_OPEN, _CLOSE = r"[\[(（【<〈]?\s*", r"\s*[\])）】>〉]?"
PAGE_OF_TOTAL: Final = re.compile(
    rf"(?:^|(?<=[^\d./:-])){_OPEN}(?:第|page|photo|image|slide|seite|图|圖)?\s*(?P<number>\d{{1,3}})\s*(?P<first>[页頁张張幅]?)\s*"
    rf"(?:[/／]|\bof\b|\bvon\b|[,，、]?\s*(?=共|of\b))\s*(?:共|total)?\s*(?P<total>\d{{1,3}})\s*(?P<unit>[页頁张張幅图圖]?){_CLOSE}(?=$|[^\d/.:-])",
    re.IGNORECASE,
)
TOTAL_ONLY: Final = re.compile(r"(?:^|[^\d])[共全]\s*(?P<total>\d{1,3})\s*(?P<unit>[页頁张張幅])")
UNIT_WORD: Final = re.compile(r"[页頁张張幅共第图圖]|\b(?:page|photo|image|slide|of)\b", re.IGNORECASE)
BRACKETED_COUNT: Final = re.compile(r"[\[(（【]\s*\d{1,3}\s*[/／]\s*\d{1,3}\s*[\])）】]")
LETTER_URL: Final = re.compile(r"^(?P<stem>.*[\d_-])(?P<letter>[a-z])?(?P<ending>\.\w{2,6})$", re.IGNORECASE)
OTHER_STORY: Final = re.compile(
    r"[下后後]一?[组組套篇条條期辑輯则則]|[上前]一?[组組套篇条條期辑輯则則]|(?:下|上)一(?:个|個)?(?:图集|圖集|组图|組圖|专题|相册)"
    r"|next (?:gallery|story|album|set|article|post)",
    re.IGNORECASE,
)  # labels of links to other stories
DIGITS: Final = re.compile(r"\d+")
MIN_ROW: Final = 3  # Consecutive numbers, this page's included, that make a pager whatever their URLs are


@dataclass(frozen=True, slots=True)
class Count:
    """A counter. ``pictures``: its unit is pictures (张, 幅), not pages. ``several``: there is one under each of many pictures."""

    number: int | None
    total: int
    pictures: bool = False
    several: bool = False


def find_count(lines: Iterable[str], titles: Iterable[str] = ()) -> Count | None:
    """Return the counter in a page's lines and titles; ``None`` if there is none, or if totals differ."""
    found = [count for title in titles if (count := _read(title, strict=True)) is not None]
    found += [count for line in lines if len(line) <= MAX_CHARS and (count := _read(line.replace("\t", ""), strict=False)) is not None]
    found = [count for count in found if count.number is not None] or found  # 「共12张」 also occurs under other stories
    totals = {count.total for count in found}
    if len(totals) != 1:
        return None
    numbers = {count.number for count in found if count.number is not None}
    several = len(numbers) > 1
    return Count(None if several or not numbers else numbers.pop(), totals.pop(), any(count.pictures for count in found), several)


def _read(text: str, strict: bool) -> Count | None:
    """Read the counter in a text. ``strict``: only with brackets or words, which a line that is nothing but a counter does not need."""
    if match := PAGE_OF_TOTAL.search(text):
        number, total = int(match["number"]), int(match["total"])
        whole_line = match.group().strip() == text.strip()
        sure = BRACKETED_COUNT.search(match.group()) or UNIT_WORD.search(match.group())
        if 1 <= number <= total <= MAX_TOTAL and total > 1 and (sure or (whole_line and not strict)):
            return Count(number, total, pictures=(match["unit"] or match["first"] or "页") in "张張幅")
    if (match := TOTAL_ONLY.search(text)) and 1 < int(match["total"]) <= MAX_TOTAL:
        return Count(None, int(match["total"]), pictures=match["unit"] in "张張幅")
    return None


@dataclass(frozen=True, slots=True)
class PageLinks:
    """``number``: this page's number, if known; ``pages``: URLs in order, this page's included; ``next``: the next page's URL."""

    number: int | None = None
    pages: tuple[str, ...] = ()
    next: str | None = None


def find_page_links(document: dom.Document, count: Count | None) -> PageLinks:
    """Return the links to the story's other pages. Never raises. ``count``: the page's own counter."""
    pager = find_pager(document)
    if pager.next is not None or pager.number is not None:
        return _from_pager(document.url, pager, count)
    links = _links(document)
    if row := _lettered_pages(document.url, [link.url for link in links]) or _numbered_pages(links, count):
        return _from_row(document.url, row)
    url = document.url
    if count is None or count.number is None:
        return PageLinks()
    if count.number < count.total:
        # 「下一张」 if the counter has not reached the total and the URL has this page's shape
        shape = url_pattern(Address(url))
        onward = (link.url for link in links if link.kind in ("next", "onward") and url_pattern(Address(link.url)) == shape)
        following = next((other for other in onward if other.partition("#")[0] != url.partition("#")[0]), None)
        if following is not None:
            return PageLinks(count.number, next=following)
    marked: PageMark | None = next((place for place in marks_of(url) if place.number == count.number), None)
    if marked is not None:
        pages = [marked.form.replace("{}", str(number), 1) for number in range(1, min(count.total, MAX_PAGES) + 1)]
    else:
        lettered = _letter_of(url)
        if lettered is None or not lettered[1] or ord(lettered[1].lower()) - ord("a") + 1 != count.number or count.total > 26:
            return PageLinks(count.number)
        at = url.rindex(lettered[1], 0, url.rindex("."))
        pages = [f"{url[:at]}{chr(ord('a') + number)}{url[at + 1 :]}" for number in range(count.total)]
    following = pages[count.number] if count.number < len(pages) else None
    return PageLinks(count.number, tuple(pages), following)


def links_of_pictures(url: str, targets: Iterable[str | None], count: Count | None) -> PageLinks:
    """Return the pages to which the pictures of a page link: drawn arrows, a row of thumbnails."""
    own_places = marks_of(url)
    steps = [(found, target) for target in targets if target is not None and (found := step(own_places, target)) is not None]
    if not steps:
        lettered = {target for target in targets if target is not None and same_story(url, target)}
        return _from_row(url, _lettered_pages(url, lettered)) if lettered else PageLinks()
    current = next(found.current for found, _ in steps)
    row = {found.other if found.other is not None else 1: target for found, target in steps if found.current == current}
    form = next((found.form for found, _ in steps if found.other is not None), None)
    number = current if current is not None else 1
    row[number] = url
    if form is not None:
        row = _fill_up(row, form, max(*row, count.total if count is not None and not count.pictures else 0))
    return _from_row(url, row)


def same_story(url: str, other: str) -> bool:
    """Return whether two URLs look like pages of one story."""
    if url.partition("#")[0] == other.partition("#")[0] or step(marks_of(url), other) is not None:
        return True
    mine, theirs = _letter_of(url), _letter_of(other)
    return mine is not None and theirs is not None and mine[0] == theirs[0]


def _from_pager(url: str, pager: Pager, count: Count | None) -> PageLinks:
    number = pager.number or 1
    row = dict(pager.linked_pages) | {number: url}
    if pager.first is not None:
        row.setdefault(1, pager.first)
    form = next(
        (found.form for other in (*pager.pages[1:2], *row.values()) if (found := step(marks_of(url), other)) and found.other is not None),
        None,
    )
    if count is not None and form is not None and (count.number in (None, number)) and not count.pictures:
        row = _fill_up(row, form, count.total)
    return PageLinks(number, tuple(address for _, address in sorted(row.items()))[:MAX_PAGES], pager.next)


def _fill_up(row: Mapping[int, str], form: str, total: int) -> dict[int, str]:
    """Return URLs up to ``total`` in the form of the known ones; a known one gives the difference of page number and number in the URL."""
    numbered = re.compile(re.escape(form).replace(re.escape("{}"), r"(\d+)", 1))
    shift = next((number - int(match[1]) for number, url in row.items() if (match := numbered.fullmatch(url))), 0)
    pages = {number: form.replace("{}", str(number - shift), 1) for number in range(2, min(total, MAX_PAGES) + 1)}
    return {**pages, **row}


def _links(document: dom.Document) -> list[PagerLink]:
    """Return the links that may lead to other pages: short labels that do not name another story."""
    found = []
    for node in islice(document.root.iter("a"), MAX_ANCHORS + 1):
        href = node.get("href")
        if not href or href.startswith("#"):
            continue
        text = link_label(node) or node.get("title") or node.get("aria-label") or ""
        if not text or len(text) > MAX_LABEL or OTHER_STORY.search(text):
            continue
        kind, page = page_turn_text(text)
        if kind is None or is_disabled(node) or is_aside(node):
            continue
        if (url := dom.join(document.base, href)) is not None:
            found.append(PagerLink(kind, page, url, node))
    return found


def _letter_of(url: str) -> tuple[str, str | None] | None:
    """Return the URL without the page's letter (for stories with pages a, b, c …), and the letter."""
    parts = urlsplit(url)
    match = LETTER_URL.match(parts.path)
    return (f"{parts.netloc}{match['stem']}{match['ending']}", match["letter"]) if match else None


def _lettered_pages(url: str, links: Iterable[str]) -> dict[int, str]:
    current = _letter_of(url)
    row: dict[int, str] = {}
    for link in links:
        other = _letter_of(link)
        if current is None or other is None or other[0] != current[0] or other[1] == current[1]:
            continue
        row[ord(other[1].lower()) - ord("a") + 1 if other[1] else 1] = link
    if row and current is not None:
        row[ord(current[1].lower()) - ord("a") + 1 if current[1] else 1] = url
    return row


def _numbered_pages(links: list[PagerLink], count: Count | None) -> dict[int, str]:
    """Return a row of numbers without gaps except for this page's: links in one box with one URL shape."""
    rows: dict[tuple[int, str], dict[int, str]] = defaultdict(dict)
    boxes: dict[int, dom.Element] = {}  # keep the elements alive, so that their id is not reused
    for link in links:
        above = link.node.getparent()
        above = above.getparent() if above is not None and above.tag in ("li", "span", "td") else above
        if link.kind == "number" and above is not None:
            boxes[id(above)] = above
            rows[id(above), url_pattern(Address(link.url))].setdefault(link.number, link.url)
    for (box, _), row in rows.items():
        numbers = sorted(row)
        gaps = [number for lower, upper in pairwise(numbers) for number in range(lower + 1, upper)]
        current = (
            gaps[0] if len(gaps) == 1 else 1 if not gaps and numbers[0] == 2 else numbers[-1] + 1 if not gaps and numbers[0] == 1 else None
        )
        # check that the row contains this page's number as well, without a link
        if (
            current is None
            or str(current) not in DIGITS.findall(dom.text_of(boxes[box])[:2000])
            or len(numbers) + 1 < MIN_ROW
            or (count is not None and count.number not in (None, current))
        ):
            continue
        return row if current in row else {**row, current: ""}
    return {}


def _from_row(url: str, row: Mapping[int, str]) -> PageLinks:
    current = next((number for number, address in row.items() if address in ("", url)), 1)
    pages = {**row, current: url}
    return PageLinks(current, tuple(address for _, address in sorted(pages.items()))[:MAX_PAGES], pages.get(current + 1))
