"""The search engines that a topic's form offers: what each costs, whether it answers, and which are ticked for a new topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from newsportal.portal.context import Visit
from newsportal.sources import Sources
from newsportal.sources.loading import built_in
from newsportal.sources.timing import ENGINE, refusal

USUAL: Final = ("baidu_news", "bing_news")  # as in the sources.yaml of newsportal init
PAGES: Final = 2  # result pages of a visit until the hours' repeats have taught another number
DAY: Final = 24 * 60


@dataclass(frozen=True, slots=True)
class Offer:
    """An engine that may be ticked. ``state``: whether it answers, in the reader's words; ``refuses``: it did not at its last visit."""

    name: str
    state: str
    refuses: bool


def offers(visit: Visit, known: Sources) -> list[Offer]:
    """Those of the file first."""
    states = {state.source: state for state in visit.portal.store.source_states()}
    found = []
    for name in dict.fromkeys((*(engine.name for engine in known.engines if engine.enabled), *built_in())):
        state = states.get(f"{ENGINE}{name}")
        why = refusal(name, state, visit.clock.now)
        answered = state.last_success if state else None
        said = visit.clock.says(why) if why else visit.say("answered at %(when)s", when=visit.clock.full(answered)) if answered else ""
        found.append(Offer(name, said or visit.say("not asked yet"), why is not None))
    return found


def usual(known: Sources, offered: Sequence[Offer]) -> tuple[str, ...]:
    """The engines that a new topic asks: those that other topics ask, else those of the file, else the usual; never one that refuses."""
    asked = [engine for topic in known.topics for engine in topic.engines]
    wanted = asked or [engine.name for engine in known.engines] or USUAL
    return tuple(one.name for one in offered if one.name in wanted and not one.refuses)


def requests_a_day(known: Sources) -> int:
    """What one engine costs for one question, at the schedule's usual interval."""
    return round(PAGES * DAY / known.schedule.usual)
