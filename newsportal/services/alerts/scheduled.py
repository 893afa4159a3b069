"""Alerts that come at hours, in one message each: the briefing, of what came since the hour before; what rises, and did not then."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import pairwise
from typing import Final

from newsportal.services.accounts.alerts import SCHEDULED, Alert, Message
from newsportal.services.alerts.base import WORDS, Item, headline
from newsportal.services.alerts.matching import due_at
from newsportal.services.briefing import BriefEvent, compile_briefing, passages
from newsportal.services.rising import ENTRIES, Board, BoardEntry, replay_boards
from newsportal.store.store import Store
from newsportal.text import clean, fold_characters

Span = tuple[datetime, datetime]  # Between two hours of an alert; at the second one its message is due
COMPARED: Final = 200  # Entries of a board of each kind: what has lost its place on the first page of one has not ceased to rise


def spans(alert: Alert, now: datetime, zone: tzinfo, days: int = 1) -> list[Span]:
    """Those that ended in the last days, the earliest first. Hours are those of the clocks of ``zone``."""
    today = now.astimezone(zone).replace(minute=0, second=0, microsecond=0, fold=0)
    dates = (today + timedelta(days=day) for day in range(-days - 1, 1))
    hours = [date.replace(hour=hour).astimezone(UTC) for date in dates for hour in sorted(alert.digest)]
    return [span for span in pairwise(hours) if now - timedelta(days=days) < span[1] <= now]


def scheduled_messages(alerts: Iterable[Alert], now: datetime, zone: tzinfo) -> list[Message]:
    """The last message of each of these alerts, to be kept where it is not yet. What was missed before it is not made up for."""
    return [
        Message(
            alert.id, f"{alert.about}:{since.isoformat()}/{until.isoformat()}", "",
            WORDS[alert.language][alert.about].format(when=f"{until.astimezone(zone):%Y-%m-%d %H:%M}"),
            found=until, due=due_at(until, alert, zone), changed=now,
        )
        for alert in alerts if alert.about in SCHEDULED
        for since, until in spans(alert, now, zone)[-1:] if until > alert.created
    ]  # fmt: skip


def span_of(message: Message) -> Span:
    since, until = map(datetime.fromisoformat, message.thing.partition(":")[2].split("/"))
    return since, until


Replay = Callable[[Store, Sequence[datetime], str | None], Iterable[Board]]
"""Makes the boards of a topic at these moments, the earliest first."""


def replayed(store: Store, moments: Sequence[datetime], topic: str | None) -> Iterator[Board]:
    return replay_boards(store, moments, topic=topic, count=COMPARED)


def replayed_once() -> Replay:
    """As :func:`replayed`, and each board is worked out once: alerts of many people come at the same hours."""
    known: dict[tuple[str | None, datetime], Board] = {}

    def replay(store: Store, moments: Sequence[datetime], topic: str | None) -> list[Board]:
        new = [moment for moment in moments if (topic, moment) not in known]
        known.update(zip(((topic, moment) for moment in new), replayed(store, new, topic), strict=True))
        return [known[topic, moment] for moment in moments]

    return replay


def briefing_items(store: Store, alert: Alert, spans: Sequence[Span], url: str | None, _: Replay) -> Iterator[list[Item]]:
    """The events of each briefing with their sentences, each below the address of its article; none where nothing happened."""
    for span in spans:
        yield [_brief_item(event, url) for event in compile_briefing(store, *span, topic=alert.of or None).events]


def _brief_item(event: BriefEvent, url: str | None) -> Item:
    head = event.stories[0]
    addresses = ((quote, f"{url}/story/{quote.story}" if url else quote.url) for quote in passages(event.quotes))
    said = [f"{clean(quote.text)}\n{headline(quote.site)} {address}" for quote, address in addresses]
    own = f"event/{event.event}" if event.event else f"story/{head.id}"
    address = f"{url}/{own}" if url else head.head.url
    return Item(head.id, headline(event.title), headline(head.head.publisher), address, event.sites, "\n".join(said))


def rising_items(store: Store, alert: Alert, spans: Sequence[Span], url: str | None, replay: Replay) -> Iterator[list[Item]]:
    """What rises at the end of each span and did not at its beginning; spans follow each other. A word whose event rises is left out."""
    if not spans:
        return
    boards = replay(store, [spans[0][0], *(until for _, until in spans)], alert.of or None)
    for before, board in pairwise(boards):
        words = {fold_characters(word) for entry in before.words for word in (entry.rise.name, *entry.rise.with_words)}
        known = words | {entry.rise.name for entry in before.events}
        told = known | {entry.rise.name for entry in board.events}
        new = [entry for entry in board.events[:ENTRIES] if entry.rise.name not in known]
        new += [one for one in board.words[:ENTRIES] if fold_characters(one.rise.name) not in known and one.rise.event not in told]
        yield [_rise_item(entry, alert.language, url) for entry in new if entry.stories]


def _rise_item(entry: BoardEntry, language: str, url: str | None) -> Item:
    rise, newest = entry.rise, entry.stories[0]
    event = rise.name if rise.kind == "event" else rise.event
    own = f"event/{event}" if event else f"story/{newest.id}"
    addresses = ((story.head, f"{url}/story/{story.id}" if url else story.head.url) for story in entry.stories)
    told = "\n".join(f"{headline(head.title)} {address}" for head, address in addresses)
    counted = WORDS[language]["counted"].format(count=rise.count, expected=f"{rise.expected:.1f}")
    title = headline(" · ".join((entry.title, *rise.with_words)))
    return Item(newest.id, title, counted, f"{url}/{own}" if url else newest.head.url, rise.sites, told)


ITEMS: Final[Mapping[str, Callable[[Store, Alert, Sequence[Span], str | None, Replay], Iterator[list[Item]]]]] = {
    "briefing": briefing_items,
    "rising": rising_items,
}
"""What is told at the end of each of these spans, the earliest first."""
