"""Which articles are known: a Bloom filter as sieve, the store as judge."""

from __future__ import annotations

from collections.abc import Iterable

from newsportal.frontier.sieve import LocalSieve, Sieve
from newsportal.store.store import Store


class KnownUrls:
    """Known identities of one store. Blocking where the store or the sieve must be asked, so call it in a thread.

    An identity is *entered* only when its article is stored: a crash between fetch and store costs a second fetch, never an article.
    """

    def __init__(self, store: Store, sieve: Sieve | None = None) -> None:
        self._store = store
        self._sieve = LocalSieve(store) if sieve is None else sieve

    def known(self, identities: Iterable[str]) -> set[str]:
        """Those that are stored. Raises ``StoreError``."""
        perhaps = self._sieve.perhaps(list(identities))
        return self._store.known(perhaps) if perhaps else set()

    def enter(self, identities: Iterable[str]) -> None:
        """They are stored now."""
        self._sieve.enter(list(identities))

    def keep(self) -> None:
        """At the end of a crawl: what is known is for the next one."""
        self._sieve.keep()
