"""An alert of what somebody filled in: the form of the portal, the API and the command line share it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from newsportal.errors import NewsportalError
from newsportal.messages import Message
from newsportal.services.accounts.alerts import OPERATORS, SCHEDULED, About, Alert
from newsportal.services.accounts.base import Person, random_id
from newsportal.services.alerts.base import BadField
from newsportal.services.alerts.services import SERVICES
from newsportal.text import clean

MAX_NAME: Final = 100
MAX_SEARCH: Final = 500
MOST_OF_ONE: Final = 50  # alerts of one person: each is a search every few seconds
HOURS: Final = re.compile(r"[\s,，、;；]+")
LANGUAGES: Final = ("zh", "en")


class BadFields(NewsportalError):
    """Raised for an alert that cannot be: ``faults`` field → why."""

    def __init__(self, faults: Mapping[str, Message]) -> None:
        super().__init__("; ".join(f"{name}: {why}" for name, why in faults.items()))
        self.faults = dict(faults)


@dataclass(frozen=True, slots=True)
class Terms:
    """Who asks, what he may, which topics there are, whether mail can be sent; ``after``: the store's last change; ``most``
    messages an hour; ``others``: how many alerts he has."""

    person: Person
    rights: Collection[str]
    topics: Collection[str]
    mail: bool
    now: datetime
    after: int = 0
    most: int = 20
    others: int = 0


def alert_of(form: Mapping[str, str], terms: Terms, before: Alert | None = None) -> Alert:
    """``form``: ``name``, ``about``, ``topic``, ``search``, ``event``, ``briefing`` or ``rising`` (its topic, or nothing), ``channel``, its
    fields, ``when`` (``once`` or ``digest``; these two are always the latter), ``hours``, ``quiet_from``, ``quiet_to``, ``per_hour``,
    ``language``. A secret that is left open stays as it was. Raises ``BadFields``."""
    faults: dict[str, Message] = {}
    about, of = _about(form, terms, faults)
    channel, fields = _channel(form, terms, before, faults)
    digest, quiet = _digest(form, faults), _quiet(form, faults)
    per_hour = _number(form.get("per_hour", "6"), 1, terms.most, "per_hour", faults)
    name = clean(form.get("name", ""))[:MAX_NAME] or of or about
    if before is None and terms.others >= MOST_OF_ONE:
        faults["name"] = Message("alert.many")
    if faults:
        raise BadFields(faults)
    language = form.get("language", "zh")
    made = before or Alert(random_id(), terms.person.id, name, about, of, channel, {}, terms.now, terms.after)
    found = replace(
        made, name=name, about=about, of=of, channel=channel, fields=fields, digest=digest, quiet=quiet, per_hour=per_hour,
        language=language if language in LANGUAGES else "zh",
    )  # fmt: skip
    if before is not None and (before.about, before.of) != (about, of):  # it tells of other things from now on
        found = replace(found, created=terms.now, after=terms.after)
    return found


def resumed(alert: Alert, *, now: datetime, after: int) -> Alert:
    """The alert as it tells of what comes from now on. Raises ``BadFields`` where its receiver is missing or not valid any more."""
    service = SERVICES.get(alert.channel)
    if service is None:
        raise BadFields({"channel": Message("alert.no-channel")})
    try:
        service.checked(alert.fields)
    except BadField as error:
        raise BadFields({error.field: error.why}) from error
    return replace(alert, enabled=True, created=now, after=after)


def _about(form: Mapping[str, str], terms: Terms, faults: dict[str, Message]) -> tuple[About, str]:
    about = form.get("about", "topic")
    if about == "topic":
        topic = form.get("topic", "").strip()
        if topic not in terms.topics:
            faults["topic"] = Message("alert.no-topic")
        return "topic", topic
    if about == "event":
        event = form.get("event", "").strip()
        if not event or len(event) > MAX_NAME:
            faults["event"] = Message("alert.no-event")
        return "event", event[:MAX_NAME]
    if about == "search":
        words = clean(form.get("search", ""))
        if not words or len(words) > MAX_SEARCH:
            faults["search"] = Message("alert.no-search")
        return "search", words[:MAX_SEARCH]
    for scheduled in SCHEDULED:
        if about == scheduled:
            topic = form.get(about, "").strip()
            if topic and topic not in terms.topics:
                faults[about] = Message("alert.no-topic")
            return scheduled, topic
    if about not in OPERATORS or "watch" not in terms.rights:
        faults["about"] = Message("alert.no-about")
        return "topic", ""
    return about, ""


def _channel(form: Mapping[str, str], terms: Terms, before: Alert | None, faults: dict[str, Message]) -> tuple[str, dict[str, str]]:
    service = SERVICES.get(form.get("channel", before.channel if before else ""))
    if service is None or service.needs not in terms.rights:
        faults["channel"] = Message("alert.no-channel")
        return "", {}
    if service.name == "mail" and not terms.mail:
        faults["channel"] = Message("alert.no-mail-server")
        return service.name, {}
    known = before.fields if before is not None and before.channel == service.name else {}
    given = {one.name: form.get(one.name) or (known.get(one.name, "") if one.secret else "") for one in service.fields}
    try:
        return service.name, service.checked(given)
    except BadField as error:
        faults[error.field] = error.why
        return service.name, {}


def _digest(form: Mapping[str, str], faults: dict[str, Message]) -> tuple[int, ...]:
    if form.get("when", "once") != "digest" and form.get("about") not in SCHEDULED:
        return ()
    parts = [part.removesuffix(":00").removesuffix("点").removesuffix("时") for part in HOURS.split(form.get("hours", "").strip()) if part]
    if not parts or not all(part.isdecimal() and len(part) <= 2 and int(part) <= 23 for part in parts):
        faults["hours"] = Message("alert.hours")
        return ()
    return tuple(sorted({int(part) for part in parts}))


def _quiet(form: Mapping[str, str], faults: dict[str, Message]) -> tuple[int, int] | None:
    begin, end = form.get("quiet_from", ""), form.get("quiet_to", "")
    if not begin and not end:
        return None
    if not (begin and end):
        faults["quiet_to"] = Message("alert.quiet")
        return None
    return _number(begin, 0, 23, "quiet_from", faults), _number(end, 0, 23, "quiet_to", faults)


def _number(value: str, least: int, most: int, name: str, faults: dict[str, Message]) -> int:
    value = value.strip()
    if value.isdecimal() and len(value) < 6 and least <= int(value) <= most:
        return int(value)
    faults[name] = Message("alert.number")
    return least
