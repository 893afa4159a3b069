"""What is to be said of a source: its health, from its visits. Pure: visits and clock come as arguments.

    found = health(visits, now, known=state)
    print(found.state, found.says(), found.remedy())

``visits`` are the newest of a source together with the newest that brought something (``store.visits.of`` with and without
``bringing``, joined by :func:`together`), so that a source that is silent for weeks still tells how often it used to speak.
"""

from newsportal.monitor.causes import cause_of
from newsportal.monitor.changes import Change, change
from newsportal.monitor.figures import Figures, sparkline
from newsportal.monitor.states import BAD, STATES, Health, Known, health, together
from newsportal.monitor.words import QUARANTINE_NOTE, in_words

__all__ = [
    "BAD",
    "QUARANTINE_NOTE",
    "STATES",
    "Change",
    "Figures",
    "Health",
    "Known",
    "cause_of",
    "change",
    "health",
    "in_words",
    "sparkline",
    "together",
]
