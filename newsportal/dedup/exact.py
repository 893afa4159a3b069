"""Reposts that are easy to be sure of: the same title on another site, or the same text anywhere (paper A's exact rules).

Pure: an article's title and text give the keys under which it repeats another; the store joins equal keys in one transaction.
Reposts with changed titles or texts are the business of ``judge``.
"""

from __future__ import annotations

from newsportal.items import FoldKey, content_id
from newsportal.text import letters

MIN_TITLE = 8
"""Letters of the shortest title that says one event: shorter ones (「图片新闻」「今日天气」) are the names of columns."""

MIN_TEXT = 30
"""Letters of the shortest text that is told only once: shorter ones are stubs such as 「点击查看视频」."""

TITLE_WINDOW = 2 * 86400.0
"""Two days: a title that comes again later is a column or a yearly event (paper A compares within a day)."""

TEXT_WINDOW = 30 * 86400.0
"""A text that comes again after weeks is still the same text."""


def keys(title: str | None, text: str | None) -> tuple[FoldKey, ...]:
    """The fold keys of an article, surest first. Punctuation, width, case, white space and 简/繁 do not tell articles apart."""
    found = []
    if text and len(body := letters(text)) >= MIN_TEXT:
        found.append(FoldKey(key=f"text:{content_id(body)}", reason="same-text", score=1.0, window=TEXT_WINDOW))
    if title and len(name := letters(title)) >= MIN_TITLE:
        found.append(FoldKey(key=f"title:{content_id(name)}", reason="same-title", score=0.9, window=TITLE_WINDOW, same_site=False))
    return tuple(found)
