"""What a page writes under a picture: ``figcaption``, elements called caption, a line that begins like one, else what ``alt`` says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from newsportal import dom
from newsportal.text import clean

MAX_CAPTION_CHARS: Final = 300
MAX_LINE_CHARS: Final = 120
"""A longer line under a picture is a paragraph."""

CALLED: Final = re.compile(
    r"caption|(?<![a-z])(?:img|image|pic|photo|figure)[-_]?(?:desc|info|text|txt|title|note)|tuzhu|tushuo|picsm", re.IGNORECASE
)
BEGINS: Final = re.compile(
    r"^[▲△↑◀▼【\[(（]{0,2}\s?(?:[上下左右本]?[图圖](?:为|為|[:：/／|｜]|\d{1,2}[^\d个]|说|說|片[:：说說])|资料[图圖]|資料[图圖]|[图圖]片来源|[▲△↑])|^[▲△↑]"
    r"|^(?:photo|image|picture|foto)\b[\s:/]",
    re.IGNORECASE,
)
ENDS: Final = re.compile(r"(?:摄|攝|摄影|攝影|供图|供圖|资料图|資料圖|资料图片|视觉中国|图片社|制图)\s?[)）】\]。]?$")
NO_CAPTION: Final = re.compile(
    r"^(?:img|image|picture|photo|图片|圖片|\W*|\d+|点击.*|[\w-]+\.(?:jpe?g|png|gif|webp)|[!-~]*\d[!-~]*)$", re.IGNORECASE
)
HOLDERS: Final = frozenset("a p div center span strong td picture figure font".split())


def caption_of(node: dom.Element) -> str | None:
    """The caption of an ``img``, or ``None``."""
    for above in node.iterancestors("figure"):
        for caption in above.iter("figcaption"):
            text = dom.text_of(caption)[:MAX_CAPTION_CHARS]
            if text:
                return text
        break
    under = next((text for text in _under(node) if text), None)
    if under:
        return under
    told = (clean(node.get(name) or "")[:MAX_CAPTION_CHARS] for name in ("alt", "title", "data-caption"))
    return next((text for text in told if text and not NO_CAPTION.match(text)), None)


def _under(node: dom.Element) -> Iterator[str | None]:
    """Texts after the picture, within its own line and in what follows it, if they read like captions."""
    for _ in range(3):
        tail = clean(node.tail or "")
        if tail:
            yield tail if _reads_like_one(tail) else None
            return
        after = node.getnext()
        while after is not None and after.tag == "br" and not clean(after.tail or ""):
            after = after.getnext()
        if after is not None:
            yield _text_after(after)
            return
        above = node.getparent()
        if above is None or above.tag not in HOLDERS:
            return
        node = above


def _text_after(after: dom.Element) -> str | None:
    if after.tag == "br":
        text = clean(after.tail or "")
        return text if _reads_like_one(text) else None
    if next(after.iter("img"), None) is not None:
        return None
    text = dom.text_of(after)
    if not 2 <= len(text) <= MAX_CAPTION_CHARS:
        return None
    called = CALLED.search(f"{after.get('class') or ''} {after.get('id') or ''}")
    return text if called or _reads_like_one(text) else None


def _reads_like_one(text: str) -> bool:
    return 2 <= len(text) <= MAX_LINE_CHARS and (BEGINS.search(text) or ENDS.search(text)) is not None
