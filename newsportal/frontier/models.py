"""The models that the store's corpora have in use, for a crawl that runs for hours: loaded when they are asked for, again when another
version is activated. A model that cannot be used is told of once, and nobody waits for it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Final

from newsportal.classify import base
from newsportal.errors import ModelError, StoreError
from newsportal.messages import Message

if TYPE_CHECKING:
    from newsportal.classify.base import Classifier
    from newsportal.store.store import Store

logger = logging.getLogger(__name__)

LOOK_AGAIN: Final = 15.0
"""Seconds between two looks whether another version is in use. A look reads one row."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A version of a corpus' model, and its macro-F1 on texts it has not seen (``None``: it was not measured)."""

    version: int
    classifier: Classifier = field(repr=False)
    macro_f1: float | None = None

    @property
    def name(self) -> str:
        """As articles name it."""
        return f"model {self.version}"


@dataclass(slots=True)
class _Kept:
    looked: float
    version: int | None = None
    loaded: Loaded | None = None
    trouble: Message | None = None


class Models:
    """Blocking; may be called from several threads. The models are loaded once for all spiders of a process."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self._kept: dict[str, _Kept] = {}
        self._lock = Lock()

    def active(self, corpus: str) -> Loaded | None:
        """The model of ``corpus`` in use; ``None`` if there is none, or it cannot be used (then :meth:`trouble` says why)."""
        with self._lock:
            now = self._clock()
            kept = self._kept.get(corpus)
            if kept is None:
                kept = self._kept[corpus] = _Kept(now - LOOK_AGAIN)
            if now - kept.looked >= LOOK_AGAIN:
                kept.looked = now
                self._look(corpus, kept)
            return kept.loaded

    def trouble(self, corpus: str) -> Message | None:
        """What is wrong with the model of ``corpus`` in use, for the report."""
        kept = self._kept.get(corpus)
        return kept.trouble if kept else None

    def _look(self, corpus: str, kept: _Kept) -> None:
        try:
            version = self._store.corpora.active(corpus)
            if version != kept.version:
                kept.loaded, kept.trouble = self._opened(corpus, version)
                kept.version = version
        except StoreError as error:  # away: what was loaded goes on, and the next look asks again
            logger.warning("the model of %s was not asked for: %s", corpus, error)

    def _opened(self, corpus: str, version: int | None) -> tuple[Loaded | None, Message | None]:
        """The model, or what is wrong with it. Raises ``StoreError``."""
        if version is None:
            return None, None
        try:
            return self._load(corpus, version), None
        except ModelError as error:
            trouble = Message("note.model-broken", version=version, corpus=corpus, why=error.message)
            logger.error("%s; activate another one (newsportal model list %s)", trouble, corpus)
            return None, trouble

    def _load(self, corpus: str, version: int) -> Loaded:
        facts = self._store.corpora.model(corpus, version).facts
        report = facts.get("report")
        figure = report.get("macro_f1") if isinstance(report, dict) else None
        return Loaded(version, base.restore(self._store.corpora.blob(corpus, version)), float(figure) if figure is not None else None)
