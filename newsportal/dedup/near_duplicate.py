"""How much of one text is in another, and whether that makes it a repost: a rule that one can read.

Containment (Broder 1997): of the runs of the shorter text, the share that the other has too. Runs that many stories hold (a site's
legal notice) count for neither. A template filled anew keeps its words and changes its numbers, so the runs with digits are looked at
alone: where far fewer of them are shared than of the others, it is another report.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from newsportal.dedup.document import NEW, Relation, Verdict
from newsportal.dedup.fingerprints import ALL, Codes

ENOUGH: Final = 0.6
"""Containment from which a text is a repost."""

SAME: Final = 0.6
"""Share of the longer text too from which both are the same text, not one a part of the other."""

UNCHANGED: Final = 0.98

NUMBERS_KEPT: Final = 0.7
"""Of the share of runs without digits, so much must hold for those with digits as well."""

NUMBERS_KEPT_TITLED: Final = 0.5
"""… under the same title: a date may have been changed."""

FEWEST_ALL_CHANGED: Final = 3
"""Runs with digits that say something when not one of them is kept."""

FEWEST_NUMBERS: Final = 8
"""Runs with digits that say something: a number of three digits lies in eight runs."""

FEWEST: Final = 12
"""Runs that must be left when the common ones are gone: a sentence."""

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
    numbers_kept: int = 0
    words: int = 0
    words_kept: int = 0

    @property
    def containment(self) -> float:
        return self.shared / max(1, min(self.new, self.old))


def overlap(new: Codes, old: Codes, common: Codes, limit: int) -> Overlap:
    """The overlap of two texts' runs below ``limit``, without those in ``common``. ``new`` and ``old`` stand in the order of the text,
    each run once; ``common`` ascends."""
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
        (found.shared < FEWEST and not (same_title and found.containment == 1))
        or found.containment < ENOUGH
        or _refilled(found, same_title)
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
        return found.numbers >= FEWEST_ALL_CHANGED and not found.numbers_kept
    needed = NUMBERS_KEPT_TITLED if same_title else NUMBERS_KEPT
    return found.numbers_kept / found.numbers < needed * found.words_kept / found.words


def _without(runs: Codes, common: Codes) -> Codes:
    return runs[~_member(runs, common)] if len(common) else runs


def _member(runs: Codes, others: Codes) -> NDArray[np.bool_]:
    """Which of ``runs`` are among ``others``, which ascend."""
    if not len(others):
        return np.zeros(len(runs), dtype=np.bool_)
    at = np.minimum(others.searchsorted(runs), len(others) - 1)
    found: NDArray[np.bool_] = others[at] == runs
    return found
