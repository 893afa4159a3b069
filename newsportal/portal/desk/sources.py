"""``/sources``: how the sources do, those that need somebody first; searched, filtered, and steered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal

from fastapi import APIRouter, Request, Response

from newsportal.messages import Message
from newsportal.portal.access import needs
from newsportal.portal.context import Here, Portal, Visit
from newsportal.portal.desk.source_fields import FAMILIES, KINDS
from newsportal.portal.render import render
from newsportal.services.accounts import Right
from newsportal.sources import Source, mask
from newsportal.sources.watched import ORDER, Judged

router = APIRouter(dependencies=[needs(Right.WATCH)])

SHOWN = 100  # rows of a page: more take longer to read than to search
HEIGHT, STEP = 16, 4  # of a day in the line of entries, in units of its drawing
NEVER: Final = datetime.min.replace(tzinfo=UTC)

Sort = Literal["health", "name", "kind", "last", "new"]

SORTS: Final[Mapping[Sort, Callable[[Judged], Any]]] = {
    "health": lambda one: 0,  # as they come: those that need somebody first
    "name": lambda one: one.source.name,
    "kind": lambda one: (list(FAMILIES).index(_family(one)) if _family(one) in FAMILIES else len(FAMILIES), one.source.name),
    "last": lambda one: one.health.figures.last_success or NEVER,
    "new": lambda one: -sum(one.days),
}


@dataclass(frozen=True, slots=True)
class Filter:
    """Which sources are shown: by words, by the state of their health, by how their keys begin."""

    words: str | None = None
    state: str | None = None
    kind: str | None = None

    def fits(self, one: Judged, portal: Portal) -> bool:
        """The words may stand in name, key, address, topics or category, but all must."""
        if self.state not in (None, one.health.state) or self.kind not in (None, _family(one)):
            return False
        if not self.words:
            return True
        source = portal.by_key.get(one.source.key)
        belongs = (*getattr(source, "topics", ()), getattr(source, "category", None) or "")
        said = " ".join((one.source.key, one.source.name, addresses(source), *belongs)).lower()
        return all(word in said for word in self.words.lower().split())


@router.get("/sources")
def sources(request: Request, visit: Here) -> Response:
    found = visit.portal.health()
    counted = Counter(one.health.state for one in found)
    families = Counter(map(_family, found))
    asked = Filter(visit.text("q"), visit.text("state"), visit.text("kind"))
    chosen = [one for one in found if asked.fits(one, visit.portal)]
    sort: Sort = next((name for name in SORTS if name == visit.text("sort")), "health")
    chosen.sort(key=SORTS[sort])
    last = max(1, -(-len(chosen) // SHOWN))
    page = min(max(1, visit.whole("page")), last)
    return render(
        request, "sources.html", rows=[_row(one, visit) for one in chosen[(page - 1) * SHOWN : page * SHOWN]],
        states=[(state, visit.clock.says(Message(f"state.{state}")), counted[state]) for state in ORDER if counted[state]],
        kinds=[(family, visit.say(KINDS[FAMILIES[family]]), families[family]) for family in FAMILIES if families[family]],
        wanted=asked.state, kind=asked.kind, query=asked.words, sort=sort, page=page, last=last, number=len(chosen), total=len(found),
        width=STEP * max((len(one.days) for one in found), default=0), height=HEIGHT,
    )  # fmt: skip


def _family(one: Judged) -> str:
    return one.source.key.partition(":")[0]


def addresses(source: Source | None) -> str:
    """What of a source is fetched, fit to be shown."""
    url = getattr(source, "url", None)
    told: Sequence[str] = getattr(source, "seeds", ()) or ((url,) if url else getattr(source, "addresses", ()))
    return mask(" ".join(told))


def _row(one: Judged, visit: Visit) -> dict[str, object]:
    """A row of the list: ``line`` is the path of the drawing of the last days' entries; ``editable``: the file has an entry of it."""
    source = visit.portal.by_key.get(one.source.key)
    kind = KINDS.get(FAMILIES.get(_family(one), ""), "")
    return {
        "judged": one, **in_words(one, visit), "line": line(one.days), "total": sum(one.days),
        "kind": visit.say(kind) if kind else _family(one), "address": addresses(source), "editable": source is not None,
    }  # fmt: skip


def in_words(one: Judged, visit: Visit) -> dict[str, str | None]:
    """How a source does, why, and what helps, in the reader's language."""
    says, health, remedy = visit.clock.says, one.health, one.health.remedy()
    return {"state": says(Message(f"state.{health.state}")), "reason": says(health.reason()), "remedy": says(remedy) if remedy else None}


def line(days: Sequence[int]) -> str:
    """A path of bars, a day each, against the day that had most; nothing for a day without entries."""
    most = max(days, default=0)
    tall = [max(1, round(HEIGHT * number / most)) if number else 0 for number in days] if most else []
    return "".join(f"M{place * STEP} {HEIGHT}v-{height}h{STEP - 1}v{height}z" for place, height in enumerate(tall) if height)
