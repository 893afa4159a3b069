"""The list that a reader sees: the best first, but not ten of one topic, no story twice in other words, and here and there something new.

* Of ``BLOCK`` places in a row at most ``SHARE`` go to stories that have a label in common, as long as others are left; labels that
  more than ``COMMON`` of the candidates have tell nothing and do not count. The next story takes the place if its score is at most ``NEAR``
  lower. For new readers, of whom nothing is known, ``NEW_SHARE``, however far the next one is.
* A story whose words are alike (cosine ≥ ``ALIKE``) to one in the list is passed over.
* Every ``BLOCK``-th place shows a story drawn from the newest and least seen (ε-greedy exploration, ε = 1 / ``BLOCK``), by a draw that a
  reader and a day settle: the list does not jump about when a page is loaded again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Final

BLOCK: Final = 10
SHARE: Final = 5
NEW_SHARE: Final = 3
NEAR: Final = 0.7
"""ln 2: a story half as likely still takes a place for variety's sake."""

COMMON: Final = 0.5
ALIKE: Final = 0.6
"""Twice the paper's bound of one story (cosine of title and first sentence ≥ 0.3, section 2.2.3): only what is surely one."""

DEPTH: Final = 8
"""How many times as many stories as are asked for are looked through."""


def telling(labels: Sequence[Sequence[str]]) -> frozenset[str]:
    """Labels that not most of the candidates have."""
    counts: dict[str, int] = {}
    for own in labels:
        for label in set(own):
            counts[label] = counts.get(label, 0) + 1
    return frozenset(label for label, count in counts.items() if count <= COMMON * len(labels))


def varied(
    labels: Sequence[Sequence[str]], alike: Callable[[int, int], bool], n: int, share: int = SHARE, scores: Sequence[float] = ()
) -> list[int]:
    """Places of the candidates (the best first) as they are shown; at most ``n``. What the bounds pass over comes when
    nothing else is left, with ``scores`` as soon as nothing near is."""
    counted = telling(labels)
    chosen: list[int] = []
    waiting = list(range(len(labels)))
    while waiting and len(chosen) < n:
        block = chosen[-(BLOCK - 1) :]
        waiting = [place for place in waiting if not (chosen and alike(place, chosen[-1]))]
        near = (place for place in waiting if not scores or scores[waiting[0]] - scores[place] <= NEAR)
        found = next((place for place in near if _fits(place, block, labels, counted, share)), None)
        if found is None:
            found = waiting[0] if waiting else None
        if found is None:
            break
        chosen.append(found)
        waiting.remove(found)
    return chosen


def _fits(place: int, block: Sequence[int], labels: Sequence[Sequence[str]], counted: frozenset[str], share: int) -> bool:
    return all(sum(label in labels[other] for other in block) < share for label in set(labels[place]) & counted)


def drawn(reader: str, day: str, names: Sequence[str], n: int) -> list[int]:
    """``n`` places of ``names``: those whose hash with reader and day is least."""
    return sorted(range(len(names)), key=lambda place: _hash(reader, day, names[place]))[:n]


def _hash(reader: str, day: str, name: str) -> bytes:
    return blake2b(f"{reader}\n{day}\n{name}".encode(), digest_size=8).digest()
