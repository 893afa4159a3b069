"""Why a source is visited when it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SENTENCES: Final[Mapping[str, str]] = {
    "why.rate": "about %(number)s entries a day",
    "why.now": "its times of publication are not believed: they are always now",
    "why.asked": "asked to wait %(wait)s minutes",
    "why.shortest": "not before %(wait)s minutes",
    "why.longest": "at the latest after %(wait)s minutes",
    "why.enough": "enough are expected by then",
    "why.never": "never visited",
    "why.long-ago": "not visited for long",
    "why.interval": "every %(wait)s minutes",
    "why.weight": "weight %(weight)s: every %(wait)s minutes",
    "why.hour": "in hour %(hour)s",
    "why.off": "hours switched off: %(hours)s",
    "why.failed": "failed %(times)s times in a row: %(wait)s minutes",
    "why.rests": "it asked to be left alone until then",
    "why.hours": "its hours begin then",
    "why.hub": "its hub tells of what is new",
}
