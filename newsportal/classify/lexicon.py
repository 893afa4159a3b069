"""Categories on the first day: a lexicon of usual categories with words of differing weight, written for newsportal. Nothing is trained.

    s(c) = sum over the different words w of the article   v(w, c) · ( T·[w in the title] + 1 + ln n(w) )

v(w, c)
    what the word counts for the category: 3 nearly decides alone, 2 is strong, 1 is a hint (``VALUE`` of the lists in
    ``categories.yaml``, or of ``sources.yaml``)
n(w)
    how often it stands in the body's first ``LOOKED_AT`` characters; words that stand in the title alone count T
T
    how many times as much a word of the title counts

The best category is the answer if its sum reaches ``LEAST`` (more for long texts) and leads the second by ``LEAD`` of itself; else there
is none. Words are looked for as they stand, longest first, without cutting the text into words: one pass, and traditional characters count
as simplified.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from operator import add
from typing import Any, Final, Self

import numpy as np

from newsportal.classify.base import NONE, Answer, Example, Facts, Progress, Reason
from newsportal.errors import ModelError
from newsportal.packing import pack, unpack
from newsportal.text import fold_characters

NAME: Final = "lexicon"

VALUE: Final[Mapping[int, float]] = {3: 3.0, 2: 1.5, 1: 0.5}
"""What a word of each list counts. Chosen by hand; figures move little between 2 : 1 and 3 : 1 for neighbouring lists."""

LOOKED_AT: Final = 1500  # characters of the body: an article says early what it is about, and the time for one stays bounded
TITLE: Final = 2.0  # T: what a word of the title counts besides
LEAST: Final = 4.0  # a sum below this is chance: one strong word in the title reaches it alone, one in a body needs a second
LEAST_LONG: Final = 16.0
"""What a text of ``LOOKED_AT`` characters or more needs (before, it rises evenly): in many words some of every category stand by chance."""

LEAD: Final = 0.2  # the second category must stay this share of the best behind
DOUBT: Final = 3.0  # what is added to all sums when a share is made of them: with few words found, no share is near 1
MAX_EXPLAINED: Final = 5  # words that an explanation in one line names
LATIN: Final = re.compile(r"[a-z0-9]+(?:[&+.'-][a-z0-9]+)*")
LONGEST_PHRASE: Final = 3  # words of the longest English phrase


@dataclass(frozen=True, slots=True)
class Category:
    """A category and its words by weight (3, 2, 1)."""

    name: str
    words: Mapping[int, tuple[str, ...]]
    english: str | None = None


class Lexicon:
    """A classifier of :mod:`base` that was never trained. Threads may share it."""

    def __init__(self, categories: Iterable[Category]) -> None:
        self.categories = tuple(categories)
        self._values: dict[str, dict[int, float]] = defaultdict(dict)
        for number, category in enumerate(self.categories):
            for weight, words in category.words.items():
                for word in plain(words):
                    self._values[word][number] = max(VALUE[weight], self._values[word].get(number, 0.0))
        starts: dict[str, list[str]] = defaultdict(list)  # words by their first two characters
        for word in self._values:
            if not word.isascii():
                starts[word[:2]].append(word)
        self._starts = {start: tuple(sorted(those, key=len, reverse=True)) for start, those in starts.items()}

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(category.name for category in self.categories)

    @property
    def facts(self) -> Facts:
        return Facts(NAME)

    def classify(self, title: str, text: str) -> Answer:
        sums = self._sums(self._weighed(title, text))
        if not sums:
            return NONE
        ranked = sorted(sums.items(), key=lambda pair: (-pair[1], pair[0]))
        total = sum(sums.values()) + DOUBT
        scores = {self.categories[number].name: value / total for number, value in ranked}
        best, second = ranked[0][1], ranked[1][1] if len(ranked) > 1 else 0.0
        if best < least(text) or best - second < LEAD * best:
            return Answer(None, scores)
        label = self.categories[ranked[0][0]].name
        return Answer(label, scores, (label,))

    def explain(self, title: str, text: str, label: str | None = None, limit: int = 10) -> tuple[Reason, ...]:
        """The words that speak for ``label``. Nothing speaks against a category but what speaks for another."""
        weighed = self._weighed(title, text)
        sums = self._sums(weighed)
        if not sums or (label is not None and label not in self.labels):
            return ()
        number = self.labels.index(label) if label is not None else max(sums, key=lambda one: sums[one])
        found = [Reason(word, self._values[word][number] * times) for word, times in weighed.items() if number in self._values[word]]
        return tuple(sorted(found, key=lambda reason: (-reason.weight, reason.word))[:limit])

    def saved(self) -> bytes:
        header = {
            "algorithm": NAME,
            "facts": self.facts.as_json(),
            "categories": [
                [one.name, one.english, {str(weight): list(words) for weight, words in one.words.items()}] for one in self.categories
            ],
        }
        return pack(header, {"none": np.zeros(0, dtype=np.uint8)})

    @classmethod
    def restored(cls, data: bytes) -> Self:
        header, _ = unpack(data)
        try:
            return cls(
                Category(str(name), {int(weight): tuple(map(str, words)) for weight, words in lists.items()}, english)
                for name, english, lists in header["categories"]
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelError("the lexicon's header is damaged") from error

    @classmethod
    def train(
        cls, examples: Sequence[Example], *, several: bool, progress: Progress, seed: int, trained: datetime | None
    ) -> Self:  # fmt: skip
        """Our own categories: examples teach a lexicon nothing. It has this, so that it can be asked for like the others."""
        return cls(packaged())

    def _weighed(self, title: str, text: str) -> dict[str, float]:
        """The words found, and how much each counts by its places."""
        in_title = self._found(fold_characters(title))
        in_text = self._found(fold_characters(text[:LOOKED_AT]))
        weighed = {word: 1.0 + math.log(count) for word, count in in_text.items()}
        for word in in_title:
            weighed[word] = weighed.get(word, 0.0) + TITLE
        return weighed

    def _found(self, text: str) -> Counter[str]:
        """The words of the lexicon in a folded text with their counts. Where words overlap the first counts, the longest one there."""
        starts, found, end = self._starts, Counter[str](), 0
        for place in [place for place, pair in enumerate(map(add, text, text[1:])) if pair in starts]:
            if place >= end:
                for word in starts[text[place : place + 2]]:
                    if text.startswith(word, place):
                        found[word] += 1
                        end = place + len(word)
                        break
        tokens = LATIN.findall(text)
        values, place = self._values, 0
        while place < len(tokens):
            for length in range(LONGEST_PHRASE, 0, -1):
                phrase = " ".join(tokens[place : place + length])
                if phrase in values:
                    found[phrase] += 1
                    place += length - 1
                    break
            place += 1
        return found

    def _sums(self, weighed: Mapping[str, float]) -> dict[int, float]:
        sums: dict[int, float] = defaultdict(float)
        for word, times in weighed.items():
            for number, value in self._values[word].items():
                sums[number] += value * times
        return sums


def least(text: str) -> float:
    """What the best category's sum must reach."""
    return LEAST + (LEAST_LONG - LEAST) * min(len(text) / LOOKED_AT, 1.0)


def plain(words: Sequence[str]) -> Iterator[str]:
    """Words as they are looked for, without those that would be found everywhere (a single Chinese character, a single letter)."""
    lines = "\n".join(word.replace("\n", " ").replace("_", " ") for word in words)
    joined = (" ".join(word.split()) for word in fold_characters(lines).split("\n"))
    return (word for word in joined if len(word) > 1)


@cache
def packaged() -> tuple[Category, ...]:
    """The categories that come with newsportal (``categories.yaml``)."""
    import yaml

    text = (files(__package__) / "categories.yaml").read_text(encoding="utf-8")
    written: Mapping[str, Mapping[Any, str]] = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both are safe
    return tuple(
        Category(name, {weight: tuple(lists[weight].split()) for weight in VALUE}, lists["english"]) for name, lists in written.items()
    )


@cache
def _packaged_lexicon() -> Lexicon:
    """One for all stages of a crawl: to make it takes 30 ms, and each spider has two."""
    return Lexicon(packaged())


def lexicon(own: Sequence[Category] = (), without: Iterable[str] = ()) -> Lexicon:
    """The packaged lexicon with words and categories of one's own (a known name adds words), and ``without`` some of its categories."""
    left_out = set(without)
    if not own and not left_out:
        return _packaged_lexicon()
    known = {category.name: category for category in packaged() if category.name not in left_out}
    for category in own:
        before = known.get(category.name)
        lists = {weight: (*(before.words[weight] if before else ()), *category.words.get(weight, ())) for weight in VALUE}
        known[category.name] = Category(category.name, lists, category.english or (before.english if before else None))
    return Lexicon(known.values())


def explain(reasons: Iterable[Reason]) -> str | None:
    """An explanation in one line: the words that decided, the weightiest first."""
    words = [reason.word for reason in reasons if reason.weight > 0][:MAX_EXPLAINED]
    return " · ".join(words) or None
