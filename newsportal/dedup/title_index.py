"""Reposts by title: an article is a repost if all words of its title occur, in order, in one earlier title (paper A, 3.3).

    duplicate(a) ⇔ ∃ earlier b: w₁ … wₙ of a is a subsequence of the words of b

Earlier titles are looked up in an inverted index, starting with the rarest word of the new title.
"""

from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from sys import intern

from newsportal.dedup.document import NEW, Document, Verdict, Window
from newsportal.text import WORD, segment

CAPACITY = 200_000  # maximum number of titles; the paper gives none (「已抓取到的新闻标题」). About 200 MB.
MAX_CHARS = 300  # characters read of a title: no headline is longer, but a page without one may return its whole text


class TitleIndex:
    """Find documents whose title's words occur in order in an earlier title; the one with the fewest other words is returned. Words are
    compared exactly; punctuation is ignored."""

    def __init__(self, *, span: timedelta | None = None, capacity: int = CAPACITY) -> None:
        """``span``: how far back titles are compared; the paper gives no limit."""
        self._window: Window[int] = Window(span, capacity)
        self._titles: dict[int, tuple[tuple[str, ...], str, float]] = {}
        self._index: defaultdict[str, dict[int, None]] = defaultdict(dict)
        self._next = 0

    def __len__(self) -> int:
        return len(self._window)

    def judge(self, document: Document) -> Verdict:
        verdict, words = self.find(document), title_words(document.title)
        if not words:
            return verdict
        time = self._window.time_of(document.published)
        for old in self._window.add(self._next, time):
            for word in set(self._titles.pop(old)[0]):
                del self._index[word][old]
                if not self._index[word]:
                    del self._index[word]
        self._titles[self._next] = (words, document.id, time)
        for word in words:
            self._index[word][self._next] = None
        self._next += 1
        return verdict

    def find(self, document: Document) -> Verdict:
        """Do the same as :meth:`judge`, without adding the document."""
        words = title_words(document.title)
        if not words:
            return NEW
        time = self._window.time_of(document.published)
        best, score = None, 0.0
        for earlier, document_id in self._titles_with(words, time):
            if document_id != document.id and len(words) / len(earlier) > score and is_subsequence(words, earlier):
                best, score = document_id, len(words) / len(earlier)
                if score == 1.0:
                    break
        return Verdict(best, "title-words", score) if best is not None else NEW

    def _titles_with(self, words: tuple[str, ...], time: float) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yield the earlier titles with all ``words``, oldest first, each with its document."""
        postings = sorted((self._index.get(word, {}) for word in set(words)), key=len)
        for number in postings[0]:
            if all(number in others for others in postings[1:]):
                earlier, document_id, its_time = self._titles[number]
                if self._window.is_near(time, its_time):
                    yield earlier, document_id


def title_words(title: str) -> tuple[str, ...]:
    """Return the words of ``title`` in order, without punctuation."""
    return tuple(intern(word) for word in segment(title[:MAX_CHARS]) if WORD.search(word))


def is_subsequence(words: tuple[str, ...], earlier: tuple[str, ...]) -> bool:
    remaining = iter(earlier)
    return all(word in remaining for word in words)
