"""Create alerts from a form, shared by portal, API and command line; and the messages of scheduled alerts: the briefing of what arrived
since the last hour, and newly rising words and events."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import pairwise
from typing import Final, get_args

from newsportal.errors import NewsportalError
from newsportal.messages import Message
from newsportal.services.accounts.alerts import OPERATORS, SCHEDULED, About, Alert
from newsportal.services.accounts.alerts import Message as StoredMessage
from newsportal.services.accounts.base import Person, random_id
from newsportal.services.alerts.base import WORDS, BadField, Item, headline
from newsportal.services.alerts.matching import due_at
from newsportal.services.alerts.services import SERVICES
from newsportal.services.boards import ENTRIES, BoardEntry, RisingBoard, replay_boards
from newsportal.services.briefing import BriefEvent, compile_briefing, passages
from newsportal.store.store import Store
from newsportal.text import clean, fold_characters

MAX_NAME: Final = 100
MAX_SEARCH: Final = 500
MAX_ALERTS: Final = 50  # alerts per person: each is a search every few seconds
HOURS: Final = re.compile(r"[\s,，、;；]+")
LANGUAGES: Final = ("zh", "en")


class BadFields(NewsportalError):
    """Raised for an invalid alert. ``faults``: field → reason."""

    def __init__(self, faults: Mapping[str, Message]) -> None:
        super().__init__("; ".join(f"{name}: {reason}" for name, reason in faults.items()))
        self.faults = dict(faults)


@dataclass(frozen=True, slots=True)
class AlertContext:
    """The person creating an alert with rights, existing topics, and whether mail can be sent; ``after``: the store's last change;
    ``max_per_hour``: maximum of ``per_hour``; ``alert_count``: number of alerts of the person."""

    person: Person
    rights: Collection[str]
    topics: Collection[str]
    mail: bool
    now: datetime
    after: int = 0
    max_per_hour: int = 20
    alert_count: int = 0


def alert_of(form: Mapping[str, str], terms: AlertContext, before: Alert | None = None) -> Alert:
    """Return the alert of a filled-in form. ``form``: ``name``, ``about``, ``topic``, ``search``, ``event``, ``briefing`` or ``rising``
    (its topic, or empty), ``channel``, its fields, ``when`` (``once`` or ``digest``; always ``digest`` for scheduled alerts), ``hours``,
    ``quiet_from``, ``quiet_to``, ``per_hour``, ``language``. An empty secret keeps its value. Raises ``BadFields``."""
    faults: dict[str, Message] = {}
    about, of = _parse_subject(form, terms, faults)
    channel, fields = _parse_channel(form, terms, before, faults)
    digest, quiet = _parse_hours(form, faults), _parse_quiet_hours(form, faults)
    per_hour = _parse_number(form.get("per_hour", "6"), 1, terms.max_per_hour, "per_hour", faults)
    name = clean(form.get("name", ""))[:MAX_NAME] or of or about
    if before is None and terms.alert_count >= MAX_ALERTS:
        faults["name"] = Message("alert.too-many")
    if faults:
        raise BadFields(faults)
    language = form.get("language", "zh")
    original = before or Alert(random_id(), terms.person.id, name, about, of, channel, {}, terms.now, terms.after)
    alert = replace(
        original, name=name, about=about, of=of, channel=channel, fields=fields, digest=digest, quiet=quiet, per_hour=per_hour,
        language=language if language in LANGUAGES else "zh",
    )  # fmt: skip
    if before is not None and (before.about, before.of) != (about, of):  # a new subject: earlier stories do not count
        alert = replace(alert, created=terms.now, after_seq=terms.after)
    return alert


def enable_alert(alert: Alert, *, now: datetime, after: int) -> Alert:
    """Return the alert enabled for stories from now on. Raises ``BadFields`` if its channel is missing or its fields are invalid."""
    service = SERVICES.get(alert.channel)
    if service is None:
        raise BadFields({"channel": Message("alert.channel-missing")})
    try:
        service.checked(alert.fields)
    except BadField as error:
        raise BadFields({error.field: error.reason}) from error
    return replace(alert, enabled=True, created=now, after_seq=after)


def _parse_subject(form: Mapping[str, str], terms: AlertContext, faults: dict[str, Message]) -> tuple[About, str]:
    about: About | None = next((name for name in get_args(About) if name == form.get("about", "topic")), None)
    if about is None or (about in OPERATORS and "watch" not in terms.rights):
        faults["about"] = Message("alert.subject-missing")
        return "topic", ""
    if about in OPERATORS:
        return about, ""
    of = clean(form.get(about, "")).strip()
    if about in ("topic", *SCHEDULED):
        if of not in terms.topics and (of or about == "topic"):
            faults[about] = Message("alert.topic-missing")
    elif not of or len(of) > (limit := MAX_NAME if about == "event" else MAX_SEARCH):
        faults[about] = Message(f"alert.{about}-missing")
        of = of[:limit]
    return about, of


def _parse_channel(
    form: Mapping[str, str], terms: AlertContext, before: Alert | None, faults: dict[str, Message]
) -> tuple[str, dict[str, str]]:
    service = SERVICES.get(form.get("channel", before.channel if before else ""))
    if service is None or service.right not in terms.rights:
        faults["channel"] = Message("alert.channel-missing")
        return "", {}
    if service.name == "mail" and not terms.mail:
        faults["channel"] = Message("alert.no-mail-server")
        return service.name, {}
    stored = before.fields if before is not None and before.channel == service.name else {}
    values = {field.name: form.get(field.name) or (stored.get(field.name, "") if field.secret else "") for field in service.fields}
    try:
        return service.name, service.checked(values)
    except BadField as error:
        faults[error.field] = error.reason
        return service.name, {}


def _parse_hours(form: Mapping[str, str], faults: dict[str, Message]) -> tuple[int, ...]:
    if form.get("when", "once") != "digest" and form.get("about") not in SCHEDULED:
        return ()
    parts = [part.removesuffix(":00").removesuffix("点").removesuffix("时") for part in HOURS.split(form.get("hours", "").strip()) if part]
    if not parts or not all(part.isdecimal() and len(part) <= 2 and int(part) <= 23 for part in parts):
        faults["hours"] = Message("alert.invalid-hours")
        return ()
    return tuple(sorted({int(part) for part in parts}))


def _parse_quiet_hours(form: Mapping[str, str], faults: dict[str, Message]) -> tuple[int, int] | None:
    begin, end = form.get("quiet_from", ""), form.get("quiet_to", "")
    if not begin and not end:
        return None
    if not (begin and end):
        faults["quiet_to"] = Message("alert.incomplete-quiet-hours")
        return None
    return _parse_number(begin, 0, 23, "quiet_from", faults), _parse_number(end, 0, 23, "quiet_to", faults)


def _parse_number(value: str, least: int, most: int, name: str, faults: dict[str, Message]) -> int:
    value = value.strip()
    if value.isdecimal() and len(value) < 6 and least <= int(value) <= most:
        return int(value)
    faults[name] = Message("alert.invalid-number")
    return least


Span = tuple[datetime, datetime]  # from one hour of an alert to the next, when its message is due
COMPARED: Final = 200  # entries of each kind on a board: a word that dropped from the first page may still be rising


def past_spans(alert: Alert, now: datetime, zone: tzinfo, days: int = 1) -> list[Span]:
    """Return the spans that ended in the last days, earliest first. Hours are local to ``zone``."""
    today = now.astimezone(zone).replace(minute=0, second=0, microsecond=0, fold=0)
    dates = (today + timedelta(days=day) for day in range(-days - 1, 1))
    hours = [date.replace(hour=hour).astimezone(UTC) for date in dates for hour in sorted(alert.digest)]
    return [span for span in pairwise(hours) if now - timedelta(days=days) < span[1] <= now]


def scheduled_messages(alerts: Iterable[Alert], now: datetime, zone: tzinfo) -> list[StoredMessage]:
    """Return the latest message of each scheduled alert, to be stored if new. Earlier ones that were missed are not made up."""
    return [
        StoredMessage(
            alert.id, f"{alert.about}:{since.isoformat()}/{until.isoformat()}", "",
            WORDS[alert.language][alert.about].format(when=f"{until.astimezone(zone):%Y-%m-%d %H:%M}"),
            found=until, due=due_at(until, alert, zone), changed=now,
        )
        for alert in alerts if alert.about in SCHEDULED
        for since, until in past_spans(alert, now, zone)[-1:] if until > alert.created
    ]  # fmt: skip


def span_of(message: StoredMessage) -> Span:
    since, until = map(datetime.fromisoformat, message.subject.partition(":")[2].split("/"))
    return since, until


Replay = Callable[[Store, Sequence[datetime], str | None], Iterable[RisingBoard]]
"""Return the boards of a topic at these times, earliest first."""


def compute_replay(store: Store, moments: Sequence[datetime], topic: str | None) -> Iterator[RisingBoard]:
    return replay_boards(store, moments, topic=topic, count=COMPARED)


def cached_replay() -> Replay:
    """Return :func:`compute_replay` with a cache: alerts of many people have the same hours."""
    boards: dict[tuple[str | None, datetime], RisingBoard] = {}

    def replay(store: Store, moments: Sequence[datetime], topic: str | None) -> list[RisingBoard]:
        missing = [moment for moment in moments if (topic, moment) not in boards]
        boards.update(zip(((topic, moment) for moment in missing), compute_replay(store, missing, topic), strict=True))
        return [boards[topic, moment] for moment in moments]

    return replay


def briefing_items(store: Store, alert: Alert, spans: Sequence[Span], url: str | None, _: Replay) -> Iterator[list[Item]]:
    """Yield the events of each briefing as items with their sentences and URLs; an empty list if there are none."""
    for span in spans:
        yield [_brief_item(event, url) for event in compile_briefing(store, *span, topic=alert.of or None).events]


def _brief_item(event: BriefEvent, url: str | None) -> Item:
    head = event.stories[0]
    addresses = ((quote, f"{url}/story/{quote.story}" if url else quote.url) for quote in passages(event.quotes))
    lines = [f"{clean(quote.text)}\n{headline(quote.site)} {address}" for quote, address in addresses]
    path = f"event/{event.event}" if event.event else f"story/{head.id}"
    address = f"{url}/{path}" if url else head.head.url
    return Item(head.id, headline(event.title), headline(head.head.publisher), address, event.sites, "\n".join(lines))


def rising_items(store: Store, alert: Alert, spans: Sequence[Span], url: str | None, replay: Replay) -> Iterator[list[Item]]:
    """Yield the newly rising entries at the end of each span; spans are consecutive. A word whose event is rising is left out."""
    if not spans:
        return
    boards = replay(store, [spans[0][0], *(until for _, until in spans)], alert.of or None)
    for before, board in pairwise(boards):
        words = {fold_characters(word) for entry in before.words for word in (entry.rise.name, *entry.rise.with_words)}
        old = words | {entry.rise.name for entry in before.events}
        event_ids = old | {entry.rise.name for entry in board.events}
        new = [entry for entry in board.events[:ENTRIES] if entry.rise.name not in old]
        new += [word for word in board.words[:ENTRIES] if fold_characters(word.rise.name) not in old and word.rise.event not in event_ids]
        yield [_rise_item(entry, alert.language, url) for entry in new if entry.stories]


def _rise_item(entry: BoardEntry, language: str, url: str | None) -> Item:
    rise, newest = entry.rise, entry.stories[0]
    event = rise.name if rise.kind == "event" else rise.event
    path = f"event/{event}" if event else f"story/{newest.id}"
    addresses = ((story.head, f"{url}/story/{story.id}" if url else story.head.url) for story in entry.stories)
    lines = "\n".join(f"{headline(head.title)} {address}" for head, address in addresses)
    summary = WORDS[language]["counted"].format(count=rise.count, expected=f"{rise.expected:.1f}")
    title = headline(" · ".join((entry.title, *rise.with_words)))
    return Item(newest.id, title, summary, f"{url}/{path}" if url else newest.head.url, rise.sites, lines)


ITEMS: Final[Mapping[str, Callable[[Store, Alert, Sequence[Span], str | None, Replay], Iterator[list[Item]]]]] = {
    "briefing": briefing_items,
    "rising": rising_items,
}
"""Functions that yield the items at the end of each span, earliest first."""
