"""Events looked at again, once more of their stories are there (docs/algorithms/events.md).

A story is placed by what was known of its event then. Afterwards:

* an event comes apart where two of its stories do not hang together by others: an edge joins two stories whose vectors have a cosine of
  :data:`LINKED` at least and share two terms at least, and each connected component is an event;
* two events are one where the cosine of their sums reaches :data:`SAME_EVENT`, and neither places nor the form of their titles part them
  (:meth:`newsportal.events.EventClusters.likest`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from newsportal.events import MOST_SHARED_BY_CHANCE, Story, unit_vector

LINKED: Final = 0.1  # the least cosine of two stories of an event: a follow-up is less like each story than like their sum


def components(stories: Sequence[Story], held: Collection[str] = ()) -> list[list[str]]:
    """The ids of stories that hang together, the component that stays first: the one of ``held``, which are never parted; else the
    largest, of equals the earliest. Time and memory grow with the pairs of stories that share a term."""
    shared: defaultdict[tuple[int, int], list[float]] = defaultdict(list)
    postings: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
    for number, story in enumerate(stories):
        for term, weight in unit_vector(story.terms).items():
            for other, known in postings[term]:
                shared[other, number].append(weight * known)
            postings[term].append((number, weight))
    linked = [pair for pair, products in shared.items() if len(products) > MOST_SHARED_BY_CHANCE and sum(products) >= LINKED]
    together = [number for number, story in enumerate(stories) if story.id in held]
    found = _connected(len(stories), [*linked, *((together[0], number) for number in together[1:])])
    found.sort(key=lambda part: (not set(part) & set(together), -len(part), part[0]))
    return [[stories[number].id for number in part] for part in found]


def _connected(count: int, edges: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Connected components of the nodes ``0 … count − 1``."""
    parents = list(range(count))

    def root(node: int) -> int:
        while parents[node] != node:
            parents[node] = node = parents[parents[node]]
        return node

    for one, other in edges:
        parents[root(other)] = root(one)
    parts: defaultdict[int, list[int]] = defaultdict(list)
    for node in range(count):
        parts[root(node)].append(node)
    return list(parts.values())
