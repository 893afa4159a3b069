"""The ranking of photo stories, by a transparent formula (paper C, 2.2: 「评分排序」; the paper does not print its own).

    score = log2( pictures · size · captions · source · sites ) + moment / HALF_LIFE

Each factor is 1 for an average story. Every story loses half its worth per :data:`HALF_LIFE`, so that their order is stable over time and a
score is computed only when a story changes. Age by one half-life costs as much as doubling the number of sites gains.

==========  =========================================================  =========
factor      from                                                       range
==========  =========================================================  =========
pictures    √(pictures / 8)                                            0.5 – 2
size        short side of the middle picture / 600 pixels              0.5 – 1.5
captions    0.5 + share of pictures with a caption of their own        0.5 – 1.5
source      2 ^ ((weight − 5) / 5), weight from sources.yaml           0.57 – 2
sites       number of sites that published the story                   1 –
==========  =========================================================  =========

An incomplete story counts half. Ranges and half-life were chosen, not measured.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from math import log2, prod, sqrt
from statistics import median_low
from typing import Final

from newsportal.items import Image

HALF_LIFE: Final = timedelta(hours=24)
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
ORDINARY_PICTURES: Final = 8
ORDINARY_SIDE: Final = 600
INCOMPLETE: Final = 0.5


@dataclass(frozen=True, slots=True)
class Factors:
    pictures: float
    size: float
    captions: float
    source: float
    sites: float
    complete: float

    @property
    def worth(self) -> float:
        """The product of all factors, without freshness: 1 for an average story."""
        return float(prod(asdict(self).values()))


def factors(images: Sequence[Image], *, weight: int = 5, sites: int = 1, complete: bool = True) -> Factors:
    """Return the factors of a story with these pictures, from a source of this weight (1–10), published by ``sites`` sites."""
    sides = [min(image.width, image.height) for image in images if image.width and image.height]
    captioned = len({image.caption for image in images if image.caption}) / len(images) if images else 0.0
    return Factors(
        pictures=_within(sqrt(len(images) / ORDINARY_PICTURES), 0.5, 2.0),
        size=_within(median_low(sides) / ORDINARY_SIDE, 0.5, 1.5) if sides else 1.0,
        captions=0.5 + captioned,
        source=2.0 ** ((weight - 5) / 5),
        sites=float(max(sites, 1)),
        complete=1.0 if complete else INCOMPLETE,
    )


def score(worth: Factors, moment: datetime) -> float:
    """Return the ranking score, highest first. ``moment``: when the story appeared (aware)."""
    return log2(worth.worth) + (moment - EPOCH) / HALF_LIFE


def _within(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)
