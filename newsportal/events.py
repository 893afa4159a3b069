"""Online clustering of stories into events (docs/algorithms/events.md).

A story is a vector of its keywords; an event is the sum of its stories' vectors, cut to its weightiest terms. A story joins the event of
the highest cosine, if that reaches ``threshold``; else it begins an event of its own::

    story(term) = sqrt(weight of the keyword) / |story|        event(term) = Σ story(term) over its stories
    score(story, event) = Σ story(term) · event(term) / |event|

The single pass with centroids is Allan's (Topic Detection and Tracking, 2002); that keywords with names joined and weighed by kind stand
for the text is ours, and what makes it work on Chinese. An event never ends: it sleeps, and a trial a year later wakes it.
Two rules keep apart what only reads alike:

* *twins*, two accidents of a kind at two places: an event of few stories takes none whose places it never names, unless it is very like it;
* *periodic news*, today's exchange rate and yesterday's: a story whose title differs in its numbers alone from those of most of an
  event's stories of other days is no continuation of them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import sqrt
from operator import itemgetter
from typing import Final

from newsportal.text import fold_characters
from newsportal.text.characters import made_once
from newsportal.text.words import kinds

THRESHOLD: Final = 0.15
"""The least cosine of a story and its event: the best also with any one event of the development data left out."""

TERMS: Final = 40
"""Keywords of a story that count; 30 and 60 do no better."""

EVENT_TERMS: Final = 80
"""Terms that an event keeps when it has twice as many: memory is bounded by events, not by stories."""

CANDIDATES: Final = 5
"""Events that are tried for a story, the most similar first."""

FEW_STORIES: Final = 8
"""Up to so many stories an event is held to its places: larger ones have been told from everywhere."""

VERY_LIKE: Final = 0.3
"""The cosine from which another place does not matter; 0.35 parts real events (one point and a half of F1)."""

RECENT: Final = 20
"""Stories of an event whose titles are compared for periodic news."""

SAME_FORM: Final = 0.7
"""Dice coefficient of the pairs of characters of two titles without their numbers, from which they have one form."""

ANOTHER_DAY: Final = timedelta(hours=14)
"""Between two issues of a daily report at least: sites differ by some hours."""

EXPLAINED: Final = 6
"""Terms that a membership names."""

NUMBER: Final = re.compile(r"[\d〇一二三四五六七八九十百千万亿点%.％]+")
NO_WORD: Final = re.compile(r"\W+")


@dataclass(frozen=True, slots=True)
class Story:
    """What is asked of a story: ``terms`` are its keywords with their weights (> 0, any scale), ``places`` those that name a place."""

    id: str
    title: str
    published: datetime | None
    terms: Mapping[str, float]
    places: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Membership:
    """The event of a story, by the id of its first story; the cosine (1 for the first); the terms that decided, the weightiest first."""

    event: str
    score: float
    terms: tuple[str, ...]


@made_once
def _place_names() -> frozenset[str]:
    return frozenset(word for word, kind in kinds() if kind.startswith("ns"))


def places_among(words: Iterable[str]) -> frozenset[str]:
    """Those of ``words`` that the dictionary has as names of places."""
    return frozenset(word for word in words if fold_characters(word) in _place_names())


@dataclass(frozen=True, slots=True)
class _TitleForm:
    pairs: frozenset[str]
    numbers: tuple[str, ...]
    published: datetime | None

    def is_other_issue(self, other: _TitleForm) -> bool:
        """Whether both titles are those of one periodic report: of one form, with other numbers, on other days."""
        if not (self.numbers and other.numbers and self.pairs and other.pairs) or self.numbers == other.numbers:
            return False
        if self.published is None or other.published is None or abs(self.published - other.published) < ANOTHER_DAY:
            return False
        return 2 * len(self.pairs & other.pairs) >= SAME_FORM * (len(self.pairs) + len(other.pairs))


@dataclass(slots=True)
class _Event:
    id: str
    terms: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    length: float = 1.0
    stories: int = 0
    places: Counter[str] = field(default_factory=Counter)
    titles: deque[_TitleForm] = field(default_factory=lambda: deque(maxlen=RECENT))


class EventClusters:
    """Events of stories that are added in time order. Time a story grows with the events that share its terms, memory with events."""

    def __init__(self, threshold: float = THRESHOLD) -> None:
        self._threshold = threshold
        self._events: dict[str, _Event] = {}
        self._events_of: defaultdict[str, dict[str, _Event]] = defaultdict(dict)  # term -> events by their id

    def add(self, story: Story) -> Membership:
        """Put a story into its event. A story without terms is an event by itself; one of a known id counts again."""
        terms = _unit_vector(story.terms)
        title = _title_form(story)
        scores: defaultdict[str, float] = defaultdict(float)
        for term, weight in terms.items():
            for id, event in self._events_of.get(term, {}).items():
                scores[id] += weight * event.terms[term] / event.length
        for id, score in sorted(scores.items(), key=lambda pair: -pair[1])[:CANDIDATES]:
            event = self._events[id]
            if score < self._threshold:
                break
            if self._is_elsewhere(story, event, score) or _is_periodic(title, event):
                continue
            shared = sorted(((weight * event.terms[term], term) for term, weight in terms.items() if term in event.terms), reverse=True)
            self._join(event, story, terms, title)
            return Membership(id, min(1.0, score), tuple(term for _, term in shared[:EXPLAINED]))
        event = self._events.setdefault(story.id, _Event(story.id))
        self._join(event, story, terms, title)
        return Membership(story.id, 1.0, tuple(list(terms)[:EXPLAINED]))

    @staticmethod
    def _is_elsewhere(story: Story, event: _Event, score: float) -> bool:
        """Whether the story is of other places than an event of few stories."""
        if score >= VERY_LIKE or event.stories >= FEW_STORIES or not story.places or not event.places:
            return False
        return not any(4 * event.places[place] >= event.stories for place in story.places)

    def _join(self, event: _Event, story: Story, terms: Mapping[str, float], title: _TitleForm) -> None:
        event.stories += 1
        event.titles.append(title)
        event.places.update(story.places)
        for term, weight in terms.items():
            event.terms[term] += weight
            self._events_of[term][event.id] = event
        if len(event.terms) > 2 * EVENT_TERMS:
            for term in sorted(event.terms, key=event.terms.__getitem__)[:-EVENT_TERMS]:
                del event.terms[term], self._events_of[term][event.id]
        event.length = sqrt(sum(weight * weight for weight in event.terms.values())) or 1.0


def _unit_vector(weights: Mapping[str, float]) -> dict[str, float]:
    """The square roots of the largest weights, of length 1, the largest first."""
    largest = sorted(weights.items(), key=itemgetter(1), reverse=True)[:TERMS]
    length = sqrt(sum(weight for _, weight in largest))
    return {term: sqrt(weight) / length for term, weight in largest} if length else {}


def _title_form(story: Story) -> _TitleForm:
    letters = NO_WORD.sub("", NUMBER.sub("", story.title))
    pairs = frozenset(letters[at : at + 2] for at in range(len(letters) - 1))
    return _TitleForm(pairs, tuple(NUMBER.findall(story.title)), story.published)


def _is_periodic(title: _TitleForm, event: _Event) -> bool:
    """Whether most of an event's last stories are other issues of the report with this title."""
    return 2 * sum(title.is_other_issue(earlier) for earlier in event.titles) >= len(event.titles)
