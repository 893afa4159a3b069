"""The demo's made-up readers leave realistic data: views to learn from, recommendations with reasons, charts over months."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path

from madeup import readers

from newsportal.services.recommending.serving import Recommender
from newsportal.store import open_store
from newsportal.store.dialects import open_engine

sys.path.insert(0, str(Path(__file__).parent / "portal"))

import albums
import newsroom
import pytest


@pytest.mark.slow
def test_demo_has_views_recommendations_and_months(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path / 'store.db'}"
    store = open_store(uri)
    newsroom.fill(store)
    albums.fill(store)
    filled = readers.fill(store, newsroom.NOW)
    readers.earlier_months(open_engine(uri, create=False), newsroom.NOW)
    assert (filled.readers, store.readers.counts()) == (readers.READERS, (filled.views, readers.READERS))
    months = store.readers.months(alpha=0.5)
    assert [month.start.month for month in months] == [6, 7, 8, 9, 10, 11, 12, 1, 2, 3, 4, 5]
    assert all(month.offered > month.opened > month.liked > 0 for month in months)
    [(_, facts)] = store.readers.fits()
    assert facts["readers"] > readers.READERS / 2
    views = list(store.readers.views())
    stories = {story.story: story.published for story in store.readers.stories(newsroom.NOW - timedelta(days=30))}
    assert all(stories[view.story] <= view.at <= newsroom.NOW and 1 <= view.seen <= view.pictures for view in views)
    recommender = Recommender(store)
    found = [recommender.recommended(name, newsroom.NOW, 10) for name in sorted({view.reader for view in views})[:10]]
    assert any(entry.origin for some in found for entry in some)
    store.close()
