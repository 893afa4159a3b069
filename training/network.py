"""Fit the networks of ``newsportal.extractors.article.page_kind``: which blocks of any page are content, from all blocks around each.

A network's loss on a page is the log loss of its blocks, weighted by characters, and 1 − F1 expected of its probabilities p:

    F = 2 Σ p_i y_i c_i / (Σ p_i c_i + Σ y_i c_i),   y_i: in the gold text, c_i: characters

so it learns to choose all blocks of a list or none. Needs JAX.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from newsportal.extractors.article.page_kind import LIMIT, STEPS, full_table, groups_of

if TYPE_CHECKING:
    from newsportal.extractors.article.page_kind import PageKind
    from training.page import PageExample

WIDTH: Final = 24
EPOCHS: Final = 10
RATE, DECAY, FINAL_RATE, WARM_UP = 3e-3, 0.1, 0.02, 0.1
"""Highest learning rate, weight decay, the last rate's share of the highest, and the share of steps until it is reached (AdamW)."""

DROPPED, DROPPED_FEATURES = 0.25, 0.2
BATCH, LONGEST, PAGES = 3_000, 1_500, 256
"""Blocks of a batch, blocks of one page that are used in an epoch, and one more than the pages of a batch."""

ARTICLES, NEWS = 0.5, 0.3
"""Share of the benchmark's articles, and of other folders' pages, that are used in an epoch."""

LOG_LOSS, F1_LOSS = 1 / 3, 0.5
LEAST_CHARS: Final = 200.0
SEEDS: Final = (1, 2)
LEVELS: Final = 127  # weights are rounded to so many steps of the largest of their matrix


class Batch(NamedTuple):
    """Blocks of several pages; ``page``, ``form`` and ``box`` number their groups. Unused rows belong to the last page."""

    rows: Any
    page: Any
    form: Any
    box: Any
    right: Any
    chars: Any
    weight: Any
    used: Any


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """A page as the network reads it."""

    rows: NDArray[np.float32]
    groups: Sequence[NDArray[np.intp]]
    right: NDArray[np.float32]
    chars: NDArray[np.float32]
    share: float


def fit_networks(pages: Sequence[PageExample], kinds: Mapping[int, PageKind], seeds: Sequence[int] = SEEDS) -> dict[str, Any]:
    """Return networks fitted on ``pages`` in the form of :func:`newsportal.extractors.article.page_kind.network_from`."""
    tables = [full_table(page.blocks.page, page.blocks.table, page.probs, kinds[id(page)]) for page in pages]
    whole = np.concatenate([table.values for table in tables], axis=1)
    centre, scale = rounded(whole.mean(axis=1)), rounded(whole.std(axis=1) + 1e-3)
    samples = [sample_of(page, table.values, centre, scale) for page, table in zip(pages, tables, strict=True)]
    fits = [[plain_matrix(np.asarray(matrix)) for matrix in fit(samples, seed)] for seed in seeds]
    return {"columns": list(tables[0].names), "centre": list(map(short, centre)), "scale": list(map(short, scale)), "fits": fits}


def fit(samples: Sequence[Sample], seed: int) -> Any:
    """Return the matrices of one network."""
    rng = np.random.default_rng(seed)
    weights: Any = first_weights(samples[0].rows.shape[1], rng)
    steps = EPOCHS * len(list(batches_of(samples, np.random.default_rng(seed))))
    moments: Any = ([np.zeros_like(matrix) for matrix in weights],) * 2
    key, step = jax.random.key(seed), 0
    for _ in range(EPOCHS):
        for batch in batches_of(samples, rng):
            step += 1
            weights, moments = descend(weights, moments, batch, jax.random.fold_in(key, step), step, rate_at(step / steps))
    return weights


def short(value: float) -> float:
    return float(f"{value:.4g}")


def rounded(values: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.array(list(map(short, values)), dtype=np.float32)


def plain_matrix(matrix: NDArray[np.float32]) -> tuple[float, list[list[int]]]:
    unit = short(float(np.abs(matrix).max()) / LEVELS)
    return unit, np.rint(matrix / unit).astype(int).tolist()


def sample_of(page: PageExample, rows: NDArray[np.float32], centre: NDArray[np.float32], scale: NDArray[np.float32]) -> Sample:
    blocks = page.blocks
    length, right = blocks.table.length, blocks.right.astype(np.float32)
    share = NEWS if page.news else ARTICLES if page.kind == "article" else 1.0
    scaled = np.clip((rows - centre[:, None]) / scale[:, None], -LIMIT, LIMIT).T
    return Sample(scaled, groups_of(blocks.page), right, (length / max(float(length @ right), LEAST_CHARS)).astype(np.float32), share)


def first_weights(features: int, rng: np.random.Generator) -> list[NDArray[np.float32]]:
    """Return random matrices (outputs, inputs and 1): the first, two for each layer, the last."""
    shapes = [(WIDTH, features, 1.0), *((WIDTH, inputs, size) for _ in STEPS for inputs, size in ((7 * WIDTH, 1.5), (WIDTH, 0.5)))]
    matrices = []
    for outputs, inputs, size in [*shapes, (1, WIDTH, 0.1)]:
        matrix = rng.normal(0, size / np.sqrt(inputs), (outputs, inputs + 1)).astype(np.float32)
        matrix[:, -1] = 0
        matrices.append(matrix)
    return matrices


def batches_of(samples: Sequence[Sample], rng: np.random.Generator) -> Iterator[Batch]:
    """Yield a pass over the pages in random order."""
    parts: list[tuple[Sample, slice]] = []
    for number in rng.permutation(len(samples)).tolist():
        sample = samples[number]
        if rng.random() > sample.share:
            continue
        size = min(len(sample.right), LONGEST)
        start = int(rng.integers(0, len(sample.right) - size + 1))
        if sum(part.stop - part.start for _, part in parts) + size > BATCH or len(parts) == PAGES - 1:
            yield joined(parts)
            parts = []
        parts.append((sample, slice(start, start + size)))
    if parts:
        yield joined(parts)


def joined(parts: Sequence[tuple[Sample, slice]]) -> Batch:
    rows = np.zeros((BATCH, parts[0][0].rows.shape[1]), dtype=np.float32)
    page, form, box = (np.full(BATCH, last) for last in (PAGES - 1, BATCH - 1, BATCH - 1))
    right, chars = np.zeros(BATCH, np.float32), np.zeros(BATCH, np.float32)
    place = 0
    for number, (sample, part) in enumerate(parts):
        to = slice(place, place := place + part.stop - part.start)
        rows[to], right[to], chars[to], page[to] = sample.rows[part], sample.right[part], sample.chars[part], number
        for groups, of in zip(sample.groups, (form, box), strict=True):
            of[to] = np.unique(groups[part], return_inverse=True)[1] + to.start
    return Batch(rows, page, form, box, right, chars, np.minimum(chars, 0.25) ** 0.7, (np.arange(PAGES) < len(parts)).astype(np.float32))


def unit_of(state: Array) -> Array:
    return state * jax.lax.rsqrt(jnp.mean(state * state, axis=1, keepdims=True) + 1e-5)


def with_one(state: Array) -> Array:
    return jnp.concatenate([state, jnp.ones((len(state), 1))], axis=1)


def means(state: Array, group: Array, count: int) -> Array:
    sums = jax.ops.segment_sum(with_one(state), group, count)
    return sums[:, :-1] / jnp.maximum(sums[:, -1:], 1)


def moved(state: Array, page: Array, step: int) -> Array:
    """Return the state of the block ``step`` before each, 0 on another page."""
    rolled, there = jnp.roll(state, step, axis=0), jnp.roll(page, step) == page
    within = (jnp.arange(len(page)) >= step) if step > 0 else (jnp.arange(len(page)) < len(page) + step)
    return rolled * (there & within)[:, None]


def logits(weights: Sequence[Array], batch: Batch, key: Array) -> Array:
    """Return the logits that :func:`~newsportal.extractors.article.page_kind.logits_of` has, with dropout."""
    keys = iter(jax.random.split(key, len(STEPS) + 2))

    def dropped(state: Array) -> Array:
        return state * jax.random.bernoulli(next(keys), 1 - DROPPED, state.shape) / (1 - DROPPED)

    kept = jax.random.bernoulli(next(keys), 1 - DROPPED_FEATURES, (PAGES, batch.rows.shape[1]))[batch.page]
    first, *layers, last = weights
    state = jnp.tanh(with_one(batch.rows * kept) @ first.T)
    for step, inner, outer in zip(STEPS, layers[::2], layers[1::2], strict=True):
        unit = unit_of(state)
        around = [moved(unit, batch.page, step), unit, moved(unit, batch.page, -step)]
        around += [means(unit, batch.page, PAGES)[batch.page], jnp.maximum(jax.ops.segment_max(unit, batch.page, PAGES), -9)[batch.page]]
        around += [means(unit, group, BATCH)[group] for group in (batch.form, batch.box)]
        state = state + with_one(dropped(jax.nn.relu(with_one(jnp.concatenate(around, axis=1)) @ inner.T))) @ outer.T
    return (with_one(dropped(unit_of(state))) @ last.T)[:, 0]


def loss(weights: Sequence[Array], batch: Batch, key: Array) -> Array:
    score = logits(weights, batch, key)
    right, chars = batch.right, batch.chars
    log_loss = -(right * jax.nn.log_sigmoid(score) + (1 - right) * jax.nn.log_sigmoid(-score))
    found = jax.nn.sigmoid(score) * chars
    columns = jnp.stack([log_loss * batch.weight, found * right, found + right * chars], axis=1)
    logs, common, total = jax.ops.segment_sum(columns, batch.page, PAGES).T
    f1 = 2 * common / jnp.maximum(total, 0.2)
    return ((LOG_LOSS * logs + F1_LOSS * (1 - f1)) * batch.used).sum() / batch.used.sum()


def rate_at(done: float) -> float:
    """Return the learning rate after a share of all steps: up in a line, then down in a half cosine."""
    falling = (done - WARM_UP) / (1 - WARM_UP)
    return RATE * (done / WARM_UP if done < WARM_UP else FINAL_RATE + (1 - FINAL_RATE) * 0.5 * (1 + np.cos(np.pi * falling)))


def descended(weights: Any, moments: Any, batch: Batch, key: Array, step: int, rate: float) -> tuple[Any, Any]:
    """Return the weights and moments after one step of AdamW, the gradient's norm cut to 1."""
    slopes = jax.grad(loss)(weights, batch, key)
    norm = jnp.sqrt(sum((slope**2).sum() for slope in slopes))
    slopes = [slope / jnp.maximum(norm, 1) for slope in slopes]
    first = [0.9 * old + 0.1 * slope for old, slope in zip(moments[0], slopes, strict=True)]
    second = [0.999 * old + 0.001 * slope**2 for old, slope in zip(moments[1], slopes, strict=True)]
    changed = []
    for one, mean, square in zip(weights, first, second, strict=True):
        change = mean / (1 - 0.9**step) / (jnp.sqrt(square / (1 - 0.999**step)) + 1e-8)
        changed.append(one - rate * (change + DECAY * one))
    return changed, (first, second)


descend: Final = jax.jit(descended)
