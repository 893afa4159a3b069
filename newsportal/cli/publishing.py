"""Publishing beside a crawl: what ``newsportal crawl`` does after its run, and workers and the schedule all the time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from time import monotonic
from typing import Final

from newsportal.errors import StoreError
from newsportal.services.publishing.base import Target
from newsportal.services.publishing.run import Tally, Work, publish
from newsportal.services.publishing.targets import open_target
from newsportal.sources import Sources
from newsportal.sources.publishing import Target as Settings
from newsportal.store import open_store

EVERY: Final = 10.0  # seconds between two looks of a worker. A look at nothing new is two small questions to the store.
MOST: Final = 300.0  # seconds that a crawl spends on publishing; what is left waits for the next one
Say = Callable[[str], None]


def enabled(known: Sources) -> tuple[Settings, ...]:
    return tuple(target for target in known.publish if target.enabled)


@contextmanager
def open_targets(known: Sources, chosen: Sequence[Settings]) -> Iterator[list[tuple[Settings, Target]]]:
    with ExitStack() as stack:
        yield [(settings, stack.enter_context(closing(open_target(settings, known)))) for settings in chosen]


def after_crawl(known: Sources, say: Say) -> None:
    """Publish what is new, and tell of it. What a target or the store ails is told and ends nothing: it waits for the next time."""
    if not (chosen := enabled(known)):
        return
    until = monotonic() + MOST
    try:
        with closing(open_store(known.store, create=False)) as store, open_targets(known, chosen) as targets:
            for settings, target in targets:
                if line := summary(publish(Work(store, settings, target, stopped=lambda: monotonic() > until))):
                    say(line)
    except StoreError as error:
        say(f"nothing was published: {error}; it waits")


def summary(tally: Tally) -> str | None:
    """What came of a target, in a line; ``None`` if there is nothing to tell."""
    counts = {
        "published": tally.published,
        "revised": tally.revised,
        "taken back": tally.withdrawn,
        "failed": tally.failed,
        "put off": tally.put_off,
    }
    parts = [f"{number} {what}" for what, number in counts.items() if number]
    parts += [f"it is away: {tally.away}; what is new waits"] if tally.away else []
    parts += [f"nothing can be published there: {tally.unfit}"] if tally.unfit else []
    parts += ["why: newsportal publish status"] if tally.failed else []
    return f"{tally.target}: {', '.join(parts)}" if parts else None


class Publisher(threading.Thread):
    """Publishes what is new, again and again. It may be killed at any time."""

    def __init__(self, known: Sources, say: Say, every: float = EVERY) -> None:
        super().__init__(daemon=True, name="publisher")
        self._known = known
        self._say = say
        self._every = every
        self._done = threading.Event()
        self._reported: dict[str, str | None] = {}

    def run(self) -> None:
        chosen = enabled(self._known)
        while chosen and not self._done.is_set():
            try:
                with closing(open_store(self._known.store, create=False)) as store, open_targets(self._known, chosen) as targets:
                    self._reported.pop("store", None)
                    while not self._done.is_set():
                        for settings, target in targets:
                            tally = publish(Work(store, settings, target, stopped=self._done.is_set))
                            self._tell(settings.name, summary(tally), every=tally.done > 0)
                        self._done.wait(self._every)
            except StoreError as error:
                self._tell("store", f"publishing waits for its store: {error}")
            self._done.wait(self._every)

    def stop(self, seconds: float = 5.0) -> None:
        """Ask it to end after the article in hand, and wait so long."""
        self._done.set()
        if self.is_alive():
            self.join(seconds)

    def _tell(self, about: str, line: str | None, *, every: bool = False) -> None:
        """A trouble that lasts is told once."""
        if line is not None and (every or line != self._reported.get(about)):
            self._say(line)
        self._reported[about] = line
