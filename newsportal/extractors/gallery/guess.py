"""How a story may go on whose page names no other page and no number of pages (paper C, 2.2.1, way 1, without being told the pattern).

The paper counts up in the pattern that its operator wrote down. Where nobody did, the commonest way to name further pages is tried:
``123.html`` is followed by ``123_2.html``, ``123/`` by ``123/2/``, ``123_1.html`` and ``123-01.html`` by the next number. A dead link
ends it as ever. What answers counts as a page only under the same title and of the same day: an address beside a story's may be another's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from newsportal.extractors.gallery.pattern import parse
from newsportal.items import GalleryPage
from newsportal.text import letters

FEW: Final = 2  # pictures of a page that may be one of several; a page of more is a story of one page. Chosen: a guess costs a request

NAME: Final = re.compile(r"(?P<id>[^/]*?[^/_\-])(?:(?P<parted>[_-])(?P<mark>0{0,2}1))?(?P<ending>\.(?:s?html?|php|aspx?|jsp))?/?", re.ASCII)
NUMBERED: Final = re.compile(r"\d", re.ASCII)
"""Names of stories have numbers; ``about.html`` has none."""


def guess(page: GalleryPage) -> str | None:
    """The pattern by which the story of ``page``, its first, may go on; ``None`` where the page says itself how, or cannot go on."""
    if page.whole or page.total or page.next or page.pages or not page.title or len(page.images) > FEW:
        return None
    parts = urlsplit(page.url)
    name = NAME.fullmatch(parts.path.rpartition("/")[2] or f"{parts.path.rstrip('/').rpartition('/')[2]}/")
    if parts.query or name is None or not NUMBERED.search(name["id"]):
        return None
    ending = name["ending"] or ""
    mark = "{" + "n" * len(name["mark"] or "1") + "}"
    if name["parted"]:
        return f"{{id}}{name['parted']}{mark}{ending}"
    if ending:
        return f"{{id}}_{mark}{ending}"
    return f"{{id}}/{mark}/" if parts.path.endswith("/") else None


def guessed(pages: Sequence[GalleryPage]) -> str | None:
    """The pattern that led to these pages of a story, if it was guessed: that of one of them, which names another."""
    for pattern in filter(None, map(guess, pages)):
        if sum(parse(pattern).number(page.url) is not None for page in pages) > 1:
            return pattern
    return None


def bears_out(page: GalleryPage, met: Sequence[GalleryPage]) -> bool:
    """Whether what answered at a guessed address is of the story: the same title, and no other day."""
    days = {one.published.date() for one in met if one.published}
    titles = {letters(one.title) for one in met if one.title}
    return letters(page.title or "") in titles and (page.published is None or not days or page.published.date() in days)
