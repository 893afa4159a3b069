"""Stories about the same things as an article: those of the days around it that share its weightiest words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from newsportal.search.base import Hit, Index, Query
from newsportal.search.words import index_words
from newsportal.store.results import StoredArticle
from newsportal.text import STOP_WORDS, clean

WORDS: Final = 6
"""Further keywords say little of an article, and each costs a walk through its matches."""

AROUND: Final = timedelta(days=30)
"""Before and after the article. News is about what happens; older stories on the subject are found by search. Chosen, not measured."""

MORE: Final = 3  # hits asked for beside those wanted: versions of the story itself are among them


def similar(index: Index, article: StoredArticle, *, limit: int) -> tuple[Hit, ...]:
    """The ``limit`` best, one a story, without the article's own. Raises ``SearchError``."""
    words = [word.replace('"', " ") for word in article.keywords or title_words(article.title)][:WORDS]
    if not words:
        return ()
    own = clean(article.title).replace('"', " ")
    text = f'{" ".join(words)} -"{own}"' if own else " ".join(words)  # without itself any of the words will do
    since, until = _apart(article.moment, -AROUND), _apart(article.moment, AROUND)
    found = index.search(Query(text, since=since, until=until, limit=limit + MORE)).hits
    return tuple(hit for hit in found if hit.story_id != article.story_id)[:limit]


def _apart(moment: datetime, distance: timedelta) -> datetime | None:
    """``None`` beyond the calendar: pages tell all kinds of dates."""
    try:
        return moment + distance
    except OverflowError:
        return None


def title_words(title: str) -> Sequence[str]:
    """Words of a title that say something, the longest first, for an article without keywords."""
    words = dict.fromkeys(word for word in index_words(title) if len(word) > 1 and word not in STOP_WORDS)
    return sorted(words, key=len, reverse=True)
