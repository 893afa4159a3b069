"""Differences between two texts: paragraphs are aligned first, then the words of changed ones. Pure.

Words are those of ``text.segment``; white space is normalised. Comparisons that cost more than :data:`MAX_COST` show removal and insertion.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from difflib import SequenceMatcher
from typing import Final, Literal

import numpy as np

from newsportal.dedup.document import title_letters
from newsportal.dedup.fingerprints import fingerprint
from newsportal.store.results import StoredArticle
from newsportal.text import clean, segment

Kind = Literal["same", "gone", "new"]

MAX_COST: Final = 100_000_000
"""Maximum cost of one comparison by :func:`_price`: measured, at most 1.5 seconds on one core; human texts cost a hundredth of it."""

ALIKE: Final = 0.3
"""Share of common characters (of the shorter one) below which two paragraphs are shown as removed and inserted. Chosen."""

SPACE: Final = re.compile(r"(\s+)")


@dataclass(frozen=True, slots=True)
class TextRun:
    """A run of text in both texts (``same``), only in the old one (``gone``) or only in the new one (``new``)."""

    kind: Kind
    text: str


DiffLine = tuple[TextRun, ...]  # a paragraph


@dataclass(slots=True)
class Budget:
    left: int

    def spend(self, price: int) -> bool:
        """Deduct ``price`` if the rest suffices; return whether it did."""
        if price > self.left:
            return False
        self.left -= price
        return True


def difference(old: str, new: str) -> list[DiffLine]:
    before, after, budget = _lines(old), _lines(new), Budget(MAX_COST)
    steps = _steps(before, after, budget)
    if steps is None:
        return [*_lines_of_kind("gone", before), *_lines_of_kind("new", after)]
    found = list[DiffLine]()
    for step in steps:
        if step.same:
            found += _lines_of_kind("same", step.after)
            continue
        for place in range(max(len(step.before), len(step.after))):  # pairs with counterparts that are similar enough
            left, right = step.before[place : place + 1], step.after[place : place + 1]
            merged = _words(left[0], right[0], budget) if left and right else None
            found += [merged] if merged is not None else [*_lines_of_kind("gone", left), *_lines_of_kind("new", right)]
    return found


def in_line(old: str, new: str) -> DiffLine:
    """Return the difference of two short texts (headlines, names)."""
    old, new = clean(old), clean(new)
    found = _words(old, new, Budget(MAX_COST)) if old and new else None
    if found is not None:
        return found
    return (*((TextRun("gone", old),) if old else ()), *((TextRun("new", new),) if new else ()))


def is_same(lines: Sequence[DiffLine]) -> bool:
    return all(part.kind == "same" for line in lines for part in line)


def _lines(text: str) -> list[str]:
    return [line for line in map(clean, text.splitlines()) if line]


@dataclass(frozen=True, slots=True)
class Alignment:
    """Aligned parts of both texts; ``same``: they are equal."""

    same: bool
    before: Sequence[str]
    after: Sequence[str]


def _steps(before: Sequence[str], after: Sequence[str], budget: Budget) -> list[Alignment] | None:
    """Return the alignment; ``None`` if it would take too long."""
    first = _common(before, after)
    last = _common(before[first:][::-1], after[first:][::-1])
    ends = (len(before) - last, len(after) - last)
    middle = before[first : ends[0]], after[first : ends[1]]
    if not budget.spend(_price(*middle)):
        return None
    opcodes = SequenceMatcher(None, *middle, autojunk=False).get_opcodes()
    between = (Alignment(kind == "equal", middle[0][i:j], middle[1][m:n]) for kind, i, j, m, n in opcodes)
    found = (Alignment(True, before[:first], after[:first]), *between, Alignment(True, before[ends[0] :], after[ends[1] :]))
    return [step for step in found if step.before or step.after]


def _common(before: Sequence[str], after: Sequence[str]) -> int:
    return next(
        (place for place, (left, right) in enumerate(zip(before, after, strict=False)) if left != right), min(len(before), len(after))
    )


def _price(before: Sequence[str], after: Sequence[str]) -> int:
    """Return an upper bound on the cost of ``SequenceMatcher``: it visits every pair of equal elements once per matching block."""
    counts = Counter(after)
    pairs = sum(number * counts[element] for element, number in Counter(before).items())
    return (pairs + len(before) + len(after)) * (min(len(before), len(after)) + 1)


def _lines_of_kind(kind: Kind, lines: Sequence[str]) -> list[DiffLine]:
    return [(TextRun(kind, line),) for line in lines]


def _words(old: str, new: str, budget: Budget) -> DiffLine | None:
    """Return the word difference; ``None`` if too little is common or it would take too long."""
    steps = _steps(_tokens(old), _tokens(new), budget)
    if steps is None:
        return None
    common = sum(len("".join(step.after)) for step in steps if step.same)
    if old != new and common < ALIKE * min(len(old), len(new)):
        return None
    pieces: list[TextRun] = []
    for step in steps:
        if step.same:
            pieces.append(TextRun("same", "".join(step.after)))
        else:
            pieces += [TextRun("gone", "".join(step.before))] if step.before else []
            pieces += [TextRun("new", "".join(step.after))] if step.after else []
    return tuple(pieces)


def _tokens(text: str) -> list[str]:
    """Split a line into words and white space, without losing characters."""
    found: list[str] = []
    for part in SPACE.split(text):
        found += [part] if part.isspace() else segment(part) if part else []
    return found


@dataclass(frozen=True, slots=True)
class Similarity:
    """Similarity of two articles. ``shared``: share of the shorter text found in the other (0 to 1); ``interval``: time between them;
    ``headlines``: difference of the titles."""

    shared: float
    same_title: bool
    interval: timedelta
    headlines: DiffLine


def compare_articles(first: StoredArticle, second: StoredArticle) -> Similarity:
    left, right = (set(np.asarray(fingerprint(article.text).in_order()).tolist()) for article in (first, second))
    smaller = min(len(left), len(right))
    letters = title_letters(first.title)
    return Similarity(
        shared=len(left & right) / smaller if smaller else 0.0, same_title=bool(letters) and letters == title_letters(second.title),
        interval=abs(first.moment - second.moment), headlines=in_line(second.title, first.title),
    )  # fmt: skip
