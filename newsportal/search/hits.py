"""What a hit shows: marks in its title and a passage of its text, the same whatever index found it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from newsportal.search.base import Hit
from newsportal.search.highlight import marked, one_line, snippet
from newsportal.store.columns import EPOCH, MICROSECOND


class Shown(NamedTuple):
    """What an index keeps of an article to show it. Moments are microseconds since 1970."""

    id: str
    story_id: str
    url: str
    title: str
    text: str
    site: str | None
    published: int | None
    moment: int


def hit(shown: Shown, score: float, folded: int, words: Sequence[str]) -> Hit:
    """``shown`` with ``words`` marked; ``folded`` other hits of its story were collapsed."""
    return Hit(
        id=shown.id,
        story_id=shown.story_id,
        url=shown.url,
        score=score,
        title=shown.title,
        title_html=marked(one_line(shown.title), words),
        snippet_html=snippet(shown.text, words),
        site=shown.site,
        published=None if shown.published is None else EPOCH + shown.published * MICROSECOND,
        moment=EPOCH + shown.moment * MICROSECOND,
        folded=folded,
    )
