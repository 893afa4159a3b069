"""What a search finds, for pages and API: without articles that editors hide, also while the index does not know of that yet."""

from __future__ import annotations

from dataclasses import replace

from newsportal.portal.context import Portal
from newsportal.search.base import Index, Query, Results


def found(portal: Portal, index: Index, query: Query) -> Results:
    """The hits of ``index``. Raises ``SearchError``, and ``StoreError`` while the index is behind.

    An index that is away for a while, or that nobody lets follow, would show what was taken down meanwhile; how many it counts stays.
    """
    results = index.search(query)
    if not results.hits or index.position() >= portal.store.last_seq():
        return results
    shown = {article.id for article in portal.store.articles([hit.id for hit in results.hits]) if article.hidden is None}
    return replace(results, hits=tuple(hit for hit in results.hits if hit.id in shown))
