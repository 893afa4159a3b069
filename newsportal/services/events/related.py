"""Stories to read beside one: those of its event, then those that share rare names with it; where none does, those that share its
keywords. A word that many subjects have in common (新机) leads nowhere by itself."""

from __future__ import annotations

import re
from collections import Counter
from math import sqrt
from typing import Final

from newsportal.classify.keywords import LOOKED_AT, is_name, keywords
from newsportal.search.base import Index, Query
from newsportal.search.overview import AROUND, similar
from newsportal.search.suggesting import QUOTED
from newsportal.store.columns import shifted
from newsportal.store.results import StoredArticle
from newsportal.store.store import Store
from newsportal.text import clean

WORDS: Final = 24
"""Keywords of an article among which its names are looked for: a name of the second paragraph is not among the first eight."""

NAMES: Final = 6
"""Names that are searched for; each costs a search."""

COMMON: Final = 50
"""A name in more stories of the time around is none by which a story is known: a capital, a government. Chosen, not measured."""

IN_TITLE: Final = 2.0
"""What a name in the title of the other story counts, in times of one in its text. Chosen."""

LONGEST: Final = 12
NO_NAME: Final = re.compile(r"[，。！？；、\s]")
"""What is quoted and longer, or has one of these, is what somebody said."""


def related(store: Store, index: Index | None, article: StoredArticle, limit: int) -> list[str]:
    """Ids of stories, the nearest first: at most ``limit`` of its event, and as many others. Raises ``StoreError`` and ``SearchError``."""
    found = _of_event(store, article)
    others: list[str] = []
    if index is not None:
        others = _by_names(index, article) or [hit.story_id for hit in similar(index, article, limit=limit)]
    return [*found[:limit], *[id for id in others if id not in found][:limit]]


def _of_event(store: Store, article: StoredArticle) -> list[str]:
    """The other stories of its event, the nearest in time first."""
    placed = store.events.of([article.story_id]).get(article.story_id)
    ids = [one.story_id for one in store.events.members([placed.event_id]).get(placed.event_id, [])] if placed else []
    if article.story_id not in ids:
        return []
    at = ids.index(article.story_id)
    near = sorted(range(len(ids)), key=lambda place: (abs(place - at), place))
    return [ids[place] for place in near if place != at]


def _by_names(index: Index, article: StoredArticle) -> list[str]:
    """Stories that share names with an article: each name counts the more the fewer stories have it."""
    since, until = shifted(article.moment, -AROUND), shifted(article.moment, AROUND)
    weights: dict[str, float] = {}
    for name in names_of(article.title, article.text)[:NAMES]:
        found = index.search(Query(f'"{name}"', since=since, until=until, limit=COMMON))
        if found.total > COMMON or found.loose:
            continue
        for hit in found.hits:
            if hit.story_id != article.story_id:
                said = IN_TITLE if name in hit.title else 1.0
                weights[hit.story_id] = weights.get(hit.story_id, 0.0) + said / sqrt(found.total)
    return sorted(weights, key=lambda id: -weights[id])


def names_of(title: str, text: str) -> list[str]:
    """The names that an article is about: first what it quotes (《》, “”) in its title or twice, then those among its keywords."""
    title = clean(title)
    said = Counter(name for match in QUOTED.finditer(f"{title}\n{text[:LOOKED_AT]}") for name in match.groups() if name)
    quoted = [name for name, times in said.most_common() if (times > 1 or name in title) and not NO_NAME.search(name)]
    words = (one.word.replace('"', " ") for one in keywords(title, text, WORDS))
    return list(dict.fromkeys([*(name for name in quoted if len(name) <= LONGEST), *filter(is_name, words)]))
