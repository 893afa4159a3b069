"""Who is scored: our algorithms and peers behind one form, ``read(page) -> Found``, with the processor's time that it took."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from newsportal import dom
from newsportal.commands.evaluate.gold import GoldPage
from newsportal.commands.evaluate.scoring import Answer
from newsportal.commands.extract import NOWHERE, learn
from newsportal.commands.pages import SavedPage, describe
from newsportal.commands.peers import Peer, peer
from newsportal.extractors import Extract, Learner, extractor
from newsportal.items import Link, Page

WARM: Final = (
    "<html><head><meta charset=utf-8><title>新线今晨通车</title></head><body><h1>新线今晨通车</h1>"
    "<p>2024-03-05 08:30 来源：滨海日报 记者 王小明</p>"
    + "<p>今天早上六点，新线的首班列车从东站出发，车厢里坐满了赶早的市民。</p><p>The first train left at six in the morning.</p>" * 8
    + "</body></html>"
).encode()
"""A page in two languages with all that is looked for, of no site."""


@dataclass(frozen=True, slots=True)
class Found:
    """A page as somebody read it. ``error``: why there is no answer. ``seconds`` of the processor, decoding and parsing included."""

    answer: Answer
    error: str | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Reader:
    """An algorithm or a peer. ``learn`` looks at a folder before its first page is asked for, where the algorithm remembers pages."""

    name: str
    answer: Callable[[GoldPage], Answer] = field(repr=False)
    learn: Callable[[Path], None] | None = field(default=None, repr=False)

    def read(self, page: GoldPage) -> Found:
        """What is found in ``page``. Never raises for a page: what breaks on it has an empty answer and says why."""
        if page.saved.error is not None:
            return Found(Answer(), page.saved.error)
        started, answer, error = time.process_time(), Answer(), None
        try:
            answer = self.answer(page)
        except Exception as fault:  # noqa: BLE001  a page that breaks a reader is a page without an answer; the report says so
            error = describe(fault)
        return Found(answer, error, time.process_time() - started)


def warm(asked: Iterable[Reader]) -> None:
    """Let everybody read a made-up page first: what is loaded by need (models, dictionaries, modules) is no time of the first page."""
    for reader in asked:
        reader.read(GoldPage(SavedPage("warm", WARM), Answer()))


def readers(algorithms: Sequence[str], peers: Sequence[str]) -> list[Reader]:
    """By name, algorithms first. Raises ``ValueError`` for a name that is not known, ``DependencyMissing`` for a peer not installed."""
    now = datetime.now(UTC)
    ours = [_algorithm(name, extractor(name), now) for name in dict.fromkeys(algorithms)]
    return ours + [_peer(name, peer(name)) for name in dict.fromkeys(peers)]


def _algorithm(name: str, run: Extract, now: datetime) -> Reader:
    def answer(page: GoldPage) -> Answer:
        url = page.saved.url or NOWHERE
        link = Link(url, "command", summary=page.saved.summary) if page.saved.summary else None
        found = run(dom.document(Page(url, page.saved.body, now)), link, now)
        date = found.published.isoformat() if found.published else None
        return Answer(text=found.text, title=found.title, date=date, author=found.author, source=found.origin)

    return Reader(name, answer, (lambda folder: learn(str(folder), run, now)) if isinstance(run, Learner) else None)


def _peer(name: str, run: Peer) -> Reader:
    return Reader(name, lambda page: Answer(**run(page.saved.body, page.saved.url)))
