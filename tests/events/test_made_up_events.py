"""Clustering of the made-up events: similar ones stay separate, follow-ups are joined."""

from __future__ import annotations

import sys
from itertools import combinations
from pathlib import Path

from factories import NOW, empty_store

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "site"))
from datetime import timedelta

from madeup.events import DEMO, DOCUMENTS, fill
from madeup.stories import lines_of, stories

from newsportal.events import EventClusters
from newsportal.services.events.following import EventFollower, story_of

APART, TOGETHER = 0.95, 0.75
"""Minimum shares of correct pairs: of different events of one kind, and of the same event."""


def test_similar_events_are_separate_and_follow_ups_joined() -> None:
    clusters = EventClusters()
    found = {doc.id: clusters.add(story_of(doc.id, doc.title, doc.text, NOW + timedelta(days=doc.day))).event for doc in DOCUMENTS}
    pairs = [(first, other) for first, other in combinations(DOCUMENTS, 2)]
    alike = [(first, other) for first, other in pairs if first.kind == other.kind and first.event != other.event]
    same = [(first, other) for first, other in pairs if first.event == other.event]
    wrong = [(first.title, other.title) for first, other in alike if found[first.id] == found[other.id]]
    missed = [(first.title, other.title) for first, other in same if found[first.id] != found[other.id]]
    assert len(alike) >= 40
    assert 1 - len(wrong) / len(alike) >= APART, wrong
    assert 1 - len(missed) / len(same) >= TOGETHER, missed


def test_demo_has_an_event_of_five_days() -> None:
    store = empty_store()
    assert fill(store, NOW) == 5
    EventFollower().follow(store)
    (event,) = store.events.list_events().events
    assert event.stories == sum(document.event == DEMO for document in DOCUMENTS)
    assert event.last - event.first == timedelta(days=4)


def test_flashes_of_one_column_are_separate_events() -> None:
    clusters, flashes = EventClusters(), [document for document in stories() if document.is_flash]
    found = [clusters.add(story_of(flash.id, flash.title, lines_of(flash.blocks), NOW)).event for flash in flashes]
    assert len(found) > 4
    assert len(set(found)) == len(found)
