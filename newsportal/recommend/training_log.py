"""What a fit asks of a log: sums over readers and pairs of views, and a sample of what readers did. A log that lies in one place answers as
:class:`LocalLog`; one that lies on many machines answers the same (``newsportal.services.spark``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from newsportal.recommend import blend, formulas, signals
from newsportal.recommend.blend import Moment
from newsportal.recommend.clicks import Clicks
from newsportal.recommend.signals import Learnt


class TrainingLog(Protocol):
    """A log up to the moment of a fit. Moments are hours since 1970."""

    @property
    def stories(self) -> int: ...

    @property
    def readers(self) -> int: ...

    def __len__(self) -> int: ...

    def when(self, share: float) -> float:
        """The hour before which this share of the views lies: that of a view, the lower where the share falls between two."""

    def learnt(self, moment: float) -> Learnt: ...

    def moments(self, begin: float, end: float) -> list[Moment]:
        """What readers did between two hours: those that :func:`newsportal.recommend.blend.drawn` draws."""

    def alpha(self) -> float:
        """The median of w_c / w_s."""

    def rate(self) -> float:
        """λ: the mean age of what was looked at, in hours."""


@dataclass(frozen=True, eq=False)
class LocalLog:
    clicks: Clicks

    @property
    def stories(self) -> int:
        return self.clicks.stories

    @property
    def readers(self) -> int:
        return len(np.unique(self.clicks.reader))

    def __len__(self) -> int:
        return len(self.clicks)

    def when(self, share: float) -> float:
        return float(np.quantile(self.clicks.at, share, method="lower"))

    def learnt(self, moment: float) -> Learnt:
        return signals.learn(self.clicks, moment)

    def moments(self, begin: float, end: float) -> list[Moment]:
        return list(blend.moments(self.clicks, begin, end))

    def alpha(self) -> float:
        return formulas.median_share(self.clicks.share)

    def rate(self) -> float:
        return formulas.fitted_rate(self.clicks.at - self.clicks.published[self.clicks.story])
