"""Reposts by feature string: the 2 characters before and the 2 after every comma and full stop, in order (paper B, 1.4).

    F(d) = c₋₂c₋₁c₊₁c₊₂ of every 「，」 and 「。」 of d, joined
    duplicate(a) ⇔ ∃ b of the last week: | |F(a)| − |F(b)| | ≤ 20  and  run(F(a), F(b)) / max(|F(a)|, |F(b)|) > θ

``run`` is the length of the longest common substring. The paper compares with one document after another, nearest first; here an index
returns exactly those that can have such a run: a run of n characters in F(b) contains one of the blocks of ⌊(n + 1) / 2⌋ characters into
which F(b) is split.
"""

import re
from collections import defaultdict
from datetime import timedelta
from heapq import nlargest

from newsportal.dedup.document import NEW, Document, Verdict, Window


class SuffixAutomaton:
    """The suffix automaton of ``text`` (Blumer et al. 1985), which finds the longest common substring with another string in linear time.
    State 0: the empty string; ``_links``: the longest suffix in another state."""

    def __init__(self, text: str) -> None:
        self._next: list[dict[str, int]] = [{}]
        self._links = [-1]
        self._lengths = [0]
        last = 0
        for character in text:
            new = self._state({}, 0, self._lengths[last] + 1)
            state = last
            while state >= 0 and character not in self._next[state]:
                self._next[state][character] = new
                state = self._links[state]
            if state >= 0:
                self._links[new] = self._suffix(state, character)
            last = new

    def longest(self, other: str) -> int:
        """Return the length of the longest common substring."""
        state = run = best = 0
        for character in other:
            while state and character not in self._next[state]:
                state = self._links[state]
                run = self._lengths[state]
            if character in self._next[state]:
                state = self._next[state][character]
                run += 1
                best = max(best, run)
        return best

    def _suffix(self, state: int, character: str) -> int:
        """Return the state of the longest suffix that ends with ``character`` after ``state``; cloned if the current one is too long."""
        target = self._next[state][character]
        if self._lengths[target] == self._lengths[state] + 1:
            return target
        copy = self._state(dict(self._next[target]), self._links[target], self._lengths[state] + 1)
        self._links[target] = copy
        while state >= 0 and self._next[state].get(character) == target:
            self._next[state][character] = copy
            state = self._links[state]
        return copy

    def _state(self, following: dict[str, int], link: int, length: int) -> int:
        self._next.append(following)
        self._links.append(link)
        self._lengths.append(length)
        return len(self._next) - 1


MARKS = "，。"  # paper B, 1.4: 「逗号、句号」, the Chinese ones
CONTEXT_CHARS = 2  # characters on either side of a mark (paper B, 1.4)
MAX_DIFFERENCE = 20  # paper B, 1.4: 「只比较特征串长度差值在20以内的文档」
SPAN = timedelta(days=7)  # paper B, 1.4: 「取一周内对外发布的文档」
RATIO = 0.5  # θ. The paper gives no number (「超过一定比例」): more than half (others are measured in docs/algorithms/duplicates.md).
CAPACITY = 200_000  # maximum number of documents, if a week has more. About 280 MB of usual articles.
MAX_COMPARED = 1_000  # maximum number of documents compared with one, the nearest: limits the time for a week of one site's template
MAX_LENGTH = 4_000  # maximum length of a feature string, the first 1,000 marks: enough to distinguish longer texts


class FeatureStrings:
    """Find documents whose feature string has a long common substring with an earlier one; the nearest in time is returned."""

    def __init__(
        self,
        *,
        ratio: float = RATIO,
        span: timedelta = SPAN,
        lengths_differ: int = MAX_DIFFERENCE,
        capacity: int = CAPACITY,
        compared: int = MAX_COMPARED,
    ) -> None:
        if not 0 < ratio < 1:
            raise ValueError(f"ratio must be between 0 and 1, not {ratio}")
        self._ratio = ratio
        self._lengths_differ = lengths_differ
        self._compared = compared
        self._window: Window[int] = Window(span, capacity)
        self._documents: dict[int, tuple[str, str, float]] = {}
        self._blocks: defaultdict[int, dict[int, None]] = defaultdict(dict)
        self._next = 0

    def __len__(self) -> int:
        return len(self._window)

    def judge(self, document: Document) -> Verdict:
        features = feature_string(document.text)
        if not features:
            return NEW
        time = self._window.time_of(document.published)
        verdict = self._nearest(features, document.id, time)
        for old in self._window.add(self._next, time):
            for block in self._cut(self._documents.pop(old)[0]):
                del self._blocks[block][old]
                if not self._blocks[block]:
                    del self._blocks[block]
        self._documents[self._next] = (features, document.id, time)
        for block in self._cut(features):
            self._blocks[block][self._next] = None
        self._next += 1
        return verdict

    def _nearest(self, features: str, document_id: str, time: float) -> Verdict:
        shortest, longest = max(1, len(features) - self._lengths_differ), len(features) + self._lengths_differ
        found: set[int] = set()
        for size in {self._block(length) for length in range(shortest, longest + 1)}:
            for block in self._blocks.keys() & {hash(features[at : at + size]) for at in range(len(features) - size + 1)}:
                found.update(self._blocks[block])
        candidates = {number for number in found if shortest <= len(self._documents[number][0]) <= longest}
        if not candidates:
            return NEW
        runs = SuffixAutomaton(features)
        for number in nlargest(self._compared, candidates):
            earlier, its_id, its_time = self._documents[number]
            if its_id == document_id or not self._window.is_near(time, its_time):
                continue
            longer = max(len(features), len(earlier))
            run = runs.longest(earlier)
            if run > self._ratio * longer:
                return Verdict(its_id, "feature-string", run / longer)
        return NEW

    def _block(self, length: int) -> int:
        """Return the block size for which a sufficiently long run in a string of ``length`` contains a complete block."""
        return (int(self._ratio * length) + 2) // 2

    def _cut(self, features: str) -> set[int]:
        """Return hashes of blocks, valid only in this process; runs are then counted on the strings."""
        size = self._block(len(features))
        return {hash(features[at : at + size]) for at in range(0, len(features) - size + 1, size)}


def feature_string(text: str, marks: str = MARKS, reach: int = CONTEXT_CHARS) -> str:
    """Return the ``reach`` characters before and after each of ``marks``, in order, ignoring white space."""
    parts, length = [], 0
    line = "".join(text.split())
    for mark in re.finditer(f"[{re.escape(marks)}]", line):
        part = line[max(0, mark.start() - reach) : mark.start()] + line[mark.end() : mark.end() + reach]
        parts.append(part)
        length += len(part)
        if length >= MAX_LENGTH:
            break
    return "".join(parts)[:MAX_LENGTH]
