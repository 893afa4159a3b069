"""The hottest stories in order, each with its heat as people count and the places it rose since some hours ago."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from newsportal.store.columns import EPOCH
from newsportal.store.results import Story
from newsportal.store.store import Store
from newsportal.store.story_figures import HEAT_HALF_LIFE, heat

LOOK_BACK: Final = timedelta(hours=3)
"""How long ago the places are compared with: what moved since somebody looked at noon is seen in the afternoon. Chosen."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A story at its ``rank`` (from 1). ``heat``: its reports, each counting half after 12 hours. ``rose``: places since then, below 0
    for those that fell; None: the portal did not have it then."""

    story: Story
    rank: int
    heat: float
    rose: int | None


def ranked(store: Store, stories: Sequence[Story], *, now: datetime, back: timedelta = LOOK_BACK) -> tuple[Ranked, ...]:
    """``stories``, the hottest first, compared with their order among themselves as it was ``back`` before ``now``.

    Those with reports since then are asked of the store with their versions; all others stand as they stood.
    """
    then = now - back
    before = {story.id: found for story in stories if (found := heat_at(store, story, then)) is not None}
    places = {id: place for place, (id, _) in enumerate(sorted(before.items(), key=lambda pair: (-pair[1], pair[0])), 1)}
    known = [story for story in sorted(stories, key=_hottest) if story.id in places]
    rose = {story.id: places[story.id] - place for place, story in enumerate(known, 1)}
    return tuple(
        Ranked(story, rank, reports(story.heat, now), rose.get(story.id)) for rank, story in enumerate(sorted(stories, key=_hottest), 1)
    )


def reports(heat: float, now: datetime) -> float:
    """Heat as a number of reports made just now."""
    return float(2.0 ** (heat - (now - EPOCH) / HEAT_HALF_LIFE))


def heat_at(store: Store, story: Story, then: datetime) -> float | None:
    """The heat of ``story`` by what the portal had ``then``; None if it had nothing of it."""
    if story.last_seen <= then:
        return story.heat
    if story.first_seen > then:
        return None
    whole = store.story(story.id)
    versions = [(one.moment, one.publisher) for one in whole.versions if one.first_seen <= then] if whole else []
    return heat(versions) if versions else None


def _hottest(story: Story) -> tuple[float, str]:
    return -story.heat, story.id
