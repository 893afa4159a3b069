"""An index whose words were cut in another way than queries are cut now is built anew, while it is searched."""

from __future__ import annotations

import logging
from typing import Any, Protocol

from newsportal.errors import SearchError
from newsportal.store.store import Store

log = logging.getLogger(__name__)


class Renewable(Protocol):
    """What renewing needs of an index."""

    def cut_otherwise(self) -> bool:
        """Whether some words are found by their characters alone, since the index was cut by another segmenter or other own words."""
        ...

    def rebuild(self, store: Store) -> Any: ...


def renew(index: Renewable, store: Store) -> None:
    """Build ``index`` anew if it needs to be. If another process does the same and is done first, its result is in use."""
    if not index.cut_otherwise():
        return
    log.warning("the search index is built anew: another segmenter or other words of one's own cut it; searches go on meanwhile")
    try:
        index.rebuild(store)
    except SearchError:
        if index.cut_otherwise():
            raise
