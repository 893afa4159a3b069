"""Serialise a model as plain arrays (NumPy's ``.npz`` format, without objects) and one JSON text, without executable content and validated
when read. Also extend a model by new stories and views, which change popularity; pairs wait for the next fit."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np

from newsportal import packing
from newsportal.errors import ModelError
from newsportal.packing import Form
from newsportal.recommend import formulas, signals
from newsportal.recommend.base import Item, View
from newsportal.recommend.blend import Weights
from newsportal.recommend.clicks import HOUR_SECONDS, Floats, Ints, hours
from newsportal.recommend.neighbours import Table
from newsportal.recommend.signals import GENERAL, HALF_LIVES, PERSONAL, Statistics

FORM: Final = Form("newsportal recommendations", 2, 2 << 30, 512 << 20, header="text", compression=1)
"""Size limits: 100,000 stories with all neighbours take 350 MB."""


def pack(learnt: Statistics, weights: Weights, facts: Mapping[str, Any]) -> bytes:
    """Serialise a model deterministically. Values of neighbours are stored in single precision."""
    text = {
        "moment": learnt.moment,
        "alpha": learnt.alpha,
        "items": [[item.story, item.published.timestamp(), list(item.words), list(item.labels)] for item in learnt.items],
        "labels": learnt.labels,
        "words": learnt.words,
        "facts": facts,
    }
    arrays = {
        "popular": learnt.popular,
        "mixture": learnt.mixture,
        "base": learnt.base,
        "idf": learnt.idf,
        **_table("together", learnt.joint),
        **_table("after", learnt.after),
        "rows_starts": learnt.rows.starts,
        "rows_story": learnt.rows.story.astype(np.int32),
        "rows_share": learnt.rows.share.astype(np.float32),
        **{f"weights_{name}": figures for name, figures in weights.items()},
    }
    return packing.pack(text, arrays, FORM)


def _table(name: str, table: Table) -> dict[str, Any]:
    return {f"{name}_starts": table.starts, f"{name}_story": table.story.astype(np.int32), f"{name}_value": table.value.astype(np.float32)}


def unpack(data: bytes) -> tuple[Statistics, Weights, dict[str, Any]]:
    """Restore a model. Raises ``ModelError`` for bytes that are not such a model, damaged, or of another version."""
    text, arrays = packing.unpack(data, FORM)
    try:
        items = tuple(
            Item(str(story), datetime.fromtimestamp(published, UTC), tuple(map(str, words)), tuple(map(str, labels)))
            for story, published, words, labels in text["items"]
        )
        labels, words = tuple(map(str, text["labels"])), tuple(map(str, text["words"]))
        rows_starts, rows_story = _starts(arrays["rows_starts"], len(arrays["rows_story"])), _stories(arrays["rows_story"], len(items))
        readers = np.repeat(np.arange(len(rows_starts) - 1), np.diff(rows_starts))
        learnt = Statistics(
            moment=float(text["moment"]),
            items=items,
            published=np.array([item.published.timestamp() / HOUR_SECONDS for item in items]),
            popular=_floats(arrays["popular"], (len(HALF_LIVES), len(items))),
            mixture=_floats(arrays["mixture"], (len(HALF_LIVES),)),
            joint=_read("together", arrays, len(items)),
            after=_read("after", arrays, len(items)),
            rows=signals.index_rows(rows_starts, rows_story, _floats(arrays["rows_share"], rows_story.shape), readers, len(items)),
            labels=labels,
            base=_floats(arrays["base"], (len(labels),)),
            words=words,
            idf=_floats(arrays["idf"], (len(words),)),
            label_matrix=signals.label_matrix(items, labels),
            word_matrix=signals.word_matrix(items, words, arrays["idf"]),
            alpha=float(text["alpha"]),
        )
        weights = {name.removeprefix("weights_"): value for name, value in arrays.items() if name.startswith("weights_")}
        lengths = {name: len(GENERAL) if name == "new" else len(GENERAL) + len(PERSONAL) for name in weights}
        return learnt, {name: _floats(value, (lengths[name],)) for name, value in weights.items()}, dict(text["facts"])
    except (ValueError, KeyError, TypeError, IndexError, OverflowError, OSError) as error:
        raise ModelError("the recommendation model is damaged: fit it again") from error


def _read(name: str, arrays: Mapping[str, Any], stories: int) -> Table:
    story = _stories(arrays[f"{name}_story"], stories)
    starts = _starts(arrays[f"{name}_starts"], len(story))
    if len(starts) != stories + 1:
        raise ValueError(f"{name} has rows for {len(starts) - 1} of {stories} stories")
    return Table(starts, story, _floats(arrays[f"{name}_value"], (len(story),)))


def _floats(value: Any, shape: tuple[int, ...]) -> Any:
    if value.shape != shape or value.dtype.kind != "f" or not np.isfinite(value).all():
        raise ValueError(f"figures of shape {value.shape}, not {shape}, or not finite")
    return value.astype(np.float64)


def _stories(value: Any, stories: int) -> Any:
    if value.ndim != 1 or value.dtype.kind != "i" or (len(value) and not 0 <= value.min() <= value.max() < stories):
        raise ValueError("a story that is not in the model")
    return value.astype(np.int64)


def _starts(value: Any, end: int) -> Any:
    if value.ndim != 1 or value.dtype.kind != "i" or not len(value) or value[0] != 0 or value[-1] != end or (np.diff(value) < 0).any():
        raise ValueError("rows out of order")
    return value.astype(np.int64)


def extend(learnt: Statistics, views: Iterable[View], items: Iterable[Item]) -> Statistics:
    """Add stories and views to a model. Known stories stay unchanged; views before the model's moment are ignored, as already counted."""
    old_numbers = {item.story: number for number, item in enumerate(learnt.items)}
    new = {item.story: item for item in items if item.story not in old_numbers}
    all_items = (*learnt.items, *(new[story] for story in sorted(new)))
    numbers = old_numbers | {item.story: number for number, item in enumerate(all_items)}
    since = sorted((hour, numbers[view.story]) for view in views if view.story in numbers and (hour := hours(view.at)) >= learnt.moment)
    moment = since[-1][0] if since else learnt.moment
    at, story = np.array([view[0] for view in since]), np.array([view[1] for view in since], dtype=np.int64)
    more = len(new)
    return replace(
        learnt,
        moment=moment,
        items=all_items,
        published=np.array([*learnt.published, *(hours(item.published) for item in all_items[len(old_numbers) :])]),
        popular=np.array(
            [_popular(row, half, learnt.moment, moment, at, story, more) for row, half in zip(learnt.popular, HALF_LIVES, strict=True)]
        ),
        joint=_with_empty_rows(learnt.joint, more),
        after=_with_empty_rows(learnt.after, more),
        rows=replace(learnt.rows, began=_padded(learnt.rows.began, more), read=np.pad(learnt.rows.read, (0, more))),
        label_matrix=signals.label_matrix(all_items, learnt.labels),
        word_matrix=signals.word_matrix(all_items, learnt.words, learnt.idf),
    )  # fmt: skip


def _popular(old: Floats, half_life: float, then: float, moment: float, at: Floats, story: Ints, more: int) -> Floats:
    faded = np.concatenate((old, np.zeros(more))) * np.exp2(-(moment - then) / half_life)
    return np.asarray(faded + formulas.weighted_counts(story, formulas.decay(at, moment, half_life), len(old) + more))


def _with_empty_rows(table: Table, more: int) -> Table:
    return Table(_padded(table.starts, more), table.story, table.value)


def _padded(starts: Ints, more: int) -> Ints:
    return np.concatenate((starts, np.full(more, starts[-1], dtype=np.int64)))
