"""What is to be said of a source: its health, from its visits. Pure: visits and clock come as arguments.

    found = health(visits, now, known=state)
    print(found.state, found.reason(), found.remedy())

``visits`` are the newest of a source together with the newest that brought something (``store.visits.of`` with and without
``bringing``, joined by :func:`merge_visits`), so that a source that is silent for weeks still tells how often it used to speak.
"""

from newsportal.schedule.health.figures import Figures, sparkline
from newsportal.schedule.health.states import BAD, STATES, Change, Health, RememberedState, change, health, merge_visits

__all__ = ["BAD", "STATES", "Change", "Figures", "Health", "RememberedState", "change", "health", "merge_visits", "sparkline"]
