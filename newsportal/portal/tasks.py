"""What needs somebody, for the desk's first page: a function a kind, which answers nothing where nothing waits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from newsportal.portal.context import Visit


@dataclass(frozen=True, slots=True)
class Task:
    """``words`` follow the number; ``path`` is where it is done. ``bad``: something is broken, rather than waiting."""

    number: int
    words: str
    path: str
    bad: bool = False


def sources(visit: Visit) -> Task | None:
    number = sum(one.health.bad for one in visit.portal.health())
    said = visit.clock.words.ngettext("source does badly", "sources do badly", number)
    return Task(number, said, "/sources", bad=True) if number else None


def published(visit: Visit) -> Task | None:
    number = sum(counts.get("failed", 0) for counts in visit.portal.store.outbox.counts().values())
    said = visit.clock.words.ngettext("article could not be published", "articles could not be published", number)
    return Task(number, said, "/publishing", bad=True) if number else None


def suggested(visit: Visit) -> Task | None:
    number = len(visit.request.app.state.suggesting.suggestions())
    said = visit.clock.words.ngettext("site could become a source", "sites could become sources", number)
    return Task(number, said, "/suggestions") if number else None


TASKS: Final[tuple[Callable[[Visit], Task | None], ...]] = (sources, published, suggested)
"""In the order of the page. A part that knows what waits adds a line."""


def tasks(visit: Visit) -> list[Task]:
    return [found for look in TASKS if (found := look(visit)) is not None]
