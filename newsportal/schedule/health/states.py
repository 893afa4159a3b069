"""The state of a source, determined only by its visits; and the visit that changed it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from newsportal.items.visits import Visit
from newsportal.messages import Message, Value
from newsportal.messages.crawling import SENTENCES
from newsportal.messages.reasons import UNREAD, cause_of
from newsportal.schedule.health.figures import Cadence, Figures, cadence, compute_figures

STATES = (
    "off", "new", "healthy", "quiet", "silent", "empty", "failing", "quarantined", "resting", "moved", "shaky", "garbled", "duplicate",
)  # fmt: skip

BAD = frozenset({"silent", "empty", "failing", "quarantined", "moved", "shaky", "garbled", "duplicate"})
"""States that need attention."""

MIN_VISITS = 3  # minimum number of visits for most judgements of a responding source
FAILING_VISITS = 2  # consecutive failed visits: one may be chance
QUARANTINE_VISITS = 8
QUARANTINE_TIME = timedelta(days=7)
"""Number and duration of consecutive failures without a response for quarantine: servers are usually repaired within a week."""

REFUSED_SHARE = 0.8  # of the pages fetched: the list responds, but hardly any of its articles
MIN_BAD_SHARE = 0.4
MIN_BAD_FACTOR = 2.0
"""Minimum share of badly extracted pages, and its multiple of the earlier share: every source has some pages with only videos or tables."""

GARBLED_SHARE = 0.2
REPEATS_SHARE = 0.95
MIN_PAGES = 10  # minimum number of pages for judging shares
QUARANTINE_WAITS = (timedelta(days=2), timedelta(days=4), timedelta(days=7))
"""Intervals between visits of a source in quarantine, longer after each week."""


class RememberedState(Protocol):
    """Data of a source in the store besides its visits (implemented by ``SourceState``)."""

    @property
    def rest_until(self) -> datetime | None: ...
    @property
    def next_visit(self) -> datetime | None: ...
    @property
    def last_error(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Health:
    """``cause``: why a source fails (``messages.reasons.CAUSES``). ``since``: when the state began, as far as the visits show. ``values``:
    parameters of :meth:`reason`. ``wait``: minimum interval from the last visit to the next (quarantine), overriding the schedule."""

    state: str
    cause: str | None = None
    since: datetime | None = None
    values: Mapping[str, Value] = field(default_factory=dict)
    figures: Figures = field(default_factory=Figures)
    cadence: Cadence | None = None
    wait: timedelta | None = None

    @property
    def bad(self) -> bool:
        return self.state in BAD

    def reason(self) -> Message:
        values = {name: span(value) if isinstance(value, float) else value for name, value in self.values.items()}
        if self.state not in ("failing", "quarantined"):
            return Message(f"health.{self._kind}", **values)
        once = self.state == "failing" and values.get("visits") == 1
        kind = "failing-articles" if "pages" in values else "failing-once" if once else self.state
        return Message(f"health.{kind}", why=Message(f"cause.{self.cause or UNREAD}"), **values)

    def remedy(self) -> Message | None:
        code = f"remedy.{self.cause or UNREAD if self.state in ('failing', 'quarantined') else self._kind}"
        return Message(code) if code in SENTENCES else None

    @property
    def _kind(self) -> str:
        return f"{self.state}-{self.cause}" if self.cause else self.state

    def not_before(self) -> datetime | None:
        """Return the earliest time of the next visit, or ``None`` if only the schedule decides."""
        last = self.figures.last_visit
        return last + self.wait if last is not None and self.wait is not None else None


def span(seconds: float) -> Message:
    """Format a duration in rounded units: 5 minutes, 7 hours, 12 days."""
    for unit, code in ((86_400, "duration.days"), (3_600, "duration.hours")):
        if seconds >= 2 * unit:
            return Message(code, number=round(seconds / unit))
    return Message("duration.minutes", number=max(1, round(seconds / 60)))


def merge_visits(*visits: Iterable[Visit]) -> list[Visit]:
    """Merge visits of one source from several queries, without duplicates, newest first."""
    found = {visit.at: visit for batch in visits for visit in batch}
    return [found[moment] for moment in sorted(found, reverse=True)]


def health(visits: Sequence[Visit], now: datetime, *, previous: RememberedState | None = None, enabled: bool = True) -> Health:
    """Return the health of a source by its ``visits``, newest first (:func:`merge_visits`); ``now`` only affects silence and backoff."""
    visits = [visit for visit in visits if visit.list_pages or visit.list_failed or visit.entries]  # others have just begun
    found = compute_figures(visits)
    pace = cadence(visits, now)
    if not enabled:
        return Health("off", figures=found, cadence=pace)
    judged = (
        _judge_lists(found)
        or _judge_backoff(previous, now)
        or (Health("moved", None, found.last_visit, {"url": found.moved}) if found.moved else None)
        or (Health("empty", None, found.empty_since, {"visits": found.empty}) if found.empty >= MIN_VISITS else None)
        or _judge_articles(found)
        or _judge_encoding(found)
        or _judge_extraction(found)
        or (Health("silent", None, pace.last, _cadence_values(pace)) if pace is not None and pace.silent else None)
        or _judge_repeats(found, visits)
        or (Health("new", None, None, {"visits": found.visits}) if found.visits < MIN_VISITS else None)
        or (Health("quiet", None, pace.last, _cadence_values(pace)) if pace is not None and pace.quiet else None)
        or Health("healthy", since=found.last_success)
    )
    return Health(judged.state, judged.cause, judged.since, judged.values, found, pace, judged.wait)


def most_common(failures: Mapping[str, int]) -> tuple[str, str] | None:
    """Return the most common cause of these failures and its most common reason, or ``None`` without any; ties are broken by name."""
    if not failures:
        return None
    by_cause: Counter[str] = Counter()
    for reason, number in failures.items():
        by_cause[cause_of(reason)] += number
    cause = min(by_cause, key=lambda name: (-by_cause[name], name))
    reasons = {reason: number for reason, number in failures.items() if cause_of(reason) == cause}
    return cause, min(reasons, key=lambda reason: (-reasons[reason], reason))


def _judge_lists(found: Figures) -> Health | None:
    if not found.streak or (found.streak < FAILING_VISITS and found.visits > found.streak):
        return None
    cause, reason = most_common(found.streak_reasons) or (UNREAD, "unknown")
    values: dict[str, Value] = {"reason": reason, "visits": found.streak}
    began, last = found.since, found.last_visit
    if began is None or last is None or found.streak < QUARANTINE_VISITS or last - began < QUARANTINE_TIME or cause == "local":
        return Health("failing", cause, began, values)
    weeks = (last - began) // QUARANTINE_TIME
    wait = QUARANTINE_WAITS[min(weeks, len(QUARANTINE_WAITS)) - 1]
    return Health("quarantined", cause, began, {**values, "days": (last - began).days, "wait": wait.days}, wait=wait)


def _judge_backoff(state: RememberedState | None, now: datetime) -> Health | None:
    if state is None or state.rest_until is None or state.rest_until <= now:
        return None
    cause = "blocked" if cause_of(state.last_error or "") == "blocked" else "busy"
    until = max(state.rest_until, state.next_visit or now)  # failures in a row postpone the visit further
    return Health("resting", values={"until": until, "why": Message(f"cause.{cause}")})


def _judge_articles(found: Figures) -> Health | None:
    """Judge whether the list responds, but its articles do not."""
    total = found.read + found.unread + found.refused
    if found.refused < MIN_PAGES or found.refused < REFUSED_SHARE * total:
        return None
    reasons = {reason: number for reason, number in found.failed.items() if cause_of(reason) != UNREAD}
    cause, reason = most_common(reasons) or (UNREAD, "unknown")
    cause = "articles-robots" if cause == "robots" else cause
    return Health("failing", cause, found.last_visit, {"reason": reason, "pages": found.refused})


def _judge_encoding(found: Figures) -> Health | None:
    if found.read < MIN_PAGES or found.garbled < GARBLED_SHARE * found.read:
        return None
    return Health("garbled", None, found.last_visit, {"garbled": found.garbled, "pages": found.read})


def _judge_extraction(found: Figures) -> Health | None:
    pages = found.read + found.unread
    bad = found.shaky + found.unread
    if found.visits < MIN_VISITS or pages < MIN_PAGES or bad < MIN_BAD_SHARE * pages:
        return None
    if found.before is not None and bad < MIN_BAD_FACTOR * found.before * pages:
        return None
    return Health("shaky", None, found.last_visit, {"bad": bad, "pages": pages})


def _cadence_values(pace: Cadence) -> dict[str, Value]:
    return {"silence": pace.silence, "usual": pace.usual, "longest": pace.longest}


def _judge_repeats(found: Figures, visits: Sequence[Visit]) -> Health | None:
    showing = [visit for visit in visits if visit.entries]
    if found.last_new is None and len(showing) >= MIN_PAGES:
        return Health("duplicate", "entries", showing[-1].at, {"visits": len(showing)})
    if found.read < 2 * MIN_PAGES or found.repeats < REPEATS_SHARE * found.read:
        return None
    return Health("duplicate", None, found.last_visit, {"repeats": found.repeats, "pages": found.read})


UNREPORTED = frozenset({"new", "healthy", "quiet"})  # changes among these are not reported


@dataclass(frozen=True, slots=True)
class Change:
    before: Health
    after: Health

    @property
    def message(self) -> Message:
        states = {"before": Message(f"state.{self.before.state}"), "after": Message(f"state.{self.after.state}")}
        if self.after.state in UNREPORTED:
            return Message("note.state-again", **states)
        return Message("note.state", why=self.after.reason(), **states)


def find_change(visits: Sequence[Visit]) -> Change | None:
    """Return the change caused by the newest of these visits, or ``None`` if it is not worth reporting.

    Each state is judged at the time of its own visit, so every change is reported by exactly one visit.
    """
    visits = [visit for visit in visits if visit.list_pages or visit.list_failed or visit.entries]
    if not visits:
        return None
    after = health(visits, visits[0].at)
    before = health(visits[1:], visits[1].at) if len(visits) > 1 else Health("new")
    same = (before.state, before.cause) == (after.state, after.cause)
    return None if same or {before.state, after.state} <= UNREPORTED else Change(before, after)
