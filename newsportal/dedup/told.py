"""Whether what two documents share is what they tell: titles as evidence.

Sites repeat lists of news, comments and legal notices under articles, and some "articles" are nothing else (a video's page). Two such
documents share most of their text and are two stories: their titles have nothing in common, and what they share speaks of neither.
"""

from __future__ import annotations

from typing import Final

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
    """Whether two titles (letters alone) are alike."""
    pairs, others = _pairs(one), _pairs(other)
    return len(pairs & others) >= ALIKE * max(1, min(len(pairs), len(others)))


def _pairs(title: str) -> set[str]:
    return {title[place : place + 2] for place in range(len(title) - 1)}
