"""Evaluation of the model's trees against a slow reference, and validation of its file."""

from __future__ import annotations

import json
from importlib.resources import files
from math import exp
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsportal.extractors.article.body import FILE, VERSION, BlockModel, block_model, from_dict

MAX_BYTES = 200_000
DEPTH = 2


def model_table(**other: Any) -> dict[str, Any]:
    """Return a model with two trees over two features."""
    table = {
        "version": VERSION,
        "depth": DEPTH,
        "bias": 0.5,
        "columns": ["length", "linked"],
        "feature": [0, 1, 1, 0],
        "border": [1.0, 0.5, 0.25, 2.0],
        "leaves": [-1.0, 1.0, -2.0, 2.0, 0.0, 0.1, 0.2, 0.3],
    }
    return table | other


def reference_probability(model: BlockModel, row: list[float]) -> float:
    """Evaluate the module's formula one block, tree and split at a time."""
    score = model.bias
    for tree, leaves in enumerate(model.leaves.tolist()):
        leaf = 0
        for level in range(model.depth):
            split = tree * model.depth + level
            if np.float32(row[model.feature[split]]) > model.border[split]:
                leaf += 2**level
        score += leaves[leaf]
    return 1 / (1 + exp(-score))


NUMBERS = st.floats(-3, 3, width=32)


@given(st.data(), st.integers(1, 4), st.integers(1, 5), st.integers(1, 6))
def test_trees_match_reference_formula(data: st.DataObject, depth: int, trees: int, blocks: int) -> None:
    def drawn(numbers: st.SearchStrategy[Any], count: int) -> list[Any]:
        values: list[Any] = data.draw(st.lists(numbers, min_size=count, max_size=count))
        return values

    splits = depth * trees
    model = from_dict(
        model_table(
            depth=depth,
            columns=["a", "b", "c"],
            feature=drawn(st.integers(0, 2), splits),
            border=drawn(NUMBERS, splits),
            leaves=drawn(NUMBERS, trees * 2**depth),
        )
    )
    rows = [drawn(NUMBERS, 3) for _ in range(blocks)]
    probs = model.predict(np.array(rows, dtype=np.float32).T)
    assert np.allclose(probs, [reference_probability(model, row) for row in rows], atol=1e-5)


def test_shipped_model_matches_reference_formula() -> None:
    model = block_model()
    rows = np.random.default_rng(1).normal(1, 3, (len(model.columns), 40)).astype(np.float32)
    assert np.allclose(model.predict(rows), [reference_probability(model, row) for row in rows.T.tolist()], atol=1e-4)


def test_value_on_border_is_not_above_it() -> None:
    model = from_dict(model_table(feature=[0, 0], border=[1.0, 2.0], leaves=[0.0, 9.0, 0.0, 9.0], bias=0.0))
    low, high = model.predict(np.array([[1.0, 1.5], [0, 0]], dtype=np.float32))
    assert low == 0.5
    assert high > 0.99


@pytest.mark.parametrize(
    "other",
    [
        {"feature": [0, 1, 1]},
        {"border": [1.0]},
        {"leaves": [0.0, 1.0, 2.0, 3.0]},
        {"leaves": [0.0, 1.0, 2.0]},
        {"feature": [0, 1, 1, 2]},
        {"feature": [0, 1, 1, -1]},
        {"depth": 3},
        {"depth": 9, "feature": [0] * 9, "border": [0.0] * 9, "leaves": [0.0] * 2**9},
    ],
)
def test_inconsistent_tables_are_refused(other: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        from_dict(model_table(**other))


@pytest.mark.parametrize("version", [None, VERSION + 1, str(VERSION)])
def test_unsupported_version_is_refused(version: object) -> None:
    with pytest.raises(ValueError, match=f"version {version!r}; this newsportal reads version {VERSION}"):
        from_dict(model_table(version=version))


def test_shipped_model_file_has_provenance_note() -> None:
    content = (files("newsportal.extractors.article") / FILE).read_bytes()
    assert len(content) < MAX_BYTES
    table = json.loads(content)
    assert set(table) == {"version", "note", "depth", "bias", "columns", "feature", "border", "leaves"}
    assert "training/fit.py" in table["note"]
    assert "Apache-2.0" in table["note"]
    assert all(isinstance(value, int | float) for name in ("feature", "border", "leaves") for value in table[name])
