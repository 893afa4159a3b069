"""Which documents are held back from training, so that a model is measured on texts it has not seen.

Whole groups (a text and its reposts) are held back, never a part: a model that knows a text knows its reposts. Of every label the same
share of groups is, those whose hash is lowest: the choice is the same on every machine, and nearly the same when a corpus grows, so
versions of a model can be compared on documents that none of them has seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Final

from newsportal.messages import Message

SHARE: Final = 0.1
"""Share of a label's groups that is held back."""

LEAST_GROUPS: Final = 5
"""A label of fewer groups is learnt wholly: to hold one of them back would cost it more than the figure is worth."""

FEW: Final = 30
"""Documents of a label below which a warning is due: figures on a tenth of so few say little."""


def held_out(ids: Sequence[str], labels: Sequence[str], groups: Mapping[str, str], share: float = SHARE, seed: int = 0) -> frozenset[str]:
    """The ids that are held back; ``groups`` leads from an id to the name of its group, by itself where there is none."""
    members: dict[str, list[int]] = {}
    for at, id in enumerate(ids):
        members.setdefault(groups.get(id, id), []).append(at)
    by_label: dict[str, list[str]] = {}
    for places in members.values():
        usual = Counter(labels[at] for at in places).most_common(1)[0][0]
        by_label.setdefault(usual, []).append(min(ids[at] for at in places))
    names = {min(ids[at] for at in places): places for places in members.values()}
    chosen = (name for firsts in by_label.values() for name in sorted(firsts, key=lambda id: _hash(id, seed))[: _count(len(firsts), share)])
    return frozenset(ids[at] for name in chosen for at in names[name])


def _count(groups: int, share: float) -> int:
    """At least one and at most half of a label's groups."""
    return 0 if groups < LEAST_GROUPS or share <= 0 else min(groups // 2, max(1, round(groups * share)))


def _hash(id: str, seed: int) -> bytes:
    return blake2b(f"{seed}\n{id}".encode("utf-8", "surrogatepass"), digest_size=8).digest()


def warnings(labels: Sequence[str], held: Sequence[str]) -> tuple[Message, ...]:
    """What to say of a corpus before it is trusted: labels with few documents, labels that were not measured."""
    counts, measured = Counter(labels), set(held)
    few = [f"{label} ({count})" for label, count in sorted(counts.items()) if count < FEW]
    not_measured = sorted(set(counts) - measured)
    told = []
    if few:
        told.append(Message("train.few", few=FEW, labels=", ".join(few)))
    if measured and not_measured:
        told.append(Message("train.unmeasured", labels=", ".join(not_measured)))
    return tuple(told)
