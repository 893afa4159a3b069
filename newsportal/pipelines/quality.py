"""How well an article was read, in the words of a visit: ``shaky``, ``garbled``. Pure."""

from __future__ import annotations

from newsportal.encoding import garbled
from newsportal.items import Article, Extraction

SURE = 0.85
"""Of 210 gold pages of five sets, 14 have less confidence, and half of those were read badly (F1 below 0.8); of the others 2.5 %."""


def doubts(article: Article, found: Extraction) -> list[str]:
    """The columns to count an article in. A text that a rule found, or the feed carried, is taken at its word."""
    columns = []
    if article.text is None and found.confidence is not None and found.confidence < SURE:
        columns.append("shaky")
    if garbled(article.text or found.text or ""):
        columns.append("garbled")
    return columns
