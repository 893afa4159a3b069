"""Join the pages of a multi-page article: text, HTML and images in order, without what every page repeats.

Pure. :func:`rejection` decides whether a fetched page is a further page; :func:`join` merges them. Lines are compared by their letters
(:func:`newsportal.text.letters`), because spaces and punctuation differ between pages.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from newsportal.items import Extraction, Image
from newsportal.text import clean, dom, letters

REPEATED_SHARE: Final = 0.8  # of a page's text that earlier pages contain: real further pages repeat less than a third
SINGLE_PAGE_SHARE: Final = 0.8  # a single-page view contains at least this share of the first page's text
SINGLE_PAGE_GAIN: Final = 1.1  # and is longer by at least this factor: otherwise it is the first page in another layout
COMMENTS: Final = re.compile(
    r"(?:^|[的部新门])(?:网友)?(?:评论|評論|留言|跟帖)(?:[^，。]{0,6}$|列表|区|_|-)|^(?:all |reader )?comments?\b", re.IGNORECASE
)
PAGER_WORD: Final = re.compile(
    r"[首尾末][页頁]|[上下前后後]一?[页頁]|第\s*\d{1,3}\s*[页頁]|(?:本文)?共\s*\d{1,3}\s*[页頁]|(?:在?本[页頁])?(?:阅读|閱讀)全文|单[页頁]阅读"
    r"|\b(?:prev(?:ious)?|next)(?: page)?\b|\bpage \d{1,3}(?: of \d{1,3})?\b",
    re.IGNORECASE,
)
PAGER_FILLER: Final = re.compile(r"[\d\s页頁«»‹›<>|./…,，\[\]()（）【】:：·-]+")
NUMBERS: Final = re.compile(r"\d+")
MAX_PAGER_CHARS: Final = 80  # Characters: longer lines are not pagers
PAGE_MARK: Final = re.compile(
    r"\s*(?:[（(\[【]\s*第?\s*(?:\d{1,3}|[一二三四五六七八九十]{1,3})\s*[页頁]?\s*(?:/\s*(?:共\s*)?\d{1,3}\s*[页頁]?)?\s*[）)\]】]"
    r"|[\s_|-]+第\s*\d{1,3}\s*[页頁]|[\s_|–-]+(?:page|seite|p\.)\s*\d{1,3}(?:\s*(?:of|von|/)\s*\d{1,3})?)$",
    re.IGNORECASE,
)  # 「（第2页）」, 「(2)」, 「_第2页」, "– Page 2 of 3" at the end of a title


def rejection(before: Sequence[Extraction], page: Extraction) -> str | None:
    """Return why ``page`` is not a further page of the article with the pages ``before``; ``None`` if it is one.

    The pages of a photo story may have the same text: a page with new images is not a repeat.
    """
    fresh = [line for line in _lines(page) if not is_pager(line)]
    if not fresh:
        return "no-text"
    first = before[0].title or ""
    if page.title and COMMENTS.search(page.title) and not COMMENTS.search(first):
        return "comments"
    if {image.url for image in page.images} - {image.url for earlier in before for image in earlier.images}:
        return None
    earlier_keys = {key for earlier in before for key in map(letters, _lines(earlier))}
    keys = [letters(line) for line in fresh]
    total = sum(map(len, keys))
    repeated = not total or sum(len(key) for key in keys if key in earlier_keys) >= REPEATED_SHARE * total
    return "repeats" if repeated or any(letters(page.text or "") in letters(earlier.text or "") for earlier in before) else None


def join(pages: Sequence[Extraction], urls: Sequence[str]) -> Extraction:
    """Join the pages (at least one) into an article. Title, date, author and other fields come from the first page that has them."""
    first = pages[0]
    if len(pages) == 1:
        return first
    texts = _without_repeats([[line for line in _lines(page) if not is_pager(line)] for page in pages])
    pictures: dict[str, Image] = {}
    for image in (image for page in pages for image in page.images):
        pictures.setdefault(image.url, image)
    # remove the lines that were dropped from the text
    bodies = [_without(page.html, set(map(clean, _lines(page))) - set(map(clean, lines))) for page, lines in zip(pages, texts, strict=True)]
    return replace(
        first,
        title=drop_page_mark(first).title,
        text="\n".join(line for lines in texts for line in lines),
        html="\n".join(filter(None, bodies)) or None,
        published=first.published or next((page.published for page in pages if page.published), None),
        author=first.author or next((page.author for page in pages if page.author), None),
        origin=first.origin or next((page.origin for page in pages if page.origin), None),
        images=tuple(pictures.values()),
        pages=tuple(urls),
    )


def drop_page_mark(page: Extraction) -> Extraction:
    """Return a first page whose further pages are missing, without the page number in its title."""
    return replace(page, title=PAGE_MARK.sub("", page.title) if page.title else None)


def is_single_page_view(first: Extraction, single: Extraction) -> bool:
    """Return whether ``single`` contains nearly all of the first page's text, and more: a single-page view."""
    text = letters(single.text or "")
    keys = [letters(line) for line in _lines(first) if not is_pager(line)]
    total = sum(map(len, keys))
    contained = sum(len(key) for key in keys if key in text)
    return total > 0 and contained >= SINGLE_PAGE_SHARE * total and len(text) >= SINGLE_PAGE_GAIN * total


def use_single_page_view(first: Extraction, whole: Extraction, urls: Sequence[str]) -> Extraction:
    """Return the first page's article with the text of the single-page view."""
    title, images = drop_page_mark(first).title if first.title else whole.title, whole.images or first.images
    return replace(first, title=title, text=whole.text, html=whole.html, images=images, pages=tuple(urls))


def _lines(page: Extraction) -> list[str]:
    return [line for line in (page.text or "").split("\n") if line.strip()]


def is_pager(line: str) -> bool:
    """Return whether a line is only a pager: its words, or consecutive page numbers."""
    if len(line) > MAX_PAGER_CHARS:
        return False
    rest = PAGER_WORD.sub("", line)
    if PAGER_FILLER.sub("", rest):
        return False
    numbers = [int(number) for number in NUMBERS.findall(line)]
    return rest != line or (len(numbers) > 1 and numbers == list(range(numbers[0], numbers[0] + len(numbers))))


def _without_repeats(texts: list[list[str]]) -> list[list[str]]:
    """Return each page's lines without a beginning that earlier pages contain, and without an ending that the next page has too."""
    seen: set[str] = set()
    pages = []
    for lines in texts:
        start = 0
        while start < len(lines) and letters(lines[start]) in seen:
            start += 1
        seen.update(map(letters, lines))
        pages.append(lines[start:])
    for earlier, later in pairwise(pages):
        while earlier and later and letters(earlier[-1]) == letters(later[-1]):
            earlier.pop()  # such as an editor's name, which is kept on the last page
    return pages


def _without(html: str | None, dropped: set[str]) -> str | None:
    """Return ``html`` without elements and texts that equal one of the lines ``dropped``; the same words within a longer line stay."""
    if not html or not dropped:
        return html
    body = next(iter(dom.parse_html(html).iter("body")), None)
    if body is None:
        return html
    for node in list(body.iter()):
        if node is not body and node.getparent() is None:
            continue
        if node is not body and dom.text_of(node) in dropped and _is_line(node) and next(node.iter("img"), None) is None:
            node.drop_tree()
            continue
        if node.text and clean(node.text) in dropped and _is_break(node) and _is_break(next(iter(node), None)):
            node.text = None
        if node.tail and clean(node.tail) in dropped and _is_break(node) and _is_break(node.getnext()):
            node.tail = None
    return dom.html_of(body).removeprefix("<body>").removesuffix("</body>")


def _is_break(node: dom.Element | None) -> bool:
    """Return whether ``node`` ends the line beside it: a break, an element without text, or ``None`` (no neighbour)."""
    return node is None or node.tag in dom.BREAKING_TAGS or node.tag == "body" or not dom.text_of(node)


def _is_line(node: dom.Element) -> bool:
    while not _is_break(node):
        above, before = node.getparent(), node.getprevious()
        if above is None:
            return False
        beside = (above.text if before is None else before.tail, node.tail)
        if any(text and not text.isspace() for text in beside) or not (_is_break(before) and _is_break(node.getnext())):
            return False
        node = above
    return True
