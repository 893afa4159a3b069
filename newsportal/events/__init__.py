"""Online clustering of stories into events (docs/algorithms/events.md).

A story is a vector of its keywords; an event is the sum of its stories' vectors, truncated to the terms with the largest weights. A story
joins the event with the highest cosine if it reaches ``threshold``, else it starts a new event::

    story(term) = sqrt(weight of the keyword) / |story|        event(term) = Σ story(term) over its stories
    score(story, event) = Σ story(term) · event(term) / |event|

Single-pass clustering with centroids follows Allan (Topic Detection and Tracking, 2002); representing the text by keywords, with names
joined and weighted by part of speech, is ours, and makes it work on Chinese. An event never ends: a trial a year later continues it.

Two rules separate events that only read alike:

* *twins*, two accidents of one kind at two places: an event of few stories accepts no story whose places it never mentions, unless it is
  very similar;
* *periodic news*, today's exchange rate and yesterday's: a story is not added if its title differs only in numbers, or not at all, from the
  titles of most of the event's stories of other days.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from math import inf, sqrt
from operator import itemgetter
from typing import Final

import numpy as np

from newsportal.text import fold_characters
from newsportal.text.characters import cache_once
from newsportal.text.words import parts_of_speech

THRESHOLD: Final = 0.15  # minimum cosine of a story and its event: also the best value with any one event of the development data left out
MAX_TERMS: Final = 40  # keywords of a story that are used; 30 and 60 are not better
MAX_EVENT_TERMS: Final = 80  # terms kept in an event, truncated at twice as many: memory is bounded by events, not stories
MAX_CANDIDATES: Final = 5  # most similar events tried for a story

MAX_SHARED_BY_CHANCE: Final = 1
"""Terms shared by texts of different events: short texts of one section or place have nothing else in common."""

SAME_EVENT: Final = 0.4  # minimum cosine of the sums of two events to merge them
FEW_STORIES: Final = 8  # number of stories below which the places of an event matter: larger events are reported from everywhere
VERY_SIMILAR: Final = 0.3  # cosine from which different places are ignored; 0.35 splits real events (one point and a half of F1)

SAME_WORDS: Final = 0.4
"""The same if both titles name their places: short reports of two fires share most of their words. 0.45 splits real events (0.6 of F1)."""

RECENT_TITLES: Final = 20  # latest titles of an event compared for periodic news
SAME_FORM: Final = 0.7  # minimum Dice coefficient of the character bigrams of two titles without numbers to have the same form
MIN_ISSUE_INTERVAL: Final = timedelta(hours=14)  # minimum interval between two issues of a daily report: sites differ by some hours

COMPACT_FROM: Final = 64
"""Length of the postings of a term from which entries of the same event are merged, and again whenever it has doubled."""

MAX_EXPLAINED: Final = 6  # terms listed in a membership
NUMBER: Final = re.compile(r"[\d〇一二三四五六七八九十百千万亿点%.％]+")
NON_WORD: Final = re.compile(r"\W+")


@dataclass(frozen=True, slots=True)
class Story:
    """A story to cluster: ``terms`` are its keywords with weights (> 0, any scale), ``places`` those that are place names."""

    id: str
    title: str
    published: datetime | None
    terms: Mapping[str, float]
    places: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Membership:
    """The event of a story (the id of its first story), the cosine (1 for the first), and the deciding terms, largest product first."""

    event: str
    score: float
    terms: tuple[str, ...]


@cache_once
def _place_names() -> frozenset[str]:
    return frozenset(word for word, kind in parts_of_speech() if kind.startswith("ns"))


def places_among(words: Iterable[str]) -> frozenset[str]:
    """Return the ``words`` that are place names in the dictionary."""
    return frozenset(word for word in words if fold_characters(word) in _place_names())


@dataclass(frozen=True, slots=True)
class _TitleForm:
    pairs: frozenset[str]
    numbers: tuple[str, ...]
    published: datetime | None

    def is_other_issue(self, other: _TitleForm) -> bool:
        """Return whether both titles are issues of one periodic report: same form with other numbers, or equal, on other days."""
        if not (self.pairs and other.pairs) or bool(self.numbers) != bool(other.numbers):
            return False
        if self.published is None or other.published is None or abs(self.published - other.published) < MIN_ISSUE_INTERVAL:
            return False
        if self.numbers == other.numbers:
            return self.pairs == other.pairs
        return 2 * len(self.pairs & other.pairs) >= SAME_FORM * (len(self.pairs) + len(other.pairs))


@dataclass(frozen=True, slots=True)
class EventState:
    """Persistent state of an event: the sum of its stories' vectors, their places, and the latest titles."""

    id: str
    stories: int
    terms: Mapping[str, float]
    places: Mapping[str, int]
    titles: tuple[tuple[str, datetime | None], ...]


@dataclass(slots=True)
class _Event:
    """An event in memory. Terms and weights are parallel sequences: a dictionary for each of a hundred thousand events is too large."""

    id: str
    number: int
    names: list[str] = field(default_factory=list)
    weights: array[float] = field(default_factory=lambda: array("f"))
    stories: int = 0
    places: dict[str, int] = field(default_factory=dict)
    titles: list[tuple[str, datetime | None]] = field(default_factory=list)

    @property
    def terms(self) -> dict[str, float]:
        return dict(zip(self.names, self.weights, strict=True))

    @property
    def state(self) -> EventState:
        return EventState(self.id, self.stories, self.terms, dict(self.places), tuple(self.titles))


class EventClusters:
    """Clusters of stories, added in chronological order. Time per story grows with the events sharing its terms, memory with stories."""

    def __init__(self, threshold: float = THRESHOLD) -> None:
        self._threshold = threshold
        self._events: dict[str, _Event] = {}
        self._by_number: list[_Event] = []
        self._lengths = array("d")  # by number; infinite for a removed event
        self._postings: dict[str, array[float]] = {}  # term -> event number, weight added by a story, event number, …
        self._compacted_at: dict[str, int] = {}  # term -> length of its postings at which they are merged next

    def __len__(self) -> int:
        return len(self._events)

    def add(self, story: Story) -> Membership:
        """Add a story to its event. A story without terms is an event by itself; one with a known id is counted again."""
        terms = unit_vector(story.terms)
        title = _title_form(story.title, story.published)
        for score, event in self._candidates(terms):
            if score < self._threshold:
                break
            if self._is_elsewhere(story, event, score) or _is_periodic(title, event):
                continue
            event_terms = event.terms
            shared = sorted(((weight * event_terms[term], term) for term, weight in terms.items() if term in event_terms), reverse=True)
            if len(shared) <= MAX_SHARED_BY_CHANCE < len(terms):
                continue
            self._join(event, story, terms)
            return Membership(event.id, min(1.0, score), tuple(term for _, term in shared[:MAX_EXPLAINED]))
        self._join(self._events.get(story.id) or self._new(story.id), story, terms)
        return Membership(story.id, 1.0, tuple(list(terms)[:MAX_EXPLAINED]))

    def most_similar(self, id: str) -> tuple[str, float] | None:
        """Return the event to be merged with this one and the cosine of their sums, ``None`` if there is none."""
        event = self._events.get(id)
        if event is None:
            return None
        terms = event.terms
        length = sqrt(sum(weight * weight for weight in terms.values())) or 1.0
        for score, other in self._candidates({term: weight / length for term, weight in terms.items()}):
            if score < SAME_EVENT:
                break
            if other is event or (event.places and other.places and not event.places.keys() & other.places.keys()):
                continue
            if not any(_is_periodic(_title_form(*title), other) for title in event.titles):
                return other.id, score
        return None

    def state(self, id: str) -> EventState:
        return self._events[id].state

    def restore(self, state: EventState) -> None:
        """Restore an event from its state, replacing any event with its id."""
        self.remove(state.id)
        event = self._new(state.id)
        event.stories, event.places, event.titles = state.stories, dict(state.places), list(state.titles)
        self._store_terms(event, state.terms)
        for term, weight in state.terms.items():
            self._add_posting(term, event, weight)

    def remove(self, id: str) -> None:
        if (event := self._events.pop(id, None)) is not None:
            self._lengths[event.number] = inf
            event.names, event.weights = [], array("f")

    def _new(self, id: str) -> _Event:
        event = self._events[id] = _Event(id, len(self._by_number))
        self._by_number.append(event)
        self._lengths.append(1.0)
        return event

    def _candidates(self, terms: Mapping[str, float]) -> list[tuple[float, _Event]]:
        """Return the events with the highest cosines, highest first; ties by age."""
        found = [(weight, np.frombuffer(self._postings[term], np.float32)) for term, weight in terms.items() if term in self._postings]
        if not found:
            return []
        numbers = np.concatenate([pairs[::2] for _, pairs in found]).astype(np.intp)
        sums = np.bincount(numbers, np.concatenate([weight * pairs[1::2].astype(float) for weight, pairs in found]))
        scores = sums / np.frombuffer(self._lengths)[: len(sums)]
        best = np.argpartition(-scores, MAX_CANDIDATES)[:MAX_CANDIDATES] if len(scores) > MAX_CANDIDATES else np.arange(len(scores))
        return [
            (float(scores[at]), self._by_number[at]) for at in sorted(best.tolist(), key=lambda at: (-scores[at], at)) if scores[at] > 0
        ]

    @staticmethod
    def _is_elsewhere(story: Story, event: _Event, score: float) -> bool:
        """Return whether the story is about other places than an event of few stories."""
        if score >= SAME_WORDS or event.stories >= FEW_STORIES or not story.places or not event.places:
            return False
        if score >= VERY_SIMILAR and not (_names_any(story.title, story.places) and _names_any(event.titles[0][0], event.places)):
            return False
        return not any(4 * event.places.get(place, 0) >= event.stories for place in story.places)

    def _join(self, event: _Event, story: Story, terms: Mapping[str, float]) -> None:
        event.stories += 1
        event.titles = [*event.titles, (story.title, story.published)][-RECENT_TITLES:]
        for place in story.places:
            event.places[place] = event.places.get(place, 0) + 1
        summed = event.terms
        for term, weight in terms.items():
            summed[term] = summed.get(term, 0.0) + weight
            self._add_posting(term, event, weight)
        if len(summed) > 2 * MAX_EVENT_TERMS:
            for term in sorted(summed, key=summed.__getitem__)[:-MAX_EVENT_TERMS]:
                del summed[term]
                pairs = np.frombuffer(self._postings[term], np.float32).reshape(-1, 2)
                remaining = array("f", pairs[pairs[:, 0] != event.number].tobytes())
                if remaining:
                    self._postings[term] = remaining
                else:
                    del self._postings[term]
        self._store_terms(event, summed)

    def _store_terms(self, event: _Event, terms: Mapping[str, float]) -> None:
        event.names, event.weights = [sys.intern(term) for term in terms], array("f", terms.values())
        self._lengths[event.number] = sqrt(sum(weight * weight for weight in terms.values())) or 1.0

    def _add_posting(self, term: str, event: _Event, weight: float) -> None:
        pairs = self._postings.setdefault(sys.intern(term), array("f"))
        pairs.extend((event.number, weight))
        if len(pairs) >= self._compacted_at.get(term, COMPACT_FROM):
            numbers, weights = np.frombuffer(pairs, np.float32).reshape(-1, 2).T
            events, places = np.unique(numbers, return_inverse=True)
            alive = np.isfinite(np.frombuffer(self._lengths)[events.astype(np.intp)])
            sums = np.bincount(places, weights)
            remaining = array("f", np.column_stack([events, sums])[alive].astype(np.float32).tobytes())
            self._postings[term], self._compacted_at[term] = remaining, max(COMPACT_FROM, 2 * len(remaining))


def combined_state(id: str, stories: Iterable[Story]) -> EventState:
    """Return the state of an event of these stories, however dissimilar: an editor combined them."""
    clusters = EventClusters()
    event = clusters._new(id)
    for story in stories:
        clusters._join(event, story, unit_vector(story.terms))
    return event.state


def unit_vector(weights: Mapping[str, float]) -> dict[str, float]:
    """Return the square roots of the largest weights, normalised to length 1, largest first."""
    largest = sorted(weights.items(), key=itemgetter(1), reverse=True)[:MAX_TERMS]
    length = sqrt(sum(weight for _, weight in largest))
    return {term: sqrt(weight) / length for term, weight in largest} if length else {}


@lru_cache(maxsize=4096)
def _title_form(title: str, published: datetime | None) -> _TitleForm:
    letters = NON_WORD.sub("", NUMBER.sub("", title))
    pairs = frozenset(letters[at : at + 2] for at in range(len(letters) - 1))
    return _TitleForm(pairs, tuple(NUMBER.findall(title)), published)


def _names_any(title: str, places: Iterable[str]) -> bool:
    return any(place in title for place in places)


def _is_periodic(title: _TitleForm, event: _Event) -> bool:
    """Return whether most of an event's latest titles are other issues of this periodic report."""
    return 2 * sum(title.is_other_issue(_title_form(*earlier)) for earlier in event.titles) >= len(event.titles)
