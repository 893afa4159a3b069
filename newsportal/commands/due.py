"""Which sources are due, over all of ``sources.yaml``: what the schedule says of the pasts that the store knows."""

from __future__ import annotations

from datetime import datetime

from newsportal.runners.planning import Due
from newsportal.sources import Sources, timing
from newsportal.sources.timetable import visited
from newsportal.storage.store import Store


def due(sources: Sources, store: Store, now: datetime) -> list[Due]:
    """The sources whose time has come by ``now`` (aware). Raises ``StoreError``."""
    states = {state.source: state for state in store.source_states()}
    never = datetime.min.replace(tzinfo=now.tzinfo)
    found = []
    for one in visited(sources):
        state = states.get(one.key)
        at = timing.due_at(state, timing.rules(sources, one.source), now)
        if at <= now:
            last = state.last_run if state else None
            found.append(Due(one.key, one.spider, last or never, last))
    return found
