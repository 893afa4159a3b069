"""Which version of a story is its original: a rule that one can read. Pure.

The original is the earliest version that holds nearly the whole text. The whole text is the longest of the versions that tell the same
text, so a flash of two lines does not stand for the article that came an hour later. What was folded because it *contains* an
earlier version counts as a telling only under a like title; else it is a round-up, and no round-up is the original of its parts.

Of photo stories the one with more pictures stays (paper C, 2.2.3); of as many, the earliest that is complete.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from newsportal.dedup.judge import title_letters
from newsportal.dedup.near_duplicate import SAME
from newsportal.dedup.told import alike

MORE: Final = "contains-text"
LESS_OR_MORE: Final = frozenset({"part-of-text", MORE})
"""Why a version stands in its story if it is not the same text as the others."""

NEARLY: Final = SAME
"""Share of the whole text that the original holds at least: what makes two texts the same to the judge."""


def original(versions: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The original among ``versions`` (the earliest first), each with ``title``, ``length`` and ``fold_reason``; photo stories with
    ``pictures`` and ``complete``."""
    photographed = [version for version in versions if version.get("pictures")]
    if photographed:
        return max(photographed, key=lambda version: (version["pictures"], bool(version["complete"])))
    tellings = [version for version in versions if version.get("fold_reason") not in LESS_OR_MORE]
    titles = [title_letters(version["title"]) for version in tellings]
    tellings += [version for version in versions if version.get("fold_reason") == MORE and _has_one_of(titles, version)]
    whole = max((version["length"] for version in tellings), default=0)
    return next((version for version in versions if version in tellings and version["length"] >= NEARLY * whole), versions[0])


def _has_one_of(titles: Sequence[str], version: Mapping[str, Any]) -> bool:
    own = title_letters(version["title"])
    return any(alike(own, title) for title in titles)
