"""来源: who published it first, as the page says."""

from __future__ import annotations

import re
from typing import Final

from newsportal import dom
from newsportal.extractors.author import CUT, MAX_BYLINES
from newsportal.extractors.metadata import Metadata

MAX_LINE_CHARS: Final = 160
_CAPITALS: Final = r"[A-Z][\w&.'’-]*(?: [A-Z&][\w&.'’-]*)+"
LABEL: Final = re.compile(
    rf"(?:来\s*源|來\s*源|稿源|转自|轉自|出处|出處)\s*[:：]\s*(?P<zh>(?:{_CAPITALS}|[^\s:：|｜\[\]()（）【】<>]{{2,30}}))"
    r"|\b(?i:source|first published (?:by|in|on)|originally published (?:by|in|on)|originally appeared (?:in|on))\s*:?\s*"
    r"(?P<en>[A-Z0-9][^:|｜\t\[\]()<>•·]{1,40}?)\s*(?:[|｜\t\[(•·]|\.?$)"
)
"""A Chinese name ends at the first space, an English one at a mark or where the element ends."""

HINT: Final = re.compile("[源處处自]|[Ss]ource|SOURCE|publish|appear")

FOREIGN: Final = ("Source:", "SOURCE:", "irst published", "riginally published", "riginally appeared")
"""Without one of these in its markup a page that is not Chinese need not be read line by line."""

ORIGIN_META: Final = ("source", "contentsource", "og:article:source", "copyright-holder", "mediaid")
MAX_CHARS: Final = 30


def origin(document: dom.Document, meta: Metadata, language: str | None = None) -> str | None:
    """The name behind 来源 or "First published by", else what ``meta`` says."""
    written = (language or "zh").startswith("zh") or any(word in document.html for word in FOREIGN)
    for line in document.lines[:MAX_BYLINES] if written else ():
        match = LABEL.search(line) if len(line) <= MAX_LINE_CHARS and HINT.search(line) else None
        if match:
            name = CUT.sub("", match["zh"] or match["en"]).strip("·-_,，。；; ")
            if len(name) >= 2 and not name.startswith("http"):
                return name
    return next((value for value in map(meta.get, ORIGIN_META) if value and len(value) <= MAX_CHARS), None)
