"""How good a finder's verdicts are against gold: per document, where documents stand in clusters, or per pair."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from itertools import combinations

Pair = frozenset[str]


@dataclass(frozen=True, slots=True)
class Score:
    """``hits`` right answers out of ``given``; ``wanted`` would have been all."""

    hits: int
    given: int
    wanted: int

    @property
    def precision(self) -> float:
        return self.hits / self.given if self.given else 0.0

    @property
    def recall(self) -> float:
        return self.hits / self.wanted if self.wanted else 0.0

    @property
    def f1(self) -> float:
        return 2 * self.hits / (self.given + self.wanted) if self.given + self.wanted else 0.0


def per_document(answers: Iterable[tuple[str, str | None]], clusters: Mapping[str, object]) -> Score:
    """Of ``answers`` in time order as (document, duplicate of or ``None``): right is an *earlier* document of the same cluster."""
    hits = given = wanted = 0
    earlier: set[str] = set()
    seen: set[object] = set()
    for document, answer in answers:
        cluster = clusters[document]
        wanted += cluster in seen
        given += answer is not None
        hits += answer in earlier and clusters.get(str(answer)) == cluster
        earlier.add(document)
        seen.add(cluster)
    return Score(hits, given, wanted)


def joined(answers: Iterable[tuple[str, str | None]]) -> set[Pair]:
    """All pairs within the groups that the answers join."""
    group_of: dict[str, str] = {}
    groups: defaultdict[str, set[str]] = defaultdict(set)
    for document, answer in answers:
        for new in (document, answer or document):
            if new not in group_of:
                group_of[new] = new
                groups[new] = {new}
        kept, gone = group_of[answer or document], group_of[document]
        if kept != gone:
            groups[kept] |= groups[gone]
            group_of.update(dict.fromkeys(groups.pop(gone), kept))
    return {frozenset(pair) for group in groups.values() for pair in combinations(group, 2)}


def per_pair(found: Set[Pair], right: Set[Pair], left_out: Set[Pair] = frozenset()) -> Score:
    """``left_out``: pairs that are neither right nor wrong."""
    counted = found - left_out
    return Score(len(counted & right), len(counted), len(right))
