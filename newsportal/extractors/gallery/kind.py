"""Content pages told from index pages (paper C, 2.1.2), and both from pages that are no answer at all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from newsportal import dom
from newsportal.errors import NotApplicable
from newsportal.extractors.gallery.pictures import Shown
from newsportal.extractors.hub_urls import Address
from newsportal.extractors.refusal import REASONS

FEW_TEASERS: Final = 3  # pictures that lead to other pages, on a page without any of its own, that make it an index
TEASERS: Final = 6  # the same on a page whose address is a list's: some channels show a large picture of their own
MANY_TEASERS: Final = 8  # the same on any page that says nothing of its few pictures

FEW_OWN: Final = 2
SHORT_LINE: Final = 40
"""Characters of a line that may be the whole message of a page that is none."""

FEW_WORDS: Final = 60  # characters under the pictures of a page above which it is no error's

LISTING: Final = frozenset(("url-list-word", "url-shallow"))
REFRESH: Final = re.compile(r"^\s*\d{0,2}\s*;\s*url\s*=", re.IGNORECASE)


def refuse_index(url: str, found: Sequence[Shown], own: Sequence[Shown], says: bool) -> None:
    """Raise ``NotApplicable`` for a page that lists stories. ``says``: it tells something of a story of its own (a counter, words under its
    pictures, a declaration)."""
    address = Address(url)
    teasers = sum(1 for one in found if one.lead == "page" and not any(one is other for other in own))
    detail = f"{teasers} pictures lead to other pages, {len(own)} are its own"
    if "url-root" in address.facts:
        raise NotApplicable("index-page", "a site's front page")
    if not own:
        raise NotApplicable("index-page" if teasers >= FEW_TEASERS else "no-pictures", detail)
    if says:
        return
    if (address.facts & LISTING and teasers >= TEASERS) or (teasers >= MANY_TEASERS and len(own) <= FEW_OWN):
        raise NotApplicable("index-page", detail)


def refuse_message(document: dom.Document, title: str | None, words: Sequence[str]) -> None:
    """Raise ``NotApplicable`` for a page that is an error's, a login's or a check's, or only sends its reader on; ``words``: what stands
    under its pictures."""
    for reason, pattern in REASONS:
        if title and pattern.search(title):
            raise NotApplicable(reason, title[:80])
    if sum(map(len, words)) > FEW_WORDS:
        return
    short = words or [line for line in document.lines if len(line) <= SHORT_LINE]
    for reason, pattern in REASONS:
        if reason != "login" and (message := next((line for line in short if pattern.search(line)), None)):
            raise NotApplicable(reason, message)
    if words:
        return
    for node in document.root.iter("meta"):
        if (node.get("http-equiv") or "").lower() == "refresh" and REFRESH.search(node.get("content") or ""):
            raise NotApplicable("soft-404", "it sends its reader on")
