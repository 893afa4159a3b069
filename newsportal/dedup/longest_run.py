"""The longest common substring of one string with many others, in time linear in both (suffix automaton, Blumer et al. 1985)."""

from __future__ import annotations


class Runs:
    """All substrings of ``text`` as an automaton: state 0 is the empty one, ``_links`` lead to the longest suffix in another state."""

    def __init__(self, text: str) -> None:
        self._next: list[dict[str, int]] = [{}]
        self._links = [-1]
        self._lengths = [0]
        last = 0
        for character in text:
            last = self._append(character, last)

    def longest(self, other: str) -> int:
        """The length of the longest run of consecutive equal characters."""
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

    def _append(self, character: str, last: int) -> int:
        new = self._state({}, 0, self._lengths[last] + 1)
        state = last
        while state >= 0 and character not in self._next[state]:
            self._next[state][character] = new
            state = self._links[state]
        if state >= 0:
            self._links[new] = self._suffix(state, character)
        return new

    def _suffix(self, state: int, character: str) -> int:
        """The state of the longest suffix that ends with ``character`` after ``state``; a copy where the present one is too long."""
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
