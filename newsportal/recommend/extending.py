"""A model with what came since it learnt: stories that are new, and views that make stories popular. Pairs wait for the next fit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from newsportal.recommend import content, formulas
from newsportal.recommend.base import Item, View
from newsportal.recommend.clicks import Floats, Ints, hours
from newsportal.recommend.neighbours import Table
from newsportal.recommend.sessions import Rows
from newsportal.recommend.signals import HALF_LIVES, Learnt


def extended(learnt: Learnt, views: Iterable[View], items: Iterable[Item]) -> Learnt:
    """Stories already known stay as they are; views before the model's moment were counted and are left out."""
    known = {item.story: number for number, item in enumerate(learnt.items)}
    new = {item.story: item for item in items if item.story not in known}
    whole = (*learnt.items, *(new[story] for story in sorted(new)))
    numbers = known | {item.story: number for number, item in enumerate(whole)}
    since = sorted((hours(view.at), numbers[view.story]) for view in views if view.story in numbers)
    since = [one for one in since if one[0] >= learnt.moment]
    moment = since[-1][0] if since else learnt.moment
    at, story = np.array([one[0] for one in since]), np.array([one[1] for one in since], dtype=np.int64)
    more = len(new)
    return replace(
        learnt,
        moment=moment,
        items=whole,
        published=np.array([*learnt.published, *(hours(item.published) for item in whole[len(known) :])]),
        popular=np.array(
            [_popular(row, half, learnt.moment, moment, at, story, more) for row, half in zip(learnt.popular, HALF_LIVES, strict=True)]
        ),
        together=_longer(learnt.together, more),
        after=_longer(learnt.after, more),
        rows=Rows(learnt.rows.starts, learnt.rows.story, _padded(learnt.rows.began, more), learnt.rows.by),
        label_matrix=content.label_matrix(whole, learnt.labels),
        word_matrix=content.word_matrix(whole, learnt.words, learnt.idf),
    )  # fmt: skip


def _popular(old: Floats, half_life: float, then: float, moment: float, at: Floats, story: Ints, more: int) -> Floats:
    faded = np.concatenate((old, np.zeros(more))) * np.exp2(-(moment - then) / half_life)
    return np.asarray(faded + formulas.counted(story, formulas.fading(at, moment, half_life), len(old) + more))


def _longer(table: Table, more: int) -> Table:
    return Table(_padded(table.starts, more), table.story, table.value)


def _padded(starts: Ints, more: int) -> Ints:
    return np.concatenate((starts, np.full(more, starts[-1], dtype=np.int64)))
