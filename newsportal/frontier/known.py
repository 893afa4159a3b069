"""Which articles are known: a Bloom filter as sieve, the store as judge, and claims on what is being fetched right now."""

from __future__ import annotations

from collections.abc import Iterable

from newsportal.frontier.sieve import LocalSieve, Sieve
from newsportal.store.store import Store

MOST_ENTERED = 200_000
"""Identities of this process' own that are remembered, some 30 MB: other spellings of articles pile up in a process that stays."""


class KnownUrls:
    """Known identities of one store. Blocking where the store or the sieve must be asked, so call it in a thread.

    An identity is *entered* only when its article is stored: a crash between fetch and store costs a second fetch, never an
    article. A *claim* lasts while one spider of this process fetches it, so that no other spider of the process does too.
    """

    def __init__(self, store: Store, sieve: Sieve | None = None) -> None:
        self._store = store
        self._sieve = LocalSieve(store) if sieve is None else sieve
        self._claimed: set[str] = set()
        self._entered: set[str] = set()

    def known(self, identities: Iterable[str]) -> set[str]:
        """Those that are stored. Raises ``StoreError``."""
        perhaps = self._sieve.perhaps(list(identities))
        return self._store.known(perhaps) if perhaps else set()

    def enter(self, identities: Iterable[str]) -> None:
        """They are stored now."""
        entered = list(identities)
        self._entered.update(entered)
        self._sieve.enter(entered)

    def keep(self) -> None:
        """At the end of a crawl: what is known is for the next one."""
        self._sieve.keep()

    def claim(self, identity: str) -> bool:
        """Take ``identity`` for this process; False if it is taken already. Immediate."""
        if identity in self._claimed:
            return False
        self._claimed.add(identity)
        return True

    def release(self, identities: Iterable[str]) -> None:
        """Give claims back: nobody fetches these. Immediate."""
        self._claimed.difference_update(identities)

    def past(self, identities: Iterable[str]) -> None:
        """The visit that met these is over: the next one meets them as any other, and asks again for what failed. Immediate."""
        over = set(identities)
        self._claimed -= over
        self._entered -= over
        if len(self._entered) > MOST_ENTERED:
            self._entered.clear()

    def met_first_here(self, identity: str) -> bool:
        """Whether this process met ``identity`` first: it stored it, or is about to. Immediate."""
        return identity in self._entered or identity in self._claimed
