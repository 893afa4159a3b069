"""The rule by which articles under one fold key become one story. Pure: stores bring the articles that stand under the keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from newsportal.items import Fold, FoldKey, content_id
from newsportal.storage.columns import shifted
from newsportal.storage.rows import storable


@dataclass(frozen=True, slots=True)
class Repeated:
    """An article under a key, as a candidate for folding."""

    article_id: str
    story_id: str
    publisher: str
    moment: datetime


def hashed(keys: Iterable[FoldKey]) -> dict[str, FoldKey]:
    """Fold keys by the hash they are kept under; of equal keys the one with the best score."""
    found: dict[str, FoldKey] = {}
    for key in sorted(keys, key=lambda key: key.score):
        found[content_id(key.key)] = key
    return found


def best_first(keys: Iterable[FoldKey]) -> list[tuple[str, FoldKey]]:
    """Fold keys with the hash they are kept under, in the order in which they decide."""
    return sorted(hashed(keys).items(), key=lambda pair: (-pair[1].score, pair[0]))


def window(key: FoldKey, moment: datetime) -> tuple[datetime, datetime]:
    """Between which moments, both included, an article of ``moment`` repeats another by ``key``."""
    span = timedelta(seconds=key.window)
    return shifted(moment, -span), shifted(moment, span)


def chosen(
    row: Mapping[str, Any], keys: Iterable[tuple[str, FoldKey]], under: Mapping[str, Sequence[Repeated]], apart: Collection[str]
) -> Fold | None:
    """The article that ``row`` repeats, and by which of its ``keys`` (as :func:`best_first` gives them): the first key that allows one.

    ``under``: the articles under each hashed key, within its window, earliest first. Stories of ``apart`` are out.
    """
    for key_id, key in keys:
        others = [other for other in under.get(key_id, ()) if other.article_id != row["id"]]
        found = _allowed(others, key, row["publisher"], apart)
        if found:
            return Fold(found.story_id, found.article_id, storable(key.reason), key.score)
    return None


def _allowed(found: Sequence[Repeated], key: FoldKey, publisher: str, apart: Collection[str]) -> Repeated | None:
    """Of the candidates whose stories may take the article: one of the story that most of them are in, the earliest of these.

    A story that several brought is the story; a twin that stands alone (the second page of an article) is not to draw reposts away.
    A standing column (「每日天气」 on many sites, every day) must not creep in through another site's edition, so with
    ``same_site`` False a story that holds this site's own article under the key is out as a whole.
    """
    taken = set() if key.same_site else {candidate.story_id for candidate in found if candidate.publisher == publisher}
    allowed = [candidate for candidate in found if candidate.story_id not in taken and candidate.story_id not in apart]
    reports = Counter(candidate.story_id for candidate in allowed)
    return min(allowed, key=lambda candidate: -reports[candidate.story_id], default=None)
