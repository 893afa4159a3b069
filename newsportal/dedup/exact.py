"""Reposts whose texts are too short to be compared: the same title on another site (paper A's exact rule).

Pure: an article's title gives the key under which it repeats another; the store joins equal keys in one transaction. Texts that say
anything are the business of ``judge``: there a shared title proves little, for standing columns (「国内联播快讯」) have one too.
"""

from __future__ import annotations

from newsportal.items import FoldKey, content_id
from newsportal.text import letters

MIN_TITLE = 8
"""Letters of the shortest title that says one event: shorter ones (「图片新闻」「今日天气」) are the names of columns."""

SHORT_TEXT = 60
"""Letters below which a text (a film's or picture's caption, 「点击查看视频」) says less than its title. On the made reposts a title as key
for all texts would find 0.2 % more of them, and 2.5 of 100 folds would be wrong ones."""

TITLE_WINDOW = 2 * 86400.0
"""Two days: a title that comes again later is a column or a yearly event (paper A compares within a day)."""


def keys(title: str | None, text: str | None) -> tuple[FoldKey, ...]:
    """The fold keys of an article. Punctuation, width, case, white space and 简/繁 do not tell titles apart."""
    if len(name := letters(title or "")) < MIN_TITLE or len(letters((text or "")[: 4 * SHORT_TEXT])) >= SHORT_TEXT:
        return ()
    return (FoldKey(key=f"title:{content_id(name)}", reason="same-title", score=0.9, window=TITLE_WINDOW, same_site=False),)
