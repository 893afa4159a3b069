"""Which version of a story is its original, and the figures and labels that a story is listed by. Pure."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from newsportal.dedup.judge import title_letters
from newsportal.dedup.near_duplicate import SAME
from newsportal.dedup.title_evidence import alike
from newsportal.store.article_rows import visible
from newsportal.store.columns import EPOCH

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


HEAT_HALF_LIFE: Final = timedelta(hours=12)
"""A report counts half after this time: yesterday evening's story needs twice the sites of this morning's. Chosen, not measured."""

SAME_SITE_WEIGHT: Final = 0.25
"""What a further version from a site that has one already counts: an update is less of a sign than another newsroom. Chosen."""

LABELLED_BY: Final = ("site", "source", "category")
"""Columns of an article under whose values its story stands in lists, beside its topics."""


def figures(versions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The columns of a story, from its versions (earliest first). One that is hidden as a whole counts none, and is led as it was."""
    counted = visible(versions)
    versions = counted or versions
    head = original(versions)
    return {
        "head_id": head["id"],
        "count": len(counted),
        "sites": len({version["publisher"] for version in counted}),
        "first_seen": min(version["first_seen"] for version in versions),
        "last_seen": max(version["first_seen"] for version in versions),
        "moment": head["moment"],
        "heat": heat((version["moment"], version["publisher"]) for version in versions),
    }


def labels(versions: Iterable[Mapping[str, Any]], topics: Collection[str]) -> list[tuple[str, str]]:
    """The (kind, value) pairs under which a story stands in lists: every topic, site, source and category of the versions that
    readers see."""
    versions = visible(versions)
    if not versions:
        return []
    found = {(kind, version[kind]) for version in versions for kind in LABELLED_BY if version[kind]}
    return sorted(found | {("topic", topic) for topic in topics})


def heat(versions: Iterable[tuple[datetime, str]]) -> float:
    """How hot a story is, from the (moment, site) of its versions.

        heat = log2( sum over versions of  weight * 2 ** (moment / HEAT_HALF_LIFE) )

    with weight 1 for the first version of a site and :data:`SAME_SITE_WEIGHT` for its others. Every report's share halves each
    ``HEAT_HALF_LIFE``, for all stories alike, so their order never has to be worked out again as time goes by: one half-life of age
    weighs as much as twice the sites.
    """
    visible: set[str] = set()
    powers: list[float] = []
    for moment, site in sorted(versions):
        weight = SAME_SITE_WEIGHT if site in visible else 1.0
        visible.add(site)
        powers.append(math.log2(weight) + (moment - EPOCH) / HEAT_HALF_LIFE)
    top = max(powers)
    return top + math.log2(sum(2.0 ** (power - top) for power in powers))


def coolest(since: datetime) -> float:
    """What a story is at least as hot as that has a version of ``since`` or later: that version alone, from a site that has one already."""
    return math.log2(SAME_SITE_WEIGHT) + (since - EPOCH) / HEAT_HALF_LIFE
