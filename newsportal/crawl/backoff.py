"""Pauses: hosts that send Retry-After, and links whose pages hang in the browser."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from newsportal.crawl.requests import name_of
from newsportal.errors import StoreError
from newsportal.items import Link, content_id
from newsportal.messages import Message

if TYPE_CHECKING:
    from newsportal.crawl.link_tracker import LinkTracker

HANGS: Final = frozenset({"render-timeout", "render-memory", "render-crashed"})  # may be caused by the page itself
MAX_HANGS: Final = 3  # runs in which a page hangs before it is paused. Chosen: a machine may be overloaded twice.
PAUSE: Final = timedelta(days=7)  # then it is tried once more if it is still listed: the site may have fixed it

FORGET_AFTER: Final = 4 * PAUSE
MAX_PAGES: Final = 1000  # pages per source; those that hung longest ago are forgotten first
Hangs = Mapping[str, tuple[int, str]]  # hash of a link's name → number of runs in which its page hung, and the time of the last (ISO 8601)


def count_hangs(hung: Hangs, names: Collection[str], now: datetime) -> Hangs:
    """Return ``hung`` after a run in which the pages of these names hung."""
    added = {content_id(name): (hung.get(content_id(name), (0, ""))[0] + 1, now.isoformat()) for name in names}
    recent = {id: last for id, last in hung.items() if now - datetime.fromisoformat(last[1]) < FORGET_AFTER} | added
    latest = sorted(recent, key=lambda id: (recent[id][1], id), reverse=True)[:MAX_PAGES]
    return {id: recent[id] for id in sorted(latest)}


def paused_names(hung: Hangs, names: Collection[str], now: datetime) -> set[str]:
    """Return those of these names that are paused."""
    found = {name: hung.get(content_id(name), (0, "")) for name in names}
    return {name for name, (runs, last) in found.items() if runs >= MAX_HANGS and now - datetime.fromisoformat(last) < PAUSE}


async def paused(tracker: LinkTracker, links: Sequence[Link]) -> set[str]:
    """Return the names of paused links. Raises ``StoreError``."""
    found: set[str] = set()
    sources = tracker.sources
    for source in {link.source for link in links} & {source.key for source in sources.all() if getattr(source, "render", False)}:
        names = [name_of(link) for link in links if link.source == source]
        found |= paused_names((await tracker.state(source)).hung, names, datetime.now(UTC))
    return found


async def record_hang(tracker: LinkTracker, link: Link) -> bool:
    """Record that ``link``'s page hung in this run; return whether it is paused from now on. Saved when the run ends."""
    name, now = name_of(link), datetime.now(UTC)
    tracker.hung[link.source].add(name)
    try:
        hung = (await tracker.state(link.source)).hung
    except StoreError:
        return False
    is_paused = name in paused_names(count_hangs(hung, [name], now), [name], now)
    if is_paused:
        tracker.note(link.source, Message("note.pages-hung", runs=MAX_HANGS, days=PAUSE.days))
    return is_paused


MIN_BUSY_PAGES: Final = 3  # successive pages with 503: two broken pages may follow each other; a host that is down costs two more requests
MAX_HOSTS: Final = 10_000  # hosts remembered; the one that answered longest ago is forgotten first
MAX_PAUSE: Final = 86_400.0  # seconds: the longest pause of a host (schedule.freshness.MAX_WAIT)


@dataclass(slots=True)
class _HostPauses:
    """``busy``: URL that returned 503 → end of its Retry-After. ``until``: the end of the host's last pause of ``seconds``."""

    busy: dict[str, float] = field(default_factory=dict)
    until: float = 0.0
    seconds: float = 0.0


class RetryAfter:
    """Pauses of hosts by their Retry-After."""

    def __init__(self) -> None:
        self._pauses: dict[str, _HostPauses] = {}

    def clear(self, host: str) -> None:
        self._pauses.pop(host, None)

    def pause_for(self, host: str, url: str, status: int, seconds: float, now: float) -> float | None:
        """Return the seconds to pause the host after ``url`` returned 429 or 503 with Retry-After; ``None`` to pause only the page. A host
        that sends it again after a pause is paused at least twice as long, so that short pauses do not repeat forever."""
        pauses = self._pauses[host] = self._pauses.pop(host, _HostPauses())
        if len(self._pauses) > MAX_HOSTS:
            del self._pauses[next(iter(self._pauses))]
        if status == 503:
            pauses.busy = {page: until for page, until in pauses.busy.items() if until > now} | {url: now + seconds}
            if len(pauses.busy) < MIN_BUSY_PAGES and not pauses.until:
                return None
            seconds = min(pauses.busy.values()) - now  # the shortest remaining wait: the time for which all of these pages ask
            pauses.busy = {}
        if pauses.until and now >= pauses.until:
            seconds = min(max(seconds, 2 * pauses.seconds), MAX_PAUSE)
        if now + seconds > pauses.until:
            pauses.until, pauses.seconds = now + seconds, seconds
        return seconds
