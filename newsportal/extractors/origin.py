"""来源: who published it first, as the page says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from newsportal import dom
from newsportal.extractors.author import CUT, MAX_BYLINES
from newsportal.extractors.class_names import called, short_text
from newsportal.extractors.metadata import Metadata

MAX_LINE_CHARS: Final = 160
_CAPITALS: Final = r"[A-Z][\w&.'’-]*(?: [A-Z&][\w&.'’-]*)+"
_NAME: Final = rf"(?:{_CAPITALS}|[^\s:：|｜\[\]()（）【】<>“”\"]{{2,30}})"
LABEL: Final = re.compile(
    r"(?<![“\"「『])(?<!注明)(?<!图片)(?<!圖片)(?<!资料)(?<!資料)(?<!数据)(?<!數據)(?<!照片)(?<!视频)"
    rf"(?:来\s*源|來\s*源|稿源|转自|轉自|转载自|轉載自|出处|出處)\s*[:：]\s*[(（【]?\s*(?P<zh>{_NAME})"
    rf"|(?:^|\t|[|｜]\s?)(?:来源|來源)\s+(?P<bare>{_NAME})"
    rf"|本文(?:来源于|來源於|来自|來自|转自|源自|摘自|原载于?|首发于)\s*[:：]?\s*《?(?P<said>[^\s:：|｜\[\]()（）【】<>《》，。]{{2,20}})》?\s*(?:\t|$|\d|，)"
    r"|\b(?i:source|first published (?:by|in|on)|originally published (?:by|in|on)|originally appeared (?:in|on))\s*:?\s*"
    r"(?P<en>[A-Z0-9][^:|｜\t\[\]()<>•·]{1,40}?)\s*(?:[|｜\t\[(•·]|\.?$)"
)
"""A Chinese name ends at the first space, an English one at a mark or where the element ends. Sources of pictures and figures, and the
form that a disclaimer quotes (凡注明“来源：XXX”), are not the article's."""

HINT: Final = re.compile("[源處处自]|[Ss]ource|SOURCE|publish|appear|[载发]于?")
DISCLAIMER: Final = re.compile(r"凡.{0,8}注明|免责|免責|声明|聲明|版权|版權")
NOT_NAMES: Final = re.compile(r"^(?:资料图|資料圖|图片|X{2,}|x{2,}|未知|不明|http.*|.*[，。！？].*)$")

FOREIGN: Final = ("Source:", "irst published", "riginally ")
"""Without one of these in its markup a page that is not Chinese tells no source."""

ELEMENT_NAME: Final = re.compile(
    r"(?<![a-z])(?:article|art|news|post|info|time|the)?[-_]?(?:sources?|laiyuan)(?:[-_]?(?:name|baidu))?(?![a-z])"
    r"|(?<![a-z])(?:profile|account|media|wemedia)[-_]?(?:nick)?name(?![a-z])",
    re.IGNORECASE,
)
"""Classes and ids that say source, or whose account it is on a site where everybody publishes."""

ORIGIN_META: Final = ("source", "contentsource", "og:article:source", "copyright-holder", "mediaid")
MAX_CHARS: Final = 30
MAX_ELEMENT_CHARS: Final = 16


def origin(document: dom.Document, meta: Metadata, language: str | None = None) -> str | None:
    """The name behind 来源 or "First published by", else what ``meta`` says, else on Chinese pages the element called source."""
    chinese = (language or "zh").startswith("zh")
    for line in document.lines[:MAX_BYLINES]:
        match = LABEL.search(line) if len(line) <= MAX_LINE_CHARS and HINT.search(line) else None
        quoted = match and DISCLAIMER.search(line, line.rfind("\t", 0, match.start()) + 1, match.start())
        name = _name(next(filter(None, match.groups()))) if match and not quoted else None
        if name:
            if chinese or any(word in document.html for word in FOREIGN):
                return name
            break
    told = next((value for value in map(meta.get, ORIGIN_META) if value and len(value) <= MAX_CHARS), None)
    return told or (next(_marked(document), None) if chinese else None)


def _name(text: str) -> str | None:
    name = CUT.sub("", text).strip("·-_,，。；; ")
    return name if len(name) >= 2 and not NOT_NAMES.search(name) else None


def _marked(document: dom.Document) -> Iterator[str]:
    """Short names in elements whose class or id says source."""
    for node in called(document, ("ource", "laiyuan", "nickname", "ccount", "edia")):
        if ELEMENT_NAME.search(f"{node.get('class') or ''} {node.get('id') or ''}"):
            text = short_text(node)
            name = _name(text) if len(text) <= MAX_ELEMENT_CHARS and not re.search(r"[\d:：#\s]", text) else None
            if name:
                yield name
