"""Reposts by the cosine similarity of the words of title and first sentence (paper C, 2.2.3).

    cos(a, b) = Σ_w a_w · b_w / (‖a‖ ‖b‖),   duplicate(a) ⇔ ∃ earlier b: cos(a, b) ≥ 0.3

a_w: frequency of the word w in title and first sentence of a, without stop words. The products are summed over an inverted index: a word's
list has the documents with it, oldest first, and a_w / ‖a‖, so only documents with a common word are visited.
"""

import re
from array import array
from collections import Counter
from datetime import timedelta
from math import sqrt
from sys import intern

from newsportal.dedup.document import NEW, Document, Verdict, Window
from newsportal.text import STOP_CHARACTER, STOP_WORDS, WORD, segment

THRESHOLD = 0.3  # paper C, 2.2.3
CAPACITY = 200_000  # maximum number of documents; the paper has some 100,000 stories a month. About 430 MB.
MAX_CHARS = 300  # characters read of a title, and of a first sentence: a text without a full stop is not a sentence
SENTENCE_END = re.compile(r"[。！？!?…\n]|\.(?=\s|$)")
ROUNDING = 1e-9  # rounding error allowed below the exact threshold


class Cosine:
    """Find documents whose title and first sentence share words with an earlier one; the most similar is returned. The paper keeps the
    story with more pictures; here all are kept."""

    def __init__(self, *, threshold: float = THRESHOLD, span: timedelta | None = None, capacity: int = CAPACITY) -> None:
        """``span``: how far back documents are compared; the paper gives no limit."""
        if not 0 < threshold <= 1:
            raise ValueError(f"threshold must be above 0 and at most 1, not {threshold}")
        self._threshold = threshold - ROUNDING
        self._window: Window[int] = Window(span, capacity)
        self._documents: dict[int, tuple[tuple[str, ...], str, float]] = {}
        self._index: dict[str, tuple[array[int], array[float]]] = {}
        self._first = 0

    def __len__(self) -> int:
        return len(self._window)

    def judge(self, document: Document) -> Verdict:
        vector = unit_vector(document.title, document.text)
        if not vector:
            return NEW
        time = self._window.time_of(document.published)
        verdict = self._find_most_similar(vector, document.id, time)
        number = self._first + len(self._documents)
        for old in self._window.add(number, time):  # the oldest document, which is first in the lists of its words
            for word in self._documents.pop(old)[0]:
                numbers, weights = self._index[word]
                del numbers[0], weights[0]
                if not numbers:
                    del self._index[word]
            self._first = old + 1
        self._documents[number] = (tuple(vector), document.id, time)
        for word, weight in vector.items():
            numbers, weights = self._index.setdefault(word, (array("q"), array("d")))
            numbers.append(number)
            weights.append(weight)
        return verdict

    def _find_most_similar(self, vector: dict[str, float], document_id: str, time: float) -> Verdict:
        import numpy as np  # loaded late: the store needs only the words

        cosines = np.zeros(len(self._documents))  # with every document in the window, oldest first
        for word, weight in vector.items():
            if word in self._index:
                numbers, weights = self._index[word]
                cosines[np.frombuffer(numbers, np.int64) - self._first] += weight * np.frombuffer(weights)
        reached = np.flatnonzero(cosines > self._threshold)
        for place in reached[np.argsort(-cosines[reached], kind="stable")].tolist():
            _, its_id, its_time = self._documents[self._first + place]
            if its_id != document_id and self._window.is_near(time, its_time):
                return Verdict(its_id, "cosine", min(1.0, float(cosines[place])))
        return NEW


def first_sentence(text: str) -> str:
    """Return the text up to its first full stop, question or exclamation mark, or line end."""
    start = text[: 4 * MAX_CHARS].lstrip()
    return SENTENCE_END.split(start, maxsplit=1)[0][:MAX_CHARS]


def unit_vector(title: str, text: str) -> dict[str, float]:
    """Return the frequencies of words in title and first sentence, without stop words, as a unit vector; empty without words."""
    words = (*segment(title[:MAX_CHARS]), *segment(first_sentence(text)))
    counts = Counter(intern(word) for word in words if WORD.search(word) and not is_stop_word(word))
    length = sqrt(sum(count * count for count in counts.values()))
    return {word: count / length for word, count in counts.items()}


def is_stop_word(word: str) -> bool:
    """Return whether ``word`` is a stop word, or consists of stop characters (为了, 因为, 与)."""
    return word.lower() in STOP_WORDS or all(map(STOP_CHARACTER.match, word))
