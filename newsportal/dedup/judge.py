"""``judge``, the default finder of reposts: fingerprints, an inverted index, containment in the shorter text, a guard on numbers; and the
keys of titles by which short texts fold.

A document's sampled runs are looked up (``shingle_index``); earlier documents that share most of them are compared closely (``compared``).
:class:`Judge` keeps everything in memory; the SQL stores hold what they know beside the articles and ask the same rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from newsportal.dedup.document import NEW, Document, Relation, Verdict, Window
from newsportal.dedup.fingerprints import ALL, KEPT, Codes, Fingerprint, fingerprint, limit_for
from newsportal.dedup.shingle_index import ShingleIndex, indexed
from newsportal.items import FoldKey, content_id
from newsportal.text import letters

ALIKE: Final = 0.6
"""Share of the shorter title's pairs of letters that makes two titles alike: a site's prefix and the name of the event are not enough."""

SPOKEN: Final = 0.3  # share of a title's pairs of letters that the text must hold to speak of it
SHORTEST: Final = 4  # letters of a title that says something


def is_subject(new: str, old: str, shared: str) -> bool:
    """Whether the titles (letters alone) are alike, or ``shared`` speaks of one of them. Titles that say nothing refuse nothing."""
    if min(len(new), len(old)) < SHORTEST:
        return True
    return alike(new, old) or any(sum(pair in shared for pair in title) >= SPOKEN * len(title) for title in (_pairs(new), _pairs(old)))


def alike(one: str, other: str) -> bool:
    pairs, others = _pairs(one), _pairs(other)
    return len(pairs & others) >= ALIKE * max(1, min(len(pairs), len(others)))


def _pairs(title: str) -> set[str]:
    return {title[place : place + 2] for place in range(len(title) - 1)}


MIN_TITLE = 8  # letters of the shortest title that says one event: shorter ones (「图片新闻」「今日天气」) are the names of columns
SHORT_TEXT = 60
"""Letters below which a text (a film's or picture's caption, 「点击查看视频」) says less than its title. On the made reposts a title as key
for all texts would find 0.2 % more of them, and 2.5 of 100 folds would be wrong ones."""

TITLE_WINDOW = 2 * 86400.0  # two days: a title that comes again later is a column or a yearly event (paper A compares within a day)


def fold_keys(title: str | None, text: str | None) -> tuple[FoldKey, ...]:
    """The fold keys of an article. Punctuation, width, case, white space and 简/繁 do not tell titles apart."""
    if len(name := letters(title or "")) < MIN_TITLE or len(letters((text or "")[: 4 * SHORT_TEXT])) >= SHORT_TEXT:
        return ()
    return (FoldKey(key=f"title:{content_id(name)}", reason="same-title", score=0.9, window=TITLE_WINDOW, same_site=False),)


ENOUGH: Final = 0.6  # containment from which a text is a repost
SAME: Final = 0.6  # share of the longer text too from which both are the same text, not one a part of the other
UNCHANGED: Final = 0.98

NUMBERS_KEPT: Final = 0.7  # of the share of runs without digits, so much must hold for those with digits as well
NUMBERS_KEPT_TITLED: Final = 0.5  # … under the same title: a date may have been changed
FEWEST_ALL_CHANGED: Final = 3  # runs with digits that say something when not one of them is kept
FEWEST_NUMBERS: Final = 8  # runs with digits that say something: a number of three digits lies in eight runs
CHANGED_TITLED: Final = 0.8
"""Containment below which numbers must speak for a repost under one title: a report that comes without its numbers is the next one."""

FEWEST: Final = 16  # runs that must be left when the common ones are gone: a sentence
FEWEST_TITLED: Final = 12  # … under the same title: a flash
REASONS: Final[dict[Relation, str]] = {"same": "edited-text", "part": "part-of-text", "contains": "contains-text"}


@dataclass(frozen=True, slots=True)
class Overlap:
    """Counts of runs, common ones left out: of the ``new`` text, the ``old`` one, ``shared`` by both.

    Of the shorter text, from its first shared run to its last, so that a lead or a tail that was added says nothing: ``numbers``, its
    runs with digits, how many are kept, and the same of its ``words``, the runs without.
    """

    new: int
    old: int
    shared: int
    numbers: int = 0
    shared_numbers: int = 0
    words: int = 0
    shared_words: int = 0

    @property
    def containment(self) -> float:
        return self.shared / max(1, min(self.new, self.old))


def overlap(new: Codes, old: Codes, common: Codes, limit: int) -> Overlap:
    """The overlap of two texts' runs below ``limit``, without ``common`` ones (ascending). ``new``, ``old``: as in the text, each once."""
    if limit < ALL:
        new, old = new[new < limit], old[old < limit]
    new, old = _without(new, common), _without(old, common)
    shorter, longer = (new, old) if len(new) <= len(old) else (old, new)
    kept = _member(shorter, np.sort(longer))
    places = kept.nonzero()[0]
    if not len(places):
        return Overlap(len(new), len(old), 0)
    span = slice(int(places[0]), int(places[-1]) + 1)
    digits, kept = (shorter[span] & 1).astype(np.bool_), kept[span]
    numbers, numbers_kept = (int(np.count_nonzero(of)) for of in (digits, digits & kept))
    return Overlap(len(new), len(old), len(places), numbers, numbers_kept, len(kept) - numbers, len(places) - numbers_kept)


def verdict(found: Overlap, earlier: str, same_title: bool) -> Verdict:
    """Whether the overlap makes the new text a repost of the text called ``earlier``."""
    if (
        (found.shared < (FEWEST_TITLED if same_title else FEWEST) and not (same_title and found.containment == 1))
        or found.containment < ENOUGH
        or _refilled(found, same_title)
        or (same_title and found.containment < CHANGED_TITLED and not _numbers_agree(found, 1.0))
    ):
        return NEW
    of_new, of_old = (found.shared / max(1, number) for number in (found.new, found.old))
    if min(of_new, of_old) >= SAME:
        reason = "same-text" if min(of_new, of_old) >= UNCHANGED else REASONS["same"]
        return Verdict(earlier, reason, round(found.containment, 3), "same")
    relation: Relation = "part" if of_new > of_old else "contains"
    return Verdict(earlier, REASONS[relation], round(found.containment, 3), relation)


def _refilled(found: Overlap, same_title: bool) -> bool:
    """A template with other numbers."""
    if not found.words or found.numbers < FEWEST_NUMBERS:
        return found.numbers >= FEWEST_ALL_CHANGED and not found.shared_numbers
    return not _numbers_agree(found, NUMBERS_KEPT_TITLED if same_title else NUMBERS_KEPT)


def _numbers_agree(found: Overlap, share: float) -> bool:
    """Whether runs with digits are kept, at least ``share`` as many of them as of the runs without."""
    return found.shared_numbers > 0 and found.shared_numbers * found.words >= share * found.shared_words * found.numbers


def _without(runs: Codes, common: Codes) -> Codes:
    return runs[~_member(runs, common)] if len(common) else runs


def _member(runs: Codes, others: Codes) -> NDArray[np.bool_]:
    """Which of ``runs`` are among ``others``, which ascend."""
    if not len(others):
        return np.zeros(len(runs), dtype=np.bool_)
    at = np.minimum(others.searchsorted(runs), len(others) - 1)
    found: NDArray[np.bool_] = others[at] == runs
    return found


T = TypeVar("T")  # what a story is called: a number in memory, an id in a store
WINDOW: Final = 180.0  # days after which a text is forgotten
CAPACITY: Final = 2_000_000  # documents that are remembered at most, some 4 GB
SURE: Final = 0.75  # containment from which titles are not asked …
BRIEF: Final = 180  # … unless a text is so short (in runs) that it may be a site's notice alone …
CROWD: Final = 6  # … or the story has so many copies already: then it may be a site's furniture
TITLE_KEPT: Final = 40  # letters of a title that are kept


@dataclass(frozen=True, slots=True)
class Earlier(Generic[T]):
    """What the rule asks of an earlier document: its ``runs`` in the order of the text (as bytes), of ``length`` in all, the letters of
    its title, how many ``copies`` its story has."""

    id: str
    story: T
    runs: bytes
    length: int
    title: str
    copies: int


def compared(new: Fingerprint, title: str, candidates: Iterable[Earlier[T]], common: Codes) -> list[tuple[Verdict, Earlier[T]]]:
    """The rule: the candidates that the new text repeats, the fullest first, of equals the one that came first. ``title``: letters
    alone; ``common``: its runs that are nobody's, ascending."""
    ordered = new.in_order()
    found = []
    for old in candidates:
        runs = np.frombuffer(old.runs, dtype=np.uint32)
        shared = overlap(ordered, runs, common, min(new.limit, limit_for(old.length, KEPT)))
        answer = verdict(shared, old.id, bool(title) and title == old.title)
        if answer.duplicate_of is None:
            continue
        doubtful = answer.score < SURE or min(new.length, old.length) < BRIEF or old.copies >= CROWD
        if not doubtful or is_subject(title, old.title, new.covered(runs)):
            found.append((answer, old))
    return sorted(found, key=lambda pair: -pair[0].score)


def title_letters(title: str | None) -> str:
    return letters(title or "")[:TITLE_KEPT]


class Judge:
    """A finder; ``window`` in days, ``capacity`` in documents. Not locked: one thread at a time."""

    def __init__(self, *, window: float = WINDOW, capacity: int = CAPACITY) -> None:
        self._window: Window[int] = Window(timedelta(days=window), capacity)
        self._kept: dict[int, Earlier[int]] = {}  # ``story``: the number of its first document; ``copies`` are counted apart
        self._next = 0
        self._index = ShingleIndex()
        self._copies: Counter[int] = Counter()  # by the number of the story's first document

    def judge(self, document: Document) -> Verdict:
        """The earlier document that this one repeats most fully, the earliest of equals."""
        return next(iter(self.matches(document)), NEW)

    def matches(self, document: Document) -> list[Verdict]:
        """All close earlier documents that this one repeats, the fullest first. The document is remembered."""
        new, title = fingerprint(document.text), title_letters(document.title)
        likely = self._index.likely(new)
        likeliest = (self._kept[number] for number in likely.numbers)
        candidates = (replace(old, copies=self._copies[old.story]) for old in likeliest)
        found = compared(new, title, candidates, likely.common)
        number, story = self._next, found[0][1].story if found else self._next
        self._next += 1
        if found:
            self._copies[story] += 1
        self._kept[number] = Earlier(document.id, story, new.in_order().tobytes(), new.length, title, 0)
        self._index.add(number, indexed(new.runs, new.length), new.length, story, title)
        for old in self._window.enter(number, self._window.time_of(document.published)):
            its_story = self._kept.pop(old).story
            if its_story != old:
                self._copies[its_story] -= 1
                if not self._copies[its_story]:
                    del self._copies[its_story]
            self._index.forget(old + 1)
        return [answer for answer, _ in found]
