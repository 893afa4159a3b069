"""How like two articles are, as an editor wants to see it before folding one into the other's story. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import numpy as np

from newsportal.dedup.fingerprints import fingerprint
from newsportal.dedup.judge import title_letters
from newsportal.editing.differences import Line, in_line
from newsportal.store.results import StoredArticle


@dataclass(frozen=True, slots=True)
class Likeness:
    """``shared``: how much of the shorter text stands in the other (0 to 1); ``apart``: between the two; ``headlines``: what differs."""

    shared: float
    same_title: bool
    apart: timedelta
    headlines: Line


def likeness(one: StoredArticle, other: StoredArticle) -> Likeness:
    """How like ``one`` is to ``other``."""
    own, theirs = (set(np.asarray(fingerprint(article.text).in_order()).tolist()) for article in (one, other))
    smaller = min(len(own), len(theirs))
    letters = title_letters(one.title)
    return Likeness(
        shared=len(own & theirs) / smaller if smaller else 0.0,
        same_title=bool(letters) and letters == title_letters(other.title),
        apart=abs(one.moment - other.moment),
        headlines=in_line(other.title, one.title),
    )
