"""Made-up readers of the demo: their views, recommendations and opened stories, and the figures of earlier months.

There are no real people behind them. The portal learns its recommendations from these data as from a real log.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random

from sqlalchemy import Engine, insert

from newsportal.recommend.base import View
from newsportal.recommend.formulas import ALPHA
from newsportal.services.recommending import parts
from newsportal.services.recommending.serving import Recommender
from newsportal.store.reader_views import MONTHS, month_of
from newsportal.store.readers import StoryOffer
from newsportal.store.store import Store

READERS = 120
LOOKS = (8, 24)  # stories viewed per reader
TASTES = 2  # topics, categories or sources that a reader likes
KEEN = 300  # weight of liked stories
HOURS = 24.0  # between publication and view, on average
BACK = timedelta(days=7)  # maximum age of stories that are read
SHOWN = 6  # recommended to each reader, once
OPENED = 0.45  # share of the recommendations
MONTHS_BEFORE = 11


@dataclass(frozen=True, slots=True)
class Generated:
    """Numbers of the generated data."""

    readers: int
    views: int


def fill(store: Store, now: datetime, seed: int = 1) -> Generated:
    """Let made-up readers view the stories of ``store``, fit a model, recommend, and let them open some recommendations."""
    chance = Random(seed)
    offers = sorted(store.readers.stories(now - BACK), key=lambda offer: offer.story)
    heads = {story: listed.head.id for story, listed in store.by_id([offer.story for offer in offers]).items()}
    sizes = {story: _size(store, head) for story, head in heads.items()}
    names = [f"{chance.getrandbits(128):032x}" for _ in range(READERS)]
    views = [view for name in names for view in _looks(name, offers, sizes, now, chance)] if offers else []
    store.readers.import_views([replace(view, story=heads[view.story]) for view in views], now=now)
    parts.fit(store, now)
    recommender = Recommender(store)
    for name in names:
        recommendations = [shown.recommendation for shown in recommender.recommended(name, now, SHOWN)]
        store.readers.record_offer(name, recommendations, now=now)
        for recommendation in recommendations:
            if recommendation.story in heads and chance.random() < OPENED:
                _look(store, name, heads[recommendation.story], sizes[recommendation.story], now, chance)
    return Generated(len(names), store.readers.counts()[0])


def earlier_months(engine: Engine, now: datetime, seed: int = 1) -> None:
    """Store figures of earlier months, as they remain when views are deleted: more readers each month, and better recommendations."""
    chance, start, rows = Random(seed), month_of(now), []
    for back in range(1, MONTHS_BEFORE + 1):
        start = month_of(start - timedelta(days=1))
        growth = 1 - back / (MONTHS_BEFORE + 3)
        views = round(READERS * 12 * growth * chance.uniform(0.85, 1.15))
        offered = round(views * 0.4)
        opened = round(offered * (0.25 + 0.2 * growth) * chance.uniform(0.9, 1.1))
        rows.append(
            {"start": start, "views": views, "pictures": views * 3, "readers": round(READERS * growth), "offered": offered,
             "opened": opened, "liked": round(opened * chance.uniform(0.6, 0.75))}
        )  # fmt: skip
    with engine.begin() as connection:
        connection.execute(insert(MONTHS), rows)


def _looks(name: str, offers: Sequence[StoryOffer], sizes: dict[str, int], now: datetime, chance: Random) -> list[View]:
    """Return the views of a reader by taste, each some hours after the story was published."""
    labels = sorted({label for offer in offers for label in offer.labels})
    likes = set(chance.sample(labels, min(TASTES, len(labels))))
    weights = [KEEN ** len(likes.intersection(offer.labels)) for offer in offers]
    drawn = {offer.story: offer for offer in chance.choices(offers, weights, k=chance.randint(*LOOKS))}
    views = []
    for offer in drawn.values():
        at = offer.published + timedelta(hours=chance.expovariate(1 / HOURS))
        size = sizes[offer.story]
        if at < now:
            views.append(View(name, offer.story, chance.randint(1, size) if size else 1, size or 1, at))
    return views


def _look(store: Store, name: str, article: str, size: int, now: datetime, chance: Random) -> None:
    number = size if chance.random() < ALPHA else chance.randint(1, size or 1)
    store.readers.record_view(name, article, range(1, number + 1), pictures=size, now=now)


def _size(store: Store, article: str) -> int:
    """Return the number of pictures of a photo story; 0 for other articles."""
    found = store.galleries.gallery(article)
    return found.pictures if found else 0
