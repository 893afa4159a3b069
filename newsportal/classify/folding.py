"""Which of the examples are held back together while a classifier is trained: blocks in their order, near-duplicates never apart.

Folds of shuffled examples flatter what learns texts by heart: 91.2 were held out of Sogou-10's training half where the test half gave 89.0.
Examples come in the order of their corpus, so that neighbours are of one source or one day; a block is further from the rest.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from newsportal.classify.vectors import Sparse

Places = NDArray[np.intp]
Truth = NDArray[np.bool_]

FOLDS: Final = 3

BANDS: Final = 8
ROWS: Final = 4
"""Min-hashes (Broder 1997): texts that agree in a band are compared; of pairs that share 0.8 of their features 98 % do."""

SAME: Final = 0.7
"""Share of min-hashes in which near-duplicates agree: about that share of their features is common (Jaccard)."""

MIX: Final = np.uint64(0xD6E8FEB86659FD93)


def folds(truth: Truth, groups: Places) -> Places:
    """The fold of each example: those of a label (of its group's first one) are cut into blocks; a group goes where it begins."""
    label = np.where(truth.any(axis=1), truth.argmax(axis=1), truth.shape[1])[groups]
    order = np.lexsort((np.arange(len(groups)), groups, label))
    sizes = np.bincount(label)
    begins = np.cumsum(sizes) - sizes
    rank = np.empty(len(groups), dtype=np.intp)
    rank[order] = np.arange(len(groups)) - begins[label[order]]
    fold: Places = rank[groups] * FOLDS // sizes[label]
    return fold


def near_duplicates(vectors: Sparse) -> Places:
    """The first example of each one's group."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    alone = np.arange(vectors.shape[0])
    some = np.flatnonzero(np.diff(vectors.indptr))
    if len(some) < 2:
        return alone
    hashes = _least_hashes(vectors.indices.astype(np.uint64), vectors.indptr[some])
    pairs = np.concatenate([_neighbours(band) for band in np.split(hashes, BANDS, axis=1)])
    pairs = pairs[(hashes[pairs[:, 0]] == hashes[pairs[:, 1]]).mean(axis=1) >= SAME]
    joined = coo_matrix((np.ones(len(pairs)), (some[pairs[:, 0]], some[pairs[:, 1]])), shape=(len(alone), len(alone)))
    _, group = connected_components(joined, directed=False)
    _, first = np.unique(group, return_index=True)
    return np.asarray(first[group], dtype=np.intp)


def _least_hashes(features: NDArray[np.uint64], begins: Places) -> NDArray[np.uint32]:
    """Of each text (its features begin at ``begins``) the least of its features' hashes, a column a hash function."""
    found = []
    for number in range(1, BANDS * ROWS + 1):
        mixed = (features + np.uint64(number << 32)) * MIX
        mixed ^= mixed >> np.uint64(29)
        found.append(np.minimum.reduceat(((mixed * MIX) >> np.uint64(32)).astype(np.uint32), begins))
    return np.stack(found, axis=1)


def _neighbours(band: NDArray[np.uint32]) -> Places:
    """Pairs of rows that are alike, each row with the next one like it."""
    order = np.lexsort((np.arange(len(band)), *band.T))
    alike = (band[order[:-1]] == band[order[1:]]).all(axis=1)
    return np.stack((order[:-1][alike], order[1:][alike]), axis=1)
