"""The watch period of an index page by its weight (paper C, 2.1.1).

Jiang, Zuo: photo-story news system, 2014: 「权重越高的检测周期越低, 不低于 Min; 权重越低的检测周期越高, 不超过 Max」.
"""

from __future__ import annotations

from datetime import datetime

from newsportal.messages import Message
from newsportal.schedule.past import Next, Past, Rules, minutes

LIGHTEST, HEAVIEST = 1, 10
"""Weights of index pages."""

MIDDLE = 5.0
"""The weight of a source that has none."""


def period(weight: float, shortest: float, longest: float) -> float:
    """Minutes between two visits of an index page of this weight: the heavier, the shorter, between Min and Max.

        period = longest · (shortest / longest) ^ ((weight − 1) / 9)

    The paper says 「根据一定计算逻辑」 and no more. Here every step of weight shortens the period by the same factor: weight 1 waits
    ``longest``, weight 10 ``shortest``, and what lies between spreads over seconds and days alike.
    """
    share = (min(max(weight, LIGHTEST), HEAVIEST) - LIGHTEST) / (HEAVIEST - LIGHTEST)
    return float(longest * (shortest / longest) ** share)


def by_weight(past: Past, rules: Rules, now: datetime) -> Next:
    """The period of the source's weight after its last visit."""
    weight = rules.weight or MIDDLE
    wait = period(weight, rules.shortest, rules.longest)
    return Next(now if past.last is None else past.last + minutes(wait), Message("why.weight", weight=float(weight), wait=round(wait)))
