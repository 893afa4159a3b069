"""A source is wanted now: whoever crawls takes it with the next look at what is due."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from newsportal.sources import timing

if TYPE_CHECKING:
    from newsportal.store.store import Store


def visit_soon(store: Store, key: str, now: datetime) -> datetime:
    """Plan the next visit of the source ``key`` for ``now``, past its interval and its failures; answers when it is due.

    A rest that the server asked for is kept. Raises ``StoreError``.
    """
    state = store.source_state(key)
    if state.last_run is not None and (state.next_visit is None or state.next_visit > now or state.next_visit < state.last_run):
        store.save_source_state(replace(state, next_visit=max(now, state.last_run)))
    return max(now, timing.resting(state, now) or now)
