"""Choose the documents held out from training, so that a model is evaluated on unseen texts.

Complete groups (a text and its reposts) are held out, never parts of them: a model trained on a text knows its reposts. The share of groups
is the same for every label, those with the lowest hash: the choice is the same on every machine, and nearly stable when a corpus grows, so
that versions of a model can be compared on documents that none of them was trained on.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Final

import numpy as np
from numpy.typing import NDArray

from newsportal.classify.features import Sparse
from newsportal.messages import Message

SHARE: Final = 0.1  # share of a label's groups that is held out
MIN_GROUPS: Final = 5  # A label with fewer groups is used for training only: holding one out would cost more than the figure is worth
FEW_DOCUMENTS: Final = 30  # documents of a label below which a warning is given: figures on a tenth of so few mean little


def held_out(ids: Sequence[str], labels: Sequence[str], groups: Mapping[str, str], share: float = SHARE, seed: int = 0) -> frozenset[str]:
    """Return the ids to hold out. ``groups`` maps an id to the name of its group; ids without an entry are groups of one."""
    members: dict[str, list[int]] = {}
    for at, id in enumerate(ids):
        members.setdefault(groups.get(id, id), []).append(at)
    names = {min(ids[at] for at in places): places for places in members.values()}
    by_label: dict[str, list[str]] = {}
    for name, places in names.items():
        by_label.setdefault(Counter(labels[at] for at in places).most_common(1)[0][0], []).append(name)

    def order(id: str) -> bytes:
        return blake2b(f"{seed}\n{id}".encode("utf-8", "surrogatepass"), digest_size=8).digest()

    selected = (name for group_names in by_label.values() for name in sorted(group_names, key=order)[: _count(len(group_names), share)])
    return frozenset(ids[at] for name in selected for at in names[name])


def _count(groups: int, share: float) -> int:
    """Return the number of groups to hold out: at least one and at most half of a label's groups."""
    return 0 if groups < MIN_GROUPS or share <= 0 else min(groups // 2, max(1, round(groups * share)))


def corpus_warnings(labels: Sequence[str], evaluated: Sequence[str]) -> tuple[Message, ...]:
    """Return warnings about a corpus: labels with few documents, and labels that were not evaluated."""
    counts, measured = Counter(labels), set(evaluated)
    rare = [f"{label} ({count})" for label, count in sorted(counts.items()) if count < FEW_DOCUMENTS]
    not_measured = sorted(set(counts) - measured)
    messages = (Message("train.small-labels", few=FEW_DOCUMENTS, labels=", ".join(rare)),) if rare else ()
    return messages + ((Message("train.unmeasured", labels=", ".join(not_measured)),) if measured and not_measured else ())


Places = NDArray[np.intp]
Truth = NDArray[np.bool_]

FOLDS: Final = 3

BANDS: Final = 8
ROWS: Final = 4  # min-hashes (Broder 1997) a band. Texts equal in a band are compared: 98 % of pairs with 0.8 of their features in common
SAME: Final = 0.7  # share of equal min-hashes from which texts are near-duplicates: about that share of their features is common (Jaccard)
MIX: Final = np.uint64(0xD6E8FEB86659FD93)


def folds(truth: Truth, groups: Places) -> Places:
    """Return the fold of each example. The examples of a label are cut into contiguous blocks; a group goes with its first example.
    Shuffled folds flatter: they gave 91.2 on Sogou-10's training half where the test half gave 89.0. Neighbours in a corpus come from one
    source or one day, so contiguous blocks are less similar to the rest."""
    label = np.where(truth.any(axis=1), truth.argmax(axis=1), truth.shape[1])[groups]
    order = np.lexsort((np.arange(len(groups)), groups, label))
    sizes = np.bincount(label)
    starts = np.cumsum(sizes) - sizes
    rank = np.empty(len(groups), dtype=np.intp)
    rank[order] = np.arange(len(groups)) - starts[label[order]]
    fold: Places = rank[groups] * FOLDS // sizes[label]
    return fold


def near_duplicates(vectors: Sparse) -> Places:
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    indexes = np.arange(vectors.shape[0])
    nonempty = np.flatnonzero(np.diff(vectors.indptr))
    if len(nonempty) < 2:
        return indexes
    hashes = _least_hashes(vectors.indices.astype(np.uint64), vectors.indptr[nonempty])
    pairs = np.concatenate([_neighbours(band) for band in np.split(hashes, BANDS, axis=1)])
    pairs = pairs[(hashes[pairs[:, 0]] == hashes[pairs[:, 1]]).mean(axis=1) >= SAME]
    graph = coo_matrix((np.ones(len(pairs)), (nonempty[pairs[:, 0]], nonempty[pairs[:, 1]])), shape=(len(indexes), len(indexes)))
    _, group = connected_components(graph, directed=False)
    _, first = np.unique(group, return_index=True)
    return np.asarray(first[group], dtype=np.intp)


def _least_hashes(features: NDArray[np.uint64], starts: Places) -> NDArray[np.uint32]:
    """Return a min-hash signature per text (its features begin at ``starts``), a column per hash function."""
    columns = []
    for number in range(1, BANDS * ROWS + 1):
        hashed = (features + np.uint64(number << 32)) * MIX
        hashed ^= hashed >> np.uint64(29)
        columns.append(np.minimum.reduceat(((hashed * MIX) >> np.uint64(32)).astype(np.uint32), starts))
    return np.stack(columns, axis=1)


def _neighbours(band: NDArray[np.uint32]) -> Places:
    """Return pairs of equal rows, each row with the next one equal to it."""
    order = np.lexsort((np.arange(len(band)), *band.T))
    equal = (band[order[:-1]] == band[order[1:]]).all(axis=1)
    return np.stack((order[:-1][equal], order[1:][equal]), axis=1)
