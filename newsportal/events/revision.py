"""Revise events after more of their stories have arrived (docs/algorithms/events.md).

A story is assigned with what was known of its event at that time. Later:

* an event is split into connected components, with edges between stories whose vectors have a cosine of at least :data:`MIN_COSINE` and
  share at least two terms;
* two events are merged if the cosine of their sums reaches :data:`SAME_EVENT`, and neither places nor the form of their titles separate
  them (:meth:`newsportal.events.EventClusters.most_similar`).
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from newsportal.events import MAX_SHARED_BY_CHANCE, Story, unit_vector

MIN_COSINE: Final = 0.1  # minimum cosine of two linked stories of an event: a follow-up is less similar to each story than to their sum


def components(stories: Sequence[Story], fixed: Collection[str] = ()) -> list[list[str]]:
    """Return the ids of connected stories by component, first the one that keeps the event: that of ``fixed`` stories, which are never
    separated, else the largest, ties by age. Time and memory grow with the pairs of stories that share a term."""
    shared: defaultdict[tuple[int, int], list[float]] = defaultdict(list)
    postings: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
    for number, story in enumerate(stories):
        for term, weight in unit_vector(story.terms).items():
            for other, other_weight in postings[term]:
                shared[other, number].append(weight * other_weight)
            postings[term].append((number, weight))
    linked = [pair for pair, products in shared.items() if len(products) > MAX_SHARED_BY_CHANCE and sum(products) >= MIN_COSINE]
    fixed_numbers = [number for number, story in enumerate(stories) if story.id in fixed]
    found = _connected(len(stories), [*linked, *((fixed_numbers[0], number) for number in fixed_numbers[1:])])
    found.sort(key=lambda part: (not set(part) & set(fixed_numbers), -len(part), part[0]))
    return [[stories[number].id for number in part] for part in found]


def _connected(count: int, edges: Iterable[tuple[int, int]]) -> list[list[int]]:
    parents = list(range(count))

    def root(node: int) -> int:
        while parents[node] != node:
            parents[node] = node = parents[parents[node]]
        return node

    for first, second in edges:
        parents[root(second)] = root(first)
    parts: defaultdict[int, list[int]] = defaultdict(list)
    for node in range(count):
        parts[root(node)].append(node)
    return list(parts.values())
