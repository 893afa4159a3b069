"""Detect words and events that are more frequent than in their past (docs/algorithms/rising.md).

Of the ``n`` stories of a window, ``k`` have a term; of the ``N`` stories of the weeks before, ``K``. ``λ`` is the expected count; the
surprise is the Chernoff bound on the probability that a Poisson variable reaches ``k``, as a negative power of ten::

    λ = max(MIN_EXPECTED, n · K / N)
    surprise = (k · ln(k / λ) − k + λ) / (φ · ln 10)            for k > λ, else 0

``φ`` ≥ 1 is Pearson's dispersion of the term's daily counts in these weeks: bursty terms need larger bursts. Comparing a count with its
quasi-Poisson past is Farrington's detection of outbreaks (1996), the surprise is that of Legéndy and Salcman (1985).
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from math import log
from typing import Final, Literal

from newsportal.text import fold_characters

DAY: Final = timedelta(days=1)
MICROSECOND: Final = timedelta(microseconds=1)

PAST_DAYS: Final = 28  # days before the window that form the past: four of each day of the week
MIN_PAST_DAYS: Final = 3  # minimum days of the past with stories, which must be as many as in the window: less does not show what is usual
MIN_EXPECTED: Final = 0.5  # minimum expected count: a term without a past needs four stories to reach :data:`MIN_SURPRISE`

MIN_SURPRISE: Final = 2.0
"""One in a hundred. Chosen, not measured: a board shows the first twenty, which are far above it on a busy day."""

MIN_STORIES: Final = 3
MIN_SITES: Final = 2  # a term repeated by a single site is not news
MAX_LATEST: Final = 50  # newest stories stored per term: enough to find terms in the same stories

SAME_STORIES: Final = 0.5
"""Words that share this part of the stories of the rarer one are shown on one line."""

MAX_WITH_WORDS: Final = 4  # further words on a line
Kind = Literal["word", "event"]
Term = tuple[Kind, str]


@dataclass(frozen=True, slots=True)
class Mention:
    """A story as input: its site, time of arrival, keywords, and the event it belongs to."""

    story: str
    site: str
    moment: datetime
    words: tuple[str, ...]
    event: str | None = None

    def terms(self) -> dict[Term, str]:
        """Return its distinct terms with their spelling."""
        found: dict[Term, str] = {("word", fold_characters(word)): word for word in self.words}
        return found | {("event", self.event): self.event} if self.event else found


@dataclass(frozen=True, slots=True)
class Rise:
    """A rising term. ``name``: the word, or the id of the event. ``stories``: ids of its newest stories in the window, newest first;
    ``count``: their total number. ``days``: stories per day, earliest first, including the window. ``with_words``: other words in the same
    stories. ``event``: the event of most of a word's stories."""

    kind: Kind
    name: str
    surprise: float
    expected: float
    count: int
    sites: int
    stories: tuple[str, ...]
    days: tuple[int, ...]
    event: str | None = None
    with_words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rises:
    """Result, most surprising first. ``stories``: number of stories in the window; ``past``: in the weeks before."""

    stories: int
    past: int
    words: tuple[Rise, ...] = ()
    events: tuple[Rise, ...] = ()


@dataclass(slots=True)
class _Counts:
    """Counts of a term. ``days``: age in days -> stories."""

    days: Counter[int] = field(default_factory=Counter)
    sites: set[str] = field(default_factory=set)
    latest: deque[tuple[str, str | None]] = field(default_factory=lambda: deque(maxlen=MAX_LATEST))
    written: str = ""


Mentions = Callable[[datetime, datetime], Iterable[Mention]]  # yields the stories from one moment until before another, earliest first


def find_rising(mentions: Mentions, until: datetime, days: int, count: int) -> Rises:
    """Return the terms rising in the ``days`` before ``until`` relative to :data:`PAST_DAYS` days before, at most ``count`` of each kind.
    The window is read first, then the past for its terms only: memory grows with the terms of the window, not with stories."""
    since = until - days * DAY
    totals, found = Counter[int](), dict[Term, _Counts]()
    for mention in mentions(since, until):
        age = (until - mention.moment - MICROSECOND) // DAY
        totals[age] += 1
        for term, written in mention.terms().items():
            counts = found.setdefault(term, _Counts())
            counts.days[age] += 1
            counts.sites.add(mention.site)
            counts.latest.append((mention.story, mention.event))
            counts.written = written
    stories = totals.total()
    found = {term: counts for term, counts in found.items() if counts.days.total() >= MIN_STORIES and len(counts.sites) >= MIN_SITES}
    for mention in mentions(since - PAST_DAYS * DAY, since):
        age = (until - mention.moment - MICROSECOND) // DAY
        totals[age] += 1
        for term in mention.terms().keys() & found.keys():
            found[term].days[age] += 1
    past = {age: number for age, number in totals.items() if age >= days}
    before = sum(past.values())
    if len(past) < MIN_PAST_DAYS or before < stories:
        return Rises(stories, before)
    rises = (_rise(kind, counts, stories, past, days) for (kind, _), counts in found.items())
    ranked = sorted((rise for rise in rises if rise.surprise >= MIN_SURPRISE), key=lambda rise: (-rise.surprise, rise.name))
    events = [rise for rise in ranked if rise.kind == "event"]
    return Rises(stories, before, tuple(_grouped_lines((rise for rise in ranked if rise.kind == "word"), count)), tuple(events[:count]))


def surprise(count: float, expected: float, dispersion: float = 1.0) -> float:
    """Return −log10 of the bound on the probability of a count of at least ``count`` if ``expected`` (> 0) are expected."""
    return (count * log(count / expected) - count + expected) / (dispersion * log(10)) if count > expected else 0.0


def dispersion(counts: Mapping[int, int], totals: Mapping[int, int]) -> float:
    """Return Pearson's dispersion of the daily ``counts`` relative to ``totals`` (each > 0) at a constant rate; at least 1 (Poisson)."""
    rate = sum(counts.get(day, 0) for day in totals) / sum(totals.values())
    if not rate or len(totals) < 2:
        return 1.0
    squares = sum((counts.get(day, 0) - number * rate) ** 2 / (number * rate) for day, number in totals.items())
    return max(1.0, squares / (len(totals) - 1))


def _rise(kind: Kind, counts: _Counts, stories: int, past: Mapping[int, int], days: int) -> Rise:
    now = sum(number for age, number in counts.days.items() if age < days)
    before = counts.days.total() - now
    expected = max(MIN_EXPECTED, stories * before / sum(past.values()))
    events = Counter(event for _, event in counts.latest if event)
    event, shared = events.most_common(1)[0] if events else (None, 0)
    return Rise(
        kind, counts.written, surprise(now, expected, dispersion(counts.days, past)), expected, now, len(counts.sites),
        tuple(story for story, _ in reversed(counts.latest)),
        tuple(counts.days[age] for age in reversed(range(days + PAST_DAYS))),
        event if 2 * shared >= len(counts.latest) else None,
    )  # fmt: skip


def _grouped_lines(ranked: Iterable[Rise], count: int) -> list[Rise]:
    """Return the first ``count`` lines of words; words of the same stories are joined."""
    lines: list[Rise] = []
    for rise in ranked:
        ids = set(rise.stories)
        for place, line in enumerate(lines):
            if len(ids & set(line.stories)) >= SAME_STORIES * min(len(ids), len(line.stories)):
                lines[place] = replace(line, with_words=(*line.with_words, rise.name)[:MAX_WITH_WORDS])
                break
        else:
            if len(lines) < count:
                lines.append(rise)
    return lines
