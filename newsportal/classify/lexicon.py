"""Categories without training: a lexicon of the usual categories with weighted words, written for newsportal.

    s(c) = sum over the distinct words w of the article   v(w, c) · ( T·[w in the title] + 1 + ln n(w) )

v(w, c)
    weight of the word for the category: 3 nearly decides alone, 2 is strong, 1 is a hint (``VALUES`` of the lists in
    ``categories.yaml``, or of ``sources.yaml``)
n(w)
    occurrences in the first ``READ_CHARS`` characters of the body; words that occur only in the title count T
T
    weight of a word in the title

The best category is assigned if its sum reaches ``MIN_SUM`` (more for long texts) and exceeds the second by the share ``LEAD`` of itself.
Words are matched as strings, longest first, in one pass without segmentation; traditional characters match simplified ones.
"""

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

from newsportal.classify.base import NO_ANSWER, Answer, Example, Facts, Progress, Reason
from newsportal.errors import ModelError
from newsportal.packing import pack, unpack
from newsportal.text import fold_characters

NAME: Final = "lexicon"

VALUES: Final[Mapping[int, float]] = {3: 3.0, 2: 1.5, 1: 0.5}
"""Values of the word lists. Chosen by hand; figures change little between 2 : 1 and 3 : 1 for neighbouring lists."""

READ_CHARS: Final = 1500  # characters of the body: an article states its subject early, and the time per article stays bounded
TITLE_BONUS: Final = 2.0  # T: bonus of a word in the title
MIN_SUM: Final = 4.0  # a lower sum is chance: one strong word in the title reaches it alone, one in a body needs a second
MIN_SUM_LONG: Final = 16.0
"""Sum needed by a text of ``READ_CHARS`` characters or more (linear in between): long texts contain words of every category by chance."""

LEAD: Final = 0.2  # the second category must be lower by this share of the best
SMOOTHING: Final = 3.0  # added to the sum of all scores when shares are computed: if few words were found, no share is near 1
MAX_EXPLAINED: Final = 5  # words in a one-line explanation
LATIN: Final = re.compile(r"[a-z0-9]+(?:[&+.'-][a-z0-9]+)*")
MAX_PHRASE_WORDS: Final = 3  # maximum words of an English phrase


@dataclass(frozen=True, slots=True)
class Category:
    """A category and its words by weight (3, 2, 1)."""

    name: str
    words: Mapping[int, tuple[str, ...]]
    english: str | None = None


class Lexicon:
    """A :mod:`base` classifier that needs no training. Thread-safe."""

    def __init__(self, categories: Iterable[Category]) -> None:
        self.categories = tuple(categories)
        self._values: dict[str, dict[int, float]] = defaultdict(dict)
        for number, category in enumerate(self.categories):
            for weight, words in category.words.items():
                for word in matchable(words):
                    self._values[word][number] = max(VALUES[weight], self._values[word].get(number, 0.0))
        starts: dict[str, list[str]] = defaultdict(list)  # words by their first two characters
        for word in self._values:
            if not word.isascii():
                starts[word[:2]].append(word)
        self._starts = {start: tuple(sorted(words, key=len, reverse=True)) for start, words in starts.items()}

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(category.name for category in self.categories)

    @property
    def facts(self) -> Facts:
        return Facts(NAME)

    def classify(self, title: str, text: str) -> Answer:
        sums = self._category_sums(self._word_weights(title, text))
        if not sums:
            return NO_ANSWER
        ranked = sorted(sums.items(), key=lambda pair: (-pair[1], pair[0]))
        total = sum(sums.values()) + SMOOTHING
        scores = {self.categories[number].name: value / total for number, value in ranked}
        best, second = ranked[0][1], ranked[1][1] if len(ranked) > 1 else 0.0
        if best < minimum_sum(text) or best - second < LEAD * best:
            return Answer(None, scores)
        label = self.categories[ranked[0][0]].name
        return Answer(label, scores, (label,))

    def explain(self, title: str, text: str, label: str | None = None, limit: int = 10) -> tuple[Reason, ...]:
        """Return the words in favour of ``label``. No word counts against a category except by supporting another."""
        weights = self._word_weights(title, text)
        sums = self._category_sums(weights)
        if not sums or (label is not None and label not in self.labels):
            return ()
        number = self.labels.index(label) if label is not None else max(sums, key=lambda index: sums[index])
        found = [Reason(word, self._values[word][number] * times) for word, times in weights.items() if number in self._values[word]]
        return tuple(sorted(found, key=lambda reason: (-reason.weight, reason.word))[:limit])

    def to_bytes(self) -> bytes:
        header = {
            "algorithm": NAME,
            "facts": self.facts.as_json(),
            "categories": [
                [category.name, category.english, {str(weight): list(words) for weight, words in category.words.items()}]
                for category in self.categories
            ],
        }
        return pack(header, {"none": np.zeros(0, dtype=np.uint8)})

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
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
        cls, examples: Sequence[Example], *, multi_label: bool, progress: Progress, seed: int, trained: datetime | None
    ) -> Self:  # fmt: skip
        """Return the packaged categories: a lexicon learns nothing from examples. For the interface of :class:`Trainable`."""
        return cls(packaged())

    def _word_weights(self, title: str, text: str) -> dict[str, float]:
        """Return the words found and their weights by position."""
        in_title = self._count_words(fold_characters(title))
        in_text = self._count_words(fold_characters(text[:READ_CHARS]))
        weighed = {word: 1.0 + math.log(count) for word, count in in_text.items()}
        for word in in_title:
            weighed[word] = weighed.get(word, 0.0) + TITLE_BONUS
        return weighed

    def _count_words(self, text: str) -> Counter[str]:
        """Count the words of the lexicon in a folded text. Of overlapping words the first counts, and the longest at its position."""
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
            for length in range(MAX_PHRASE_WORDS, 0, -1):
                phrase = " ".join(tokens[place : place + length])
                if phrase in values:
                    found[phrase] += 1
                    place += length - 1
                    break
            place += 1
        return found

    def _category_sums(self, weighed: Mapping[str, float]) -> dict[int, float]:
        sums: dict[int, float] = defaultdict(float)
        for word, times in weighed.items():
            for number, value in self._values[word].items():
                sums[number] += value * times
        return sums


def minimum_sum(text: str) -> float:
    """Return the minimum sum of the best category."""
    return MIN_SUM + (MIN_SUM_LONG - MIN_SUM) * min(len(text) / READ_CHARS, 1.0)


def matchable(words: Sequence[str]) -> Iterator[str]:
    """Yield the words as they are matched, without single characters and letters, which would be found everywhere."""
    lines = "\n".join(word.replace("\n", " ").replace("_", " ") for word in words)
    cleaned = (" ".join(word.split()) for word in fold_characters(lines).split("\n"))
    return (word for word in cleaned if len(word) > 1)


@cache
def packaged() -> tuple[Category, ...]:
    """Return the categories distributed with newsportal (``categories.yaml``)."""
    import yaml

    text = (files(__package__) / "categories.yaml").read_text(encoding="utf-8")
    parsed: Mapping[str, Mapping[Any, str]] = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both are safe
    return tuple(
        Category(name, {weight: tuple(lists[weight].split()) for weight in VALUES}, lists["english"]) for name, lists in parsed.items()
    )


@cache
def _packaged_lexicon() -> Lexicon:
    """Return a lexicon shared by all stages of a crawl: building it takes 30 ms, and each spider has two."""
    return Lexicon(packaged())


def lexicon(extra: Sequence[Category] = (), without: Iterable[str] = ()) -> Lexicon:
    """Return the packaged lexicon extended by ``extra`` categories (an existing name adds words), ``without`` some of its categories."""
    left_out = set(without)
    if not extra and not left_out:
        return _packaged_lexicon()
    categories = {category.name: category for category in packaged() if category.name not in left_out}
    for category in extra:
        base = categories.get(category.name)
        lists = {weight: (*(base.words[weight] if base else ()), *category.words.get(weight, ())) for weight in VALUES}
        categories[category.name] = Category(category.name, lists, category.english or (base.english if base else None))
    return Lexicon(categories.values())


def explain(reasons: Iterable[Reason]) -> str | None:
    """Return a one-line explanation: the deciding words, largest weight first."""
    words = [reason.word for reason in reasons if reason.weight > 0][:MAX_EXPLAINED]
    return " · ".join(words) or None
