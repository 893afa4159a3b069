"""A visit every so many minutes."""

from __future__ import annotations

from datetime import datetime

from newsportal.messages import Message
from newsportal.schedule.past import Next, Past, Rules, minutes


def fixed(past: Past, rules: Rules, now: datetime) -> Next:
    """The interval of the file, else the usual one, after the last visit."""
    wait = rules.interval or rules.usual
    return Next(now if past.last is None else past.last + minutes(wait), Message("why.interval", wait=float(wait)))
