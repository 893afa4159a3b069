"""Which articles are known: a Bloom filter as sieve, the store as judge, and claims on what is being fetched right now."""

from __future__ import annotations

from collections.abc import Iterable

from newsportal.dedup.bloom import UrlBloom
from newsportal.storage.base import Store


class KnownUrls:
    """Known identities of one store. Blocking where the store must be asked, so call it in a thread.

    An identity is *entered* only when its article is stored: a crash between fetch and store costs a second fetch, never an
    article. A *claim* lasts while one spider of this process fetches it, so that no other spider of the process does too.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._bloom = UrlBloom(store.identities())
        self._claimed: set[str] = set()
        self._entered: set[str] = set()

    def perhaps(self, identity: str) -> bool:
        """Whether the store need be asked at all: no is certain, and costs nothing."""
        return identity in self._bloom

    def known(self, identities: Iterable[str]) -> set[str]:
        """Those that are stored."""
        perhaps = [identity for identity in identities if self.perhaps(identity)]
        return self._store.known(perhaps) if perhaps else set()

    def claim(self, identity: str) -> bool:
        """Take ``identity`` for this process; False if it is taken already."""
        if identity in self._claimed:
            return False
        self._claimed.add(identity)
        return True

    def release(self, identities: Iterable[str]) -> None:
        """Give claims back: nobody fetches these."""
        self._claimed.difference_update(identities)

    def enter(self, identity: str) -> None:
        """``identity`` is stored now."""
        self._bloom.add(identity)
        self._entered.add(identity)

    def met_first_here(self, identity: str) -> bool:
        """Whether this process met ``identity`` first: it stored it, or is about to."""
        return identity in self._entered or identity in self._claimed
