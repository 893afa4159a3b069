"""The model that tells text of an article from what stands around it: boosted oblivious trees over the features of a block.

    p(block) = 1 / (1 + exp(−(b + Σ_t leaf_t(bits of the block's splits in tree t))))

All trees have the same depth d; a tree asks d times "feature > border" and its answers are the bits of a leaf's number (Prokhorenkova et
al., CatBoost, NeurIPS 2018, section 4: oblivious trees). The weights are a table in ``block_model.json``; ``training/fit.py`` makes it
and says on which pages. Numbers in, numbers out: nothing in the file is ever run.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

FILE: Final = "block_model.json"
VERSION: Final = 1
MAX_DEPTH: Final = 8
"""Of a tree: the number of its leaf is a byte."""


@dataclass(frozen=True, slots=True, eq=False)
class BlockModel:
    """``columns``: names of the features, in the order of the rows given to :meth:`likely`. ``feature`` (trees · depth) and ``border``
    are the splits, ``leaves`` has the shape (trees, 2 ** depth)."""

    columns: tuple[str, ...]
    feature: NDArray[np.intp]
    border: NDArray[np.float32]
    leaves: NDArray[np.float32]
    bias: float
    depth: int

    def likely(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """The probability of each block to be text of the article; ``rows`` has the shape (columns, blocks)."""
        trees, size = self.leaves.shape
        leaf = np.zeros((trees, rows.shape[1]), dtype=np.uint8)
        for level in range(self.depth):  # a level of all trees at a time, in bytes: a third less time than all at once
            splits = slice(level, None, self.depth)
            leaf |= (rows[self.feature[splits]] > self.border[splits, None]).view(np.uint8) << level
        places = leaf + (np.arange(trees) * size)[:, None]
        score = self.bias + self.leaves.ravel().take(places).sum(axis=0)
        likely: NDArray[np.float32] = (1 / (1 + np.exp(-score))).astype(np.float32)
        return likely


def from_dict(plain: dict[str, Any]) -> BlockModel:
    """The model that ``training/fit.py`` wrote. Raises ``ValueError`` for another version or tables that do not fit together."""
    if plain.get("version") != VERSION:
        raise ValueError(f"a block model of version {plain.get('version')!r}; this newsportal reads version {VERSION}")
    depth, columns = int(plain["depth"]), tuple(plain["columns"])
    feature = np.array(plain["feature"], dtype=np.intp)
    leaves = np.array(plain["leaves"], dtype=np.float32).reshape(-1, 2**depth)
    border = np.array(plain["border"], dtype=np.float32)
    fits = len(feature) == len(border) == depth * len(leaves) and depth <= MAX_DEPTH
    if not fits or feature.min(initial=0) < 0 or feature.max(initial=0) >= len(columns):
        raise ValueError("the tables of the block model do not fit together")
    return BlockModel(columns, feature, border, leaves, float(plain["bias"]), depth)


@cache
def block_model() -> BlockModel:
    return from_dict(json.loads((files(__package__) / FILE).read_text(encoding="utf-8")))
