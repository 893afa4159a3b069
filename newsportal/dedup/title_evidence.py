"""Titles as evidence for or against a repost.

Sites repeat lists of news, comments and legal notices under articles. Two documents that share only those have titles with nothing in
common, and the shared passages mention neither title. Texts too short to be compared are reposts if another site has the same title
(paper A's exact rule).
"""

from __future__ import annotations

from typing import Final

from newsportal.items import FoldKey, content_id
from newsportal.text import letters

ALIKE: Final = 0.6
"""Share of the shorter title's pairs of letters that makes two titles alike: a site's prefix and the name of the event are not enough."""

SPOKEN: Final = 0.3
"""Share of a title's pairs of letters that the text must hold to speak of it."""

SHORTEST: Final = 4
"""Letters of a title that says something."""


def is_told(new: str, old: str, shared: str) -> bool:
    """Whether the titles (letters alone) are alike, or ``shared`` speaks of one of them. Titles that say nothing refuse nothing."""
    if min(len(new), len(old)) < SHORTEST:
        return True
    return alike(new, old) or any(sum(pair in shared for pair in title) >= SPOKEN * len(title) for title in (_pairs(new), _pairs(old)))


def alike(one: str, other: str) -> bool:
    pairs, others = _pairs(one), _pairs(other)
    return len(pairs & others) >= ALIKE * max(1, min(len(pairs), len(others)))


def _pairs(title: str) -> set[str]:
    return {title[place : place + 2] for place in range(len(title) - 1)}


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
