"""``judge``, the default finder of reposts: fingerprints, an inverted index, containment in the shorter text, a check of numbers; and the
title keys by which short texts fold.

A document's sampled runs are looked up (``shingle_index``); earlier documents that share most of them are compared closely (``compare``).
:class:`Judge` keeps everything in memory; the SQL stores keep fingerprints beside the articles and apply the same rule.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from newsportal.dedup.document import MIN_SAME_SHARE, NEW, WINDOW, Document, Relation, Verdict, Window, alike, letter_pairs, title_letters
from newsportal.dedup.fingerprints import ALL, KEPT, Codes, Fingerprint, fingerprint, limit_for
from newsportal.dedup.shingle_index import ShingleIndex, indexed
from newsportal.items import FoldKey, content_id
from newsportal.text import letters

MENTIONED: Final = 0.3  # minimum share of a title's letter pairs in a text about it
MIN_LETTERS: Final = 4  # minimum letters of a significant title


def is_subject(new: str, old: str, shared: str) -> bool:
    """Return whether the titles (letters only) are similar, or ``shared`` is about one of them. True for insignificant titles."""
    if min(len(new), len(old)) < MIN_LETTERS:
        return True
    return alike(new, old) or any(
        sum(pair in shared for pair in pairs) >= MENTIONED * len(pairs) for pairs in map(letter_pairs, (new, old))
    )


MIN_TITLE = 8  # minimum letters of a title specific to one event: shorter ones (「图片新闻」「今日天气」) are names of columns
SHORT_TEXT = 60
"""Letters below which a text (a caption, 「点击查看视频」) is less specific than its title. On the generated reposts, title keys for all
texts would find 0.2 % more of them, and 2.5 of 100 folds would be wrong."""

TITLE_WINDOW = 2 * 86400.0  # two days: a title that recurs later is a column or a yearly event (paper A compares within a day)


def fold_keys(title: str | None, text: str | None) -> tuple[FoldKey, ...]:
    """Return the fold keys of an article. Titles are compared without punctuation, width, case, white space and 简/繁."""
    if len(name := letters(title or "")) < MIN_TITLE or len(letters((text or "")[: 4 * SHORT_TEXT])) >= SHORT_TEXT:
        return ()
    return (FoldKey(key=f"title:{content_id(name)}", reason="same-title", score=0.9, window=TITLE_WINDOW, same_site=False),)


MIN_CONTAINMENT: Final = 0.6  # minimum containment of a repost
UNCHANGED: Final = 0.98

NUMBERS_KEPT: Final = 0.7  # minimum share of runs with digits that are kept, relative to the runs without
NUMBERS_KEPT_TITLED: Final = 0.5  # … with the same title: a date may have been changed
MIN_ALL_CHANGED: Final = 3  # minimum number of runs with digits to be significant if none is kept
MIN_NUMBERS: Final = 8  # minimum number of runs with digits to be significant: a number of three digits is in eight runs
CHANGED_TITLED: Final = 0.8
"""Containment below which numbers must confirm a repost with the same title: a report with different numbers is the next one."""

MIN_SHARED: Final = 16  # minimum number of shared runs without common ones: a sentence
MIN_SHARED_TITLED: Final = 12  # … with the same title: a flash
REASONS: Final[dict[Relation, str]] = {"same": "edited-text", "part": "part-of-text", "contains": "contains-text"}


@dataclass(frozen=True, slots=True)
class Overlap:
    """Counts of runs without common ones: of the ``new`` text, the ``old`` one, and ``shared`` by both.

    Of the shorter text, from its first shared run to its last, so that an added lead or tail does not matter: ``numbers``, its runs with
    digits, ``shared_numbers``, and the same for ``words``, the runs without.
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
    """Return the overlap of two texts' distinct runs below ``limit``, in text order, without ``common`` ones (ascending)."""
    if limit < ALL:
        new, old = new[new < limit], old[old < limit]
    new, old = _without(new, common), _without(old, common)
    shorter, longer = (new, old) if len(new) <= len(old) else (old, new)
    matched = _is_in(shorter, np.sort(longer))
    places = matched.nonzero()[0]
    if not len(places):
        return Overlap(len(new), len(old), 0)
    span = slice(int(places[0]), int(places[-1]) + 1)
    digits, matched = (shorter[span] & 1).astype(np.bool_), matched[span]
    numbers, shared_numbers = (int(np.count_nonzero(mask)) for mask in (digits, digits & matched))
    return Overlap(len(new), len(old), len(places), numbers, shared_numbers, len(matched) - numbers, len(places) - shared_numbers)


def verdict(found: Overlap, earlier: str, same_title: bool) -> Verdict:
    """Return whether the overlap makes the new text a repost of the text ``earlier``."""
    if (
        (found.shared < (MIN_SHARED_TITLED if same_title else MIN_SHARED) and not (same_title and found.containment == 1))
        or found.containment < MIN_CONTAINMENT
        or _is_template(found, same_title)
        or (same_title and found.containment < CHANGED_TITLED and not _numbers_agree(found, 1.0))
    ):
        return NEW
    of_new, of_old = (found.shared / max(1, number) for number in (found.new, found.old))
    if min(of_new, of_old) >= MIN_SAME_SHARE:
        reason = "same-text" if min(of_new, of_old) >= UNCHANGED else REASONS["same"]
        return Verdict(earlier, reason, round(found.containment, 3), "same")
    relation: Relation = "part" if of_new > of_old else "contains"
    return Verdict(earlier, REASONS[relation], round(found.containment, 3), relation)


def _is_template(found: Overlap, same_title: bool) -> bool:
    """Return whether it is a template with different numbers."""
    if not found.words or found.numbers < MIN_NUMBERS:
        return found.numbers >= MIN_ALL_CHANGED and not found.shared_numbers
    return not _numbers_agree(found, NUMBERS_KEPT_TITLED if same_title else NUMBERS_KEPT)


def _numbers_agree(found: Overlap, share: float) -> bool:
    """Return whether the share of kept runs with digits is at least ``share`` times that of runs without."""
    return found.shared_numbers > 0 and found.shared_numbers * found.words >= share * found.shared_words * found.numbers


def _without(runs: Codes, common: Codes) -> Codes:
    return runs[~_is_in(runs, common)] if len(common) else runs


def _is_in(runs: Codes, others: Codes) -> NDArray[np.bool_]:
    """Return a mask of the ``runs`` that are in ``others``, which is ascending."""
    if not len(others):
        return np.zeros(len(runs), dtype=np.bool_)
    at = np.minimum(others.searchsorted(runs), len(others) - 1)
    found: NDArray[np.bool_] = others[at] == runs
    return found


T = TypeVar("T")  # type of a story's key: a number in memory, an id in a store
CAPACITY: Final = 2_000_000  # maximum number of documents, some 4 GB
SURE_CONTAINMENT: Final = 0.75  # containment from which titles are not compared …
BRIEF_RUNS: Final = 180  # … unless a text is so short (in runs) that it may consist of a site's boilerplate …
MANY_COPIES: Final = 6  # … or the story has so many copies that it may be boilerplate


@dataclass(frozen=True, slots=True)
class Earlier(Generic[T]):
    """An earlier document for the rule: its ``runs`` in text order (as bytes), their total ``length``, the letters of its title, and the
    number of ``copies`` in its story."""

    id: str
    story: T
    runs: bytes
    length: int
    title: str
    copies: int


def compare(new: Fingerprint, title: str, candidates: Iterable[Earlier[T]], common: Codes) -> list[tuple[Verdict, Earlier[T]]]:
    """Return the candidates that the new text repeats, highest containment first, then the earliest. ``title``: letters only; ``common``:
    runs in many stories, ascending."""
    ordered = new.in_order()
    found = []
    for old in candidates:
        runs = np.frombuffer(old.runs, dtype=np.uint32)
        shared = overlap(ordered, runs, common, min(new.limit, limit_for(old.length, KEPT)))
        answer = verdict(shared, old.id, bool(title) and title == old.title)
        if answer.duplicate_of is None:
            continue
        doubtful = answer.score < SURE_CONTAINMENT or min(new.length, old.length) < BRIEF_RUNS or old.copies >= MANY_COPIES
        if not doubtful or is_subject(title, old.title, new.covered(runs)):
            found.append((answer, old))
    return sorted(found, key=lambda pair: -pair[0].score)


class Judge:
    """A finder; ``window`` in days, ``capacity`` in documents. Not thread-safe."""

    def __init__(self, *, window: float = WINDOW, capacity: int = CAPACITY) -> None:
        self._window: Window[int] = Window(timedelta(days=window), capacity)
        self._documents: dict[int, Earlier[int]] = {}  # ``story``: number of its first document; ``copies`` are counted below
        self._next = 0
        self._index = ShingleIndex()
        self._copies: Counter[int] = Counter()  # by the number of the story's first document

    def judge(self, document: Document) -> Verdict:
        """Return the earlier document that this one repeats most completely, the earliest of equals."""
        return next(iter(self.matches(document)), NEW)

    def matches(self, document: Document) -> list[Verdict]:
        """Return all close earlier documents that this one repeats, most complete first, and add the document."""
        new, title = fingerprint(document.text), title_letters(document.title)
        likely = self._index.likely(new)
        likeliest = (self._documents[number] for number in likely.numbers)
        candidates = (replace(old, copies=self._copies[old.story]) for old in likeliest)
        found = compare(new, title, candidates, likely.common)
        number, story = self._next, found[0][1].story if found else self._next
        self._next += 1
        if found:
            self._copies[story] += 1
        self._documents[number] = Earlier(document.id, story, new.in_order().tobytes(), new.length, title, 0)
        self._index.add(number, indexed(new.runs, new.length), new.length, story, title)
        for old in self._window.add(number, self._window.time_of(document.published)):
            its_story = self._documents.pop(old).story
            if its_story != old:
                self._copies[its_story] -= 1
                if not self._copies[its_story]:
                    del self._copies[its_story]
            self._index.forget(old + 1)
        return [answer for answer, _ in found]
