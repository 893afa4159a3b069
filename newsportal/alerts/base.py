"""What every service is, and what may come of sending."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from newsportal.alerts.wording import Told
from newsportal.egress import Answer, Policy
from newsportal.errors import NewsportalError
from newsportal.messages import Message

SMALL: Final = 2000
"""Characters of a field: a URL may be so long."""


class Rejected(NewsportalError):
    """Raised by a service that does not take the message, now and later. The caller notes the reason, which holds no secret."""


class Later(NewsportalError):
    """Raised where nothing was sent, and a later try may work; ``seconds``: not before then, if the service said so."""

    def __init__(self, reason: str, seconds: float | None = None) -> None:
        super().__init__(reason)
        self.seconds = seconds


class Unclear(NewsportalError):
    """Raised where perhaps it was sent: no answer came. The caller does not send it again."""


class BadField(NewsportalError):
    """Raised for a field that cannot be what the service needs. ``field`` names it, ``why`` says what is wrong."""

    def __init__(self, name: str, why: Message) -> None:
        super().__init__(f"{name}: {why}")
        self.field = name
        self.why = why


@dataclass(frozen=True, slots=True)
class Request:
    """An HTTP request. Header names in lower case."""

    url: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Field:
    """What a service needs to know. ``secret``: never shown again."""

    name: str
    label: Message
    hint: Message | None = None
    secret: bool = False
    needed: bool = True
    default: str = ""


@dataclass(frozen=True, slots=True)
class Setting:
    """What all sending needs: where may be asked, who we are, the mail server (None: no mail), whether raw addresses may be sent to."""

    policy: Policy = field(default_factory=Policy)
    agent: str = "newsportal"
    mail_server: str | None = field(default=None, repr=False)
    mail_from: str | None = None


Fields = Mapping[str, str]
Asks = Callable[[Fields, Told, datetime], Request]
Judges = Callable[[Answer], None]


@dataclass(frozen=True, slots=True)
class Service:
    """A place that messages go to. ``checked`` brings fields into the form that ``asks`` needs, and raises ``BadField``. ``asks`` makes the
    request and ``judges`` reads its answer (raises ``Rejected``, ``Later``); a service without them goes through Apprise. ``needs``: the
    right that somebody must have to send there."""

    name: str
    fields: tuple[Field, ...]
    checked: Callable[[Fields], dict[str, str]]
    asks: Asks | None = None
    judges: Judges | None = None
    needs: str = "keep"


def stripped(fields: Fields, wanted: tuple[Field, ...]) -> dict[str, str]:
    """The ``wanted`` fields without space around them, defaults filled in. Raises ``BadField`` for one that is missing or too long."""
    found = {}
    for one in wanted:
        value = fields.get(one.name, "").strip() or one.default
        if one.needed and not value:
            raise BadField(one.name, Message("alert.missing"))
        if len(value) > SMALL or not value.isprintable():
            raise BadField(one.name, Message("alert.characters"))
        found[one.name] = value
    return found
