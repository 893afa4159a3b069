"""Health of a source, judged by its visits. Pure: visits and clock are arguments.

    found = health(visits, now, previous=state)
    print(found.state, found.reason(), found.remedy())

``visits`` are the newest of a source together with the newest productive ones (``store.visits.of`` with and without ``bringing``, joined by
:func:`merge_visits`), so that the usual cadence of a source is known even after weeks of silence.
"""

from newsportal.schedule.health.figures import Figures, sparkline
from newsportal.schedule.health.states import BAD, STATES, Change, Health, RememberedState, find_change, health, merge_visits

__all__ = ["BAD", "STATES", "Change", "Figures", "Health", "RememberedState", "find_change", "health", "merge_visits", "sparkline"]
