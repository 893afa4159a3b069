"""The briefing as an alert: one message at each of its hours, of what came since the hour before."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import pairwise

from newsportal.services.accounts.alerts import Alert, Message
from newsportal.services.alerts.base import WORDS, Item, headline
from newsportal.services.alerts.matching import due_at
from newsportal.services.briefing import BriefEvent, by_source, compile_briefing
from newsportal.store.store import Store
from newsportal.text import clean

Span = tuple[datetime, datetime]
"""Between two hours of an alert; the second one is when the briefing is due."""


def spans(alert: Alert, now: datetime, zone: tzinfo, days: int = 1) -> list[Span]:
    """Those that ended in the last days, the earliest first. Hours are those of the clocks of ``zone``."""
    today = now.astimezone(zone).replace(minute=0, second=0, microsecond=0, fold=0)
    dates = (today + timedelta(days=day) for day in range(-days - 1, 1))
    hours = [date.replace(hour=hour).astimezone(UTC) for date in dates for hour in sorted(alert.digest)]
    return [span for span in pairwise(hours) if now - timedelta(days=days) < span[1] <= now]


def new_briefings(alerts: Iterable[Alert], now: datetime, zone: tzinfo) -> list[Message]:
    """The last briefing of each of these alerts, to be kept where it is not yet. What was missed before it is not made up for."""
    return [
        Message(
            alert.id, f"briefing:{since.isoformat()}/{until.isoformat()}", "",
            WORDS[alert.language]["briefing"].format(when=f"{until.astimezone(zone):%Y-%m-%d %H:%M}"),
            found=until, due=due_at(until, alert, zone), changed=now,
        )
        for alert in alerts if alert.about == "briefing"
        for since, until in spans(alert, now, zone)[-1:] if until > alert.created
    ]  # fmt: skip


def span_of(message: Message) -> Span:
    since, until = map(datetime.fromisoformat, message.thing.removeprefix("briefing:").split("/"))
    return since, until


def briefing_items(store: Store, alert: Alert, span: Span, url: str | None) -> list[Item]:
    """The events of a briefing with their sentences, each below the address of its article; none where nothing happened."""
    made = compile_briefing(store, *span, topic=alert.of or None)
    return [_item(event, url) for event in made.events]


def _item(event: BriefEvent, url: str | None) -> Item:
    head = event.stories[0]
    said = []
    for quotes in by_source(event.quotes):
        address = f"{url}/story/{quotes[0].story}" if url else quotes[0].url
        said.append(f"{' '.join(clean(quote.text) for quote in quotes)}\n{headline(quotes[0].site)} {address}")
    own = f"event/{event.event}" if event.event else f"story/{head.id}"
    address = f"{url}/{own}" if url else head.head.url
    return Item(head.id, headline(event.title), headline(head.head.publisher), address, event.sites, "\n".join(said))
