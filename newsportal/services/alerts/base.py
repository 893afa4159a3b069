"""Interface of alert services, the errors of sending, and the text of messages in the recipient's language.

Messages are plain text: every service accepts it, and no title can inject markup.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from newsportal.errors import NewsportalError
from newsportal.messages import Message
from newsportal.net.egress import HttpResponse, Policy
from newsportal.services.accounts.alerts import Alert
from newsportal.services.publishing.base import Refused
from newsportal.text import clean

MAX_TITLE: Final = 120  # characters of a headline

WORDS: Final = {
    "zh": {
        "head": "「{name}」有 {number} 条新消息",
        "brief": "「{name}」有 {number} 件要闻",
        "rise": "「{name}」有 {number} 项升温",
        "briefing": "简报 {when}",
        "rising": "升温 {when}",
        "counted": "{count} 条报道，往常 {expected} 条",
        "more": "另有 {number} 条",
        "test": "这是一条测试消息：通知渠道设置正确。",
        "sites": "{number} 家报道",
    },
    "en": {
        "head": "{name}: {number} new",
        "brief": "{name}: {number} events",
        "rise": "{name}: {number} rising",
        "briefing": "Briefing {when}",
        "rising": "Rising {when}",
        "counted": "{count} stories, {expected} expected",
        "more": "{number} more",
        "test": "This is a test: the channel is set up correctly.",
        "sites": "{number} sites",
    },
}
HEADS: Final = {"briefing": "brief", "rising": "rise"}


@dataclass(frozen=True, slots=True)
class Item:
    """A story in a message. ``address``: its URL, in the portal if `portal.url` is set; ``original``: the publisher's URL. ``text``: shown
    below the title instead of the URL."""

    id: str
    title: str
    site: str
    address: str
    sites: int = 1
    text: str = ""
    original: str = ""


@dataclass(frozen=True, slots=True)
class AlertMessage:
    """A message as passed to a service. ``key`` is the same for the same message, for receivers that detect duplicates."""

    title: str
    items: tuple[Item, ...]
    language: str
    key: str
    alert: str
    plain: str = ""

    def text(self, limit: int = 1_000_000) -> str:
        """Return the body in at most ``limit`` bytes of UTF-8: as many items as fit, and the number of the others. The publishers' URLs are
        dropped before any item."""
        if self.plain:
            return cut(self.plain, limit)
        words = WORDS[self.language]
        complete = "\n\n".join(block(item, words["sites"], original=True) for item in self.items)
        if len(complete.encode()) <= limit:
            return complete
        blocks: list[str] = []
        for place, item in enumerate(self.items):
            remaining = len(self.items) - place - 1
            tail = words["more"].format(number=remaining) if remaining else ""
            if len("\n\n".join([*blocks, block(item, words["sites"]), tail]).encode()) > limit:
                blocks.append(words["more"].format(number=remaining + 1))
                return cut("\n\n".join(blocks), limit)
            blocks.append(block(item, words["sites"]))
        return "\n\n".join(blocks)


def block(item: Item, sites: str, *, original: bool = False) -> str:
    details = [item.site] if item.site else []
    details += [sites.format(number=item.sites)] if item.sites > 1 else []
    addresses = (item.text or item.address, item.original if original and item.original != item.address else "")
    return "\n".join(part for part in (item.title, " · ".join(details), *addresses) if part)


def cut(text: str, limit: int) -> str:
    raw = text.encode()
    return text if len(raw) <= limit else raw[: max(0, limit - 3)].decode(errors="ignore") + "…"


def message_of(alert: Alert, items: Sequence[Item], key: str) -> AlertMessage:
    head = WORDS[alert.language][HEADS.get(alert.about, "head")].format(name=clean(alert.name), number=len(items))
    return AlertMessage(head, tuple(items), alert.language, key, alert.name)


def test_message(alert: Alert, key: str) -> AlertMessage:
    return AlertMessage(clean(alert.name), (), alert.language, key, alert.name, plain=WORDS[alert.language]["test"])


def headline(title: str) -> str:
    """Return a title on one line, without control characters."""
    line = " ".join(clean(title).split())
    return line if len(line) <= MAX_TITLE else line[: MAX_TITLE - 1] + "…"


SMALL: Final = 2000  # maximum characters of a field: enough for a URL


class DeliveryUnknown(NewsportalError):
    """Raised if no response arrived: perhaps it was sent. The caller does not send it again."""


class ReceiverGone(Refused):
    """Raised if the receiver has ceased to exist. The caller deletes its data."""


class BadField(NewsportalError):
    """Raised for an invalid field. ``field``: its name; ``reason``: why."""

    def __init__(self, name: str, reason: Message) -> None:
        super().__init__(f"{name}: {reason}")
        self.field = name
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Request:
    """An HTTP request. Header names in lower case."""

    url: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Field:
    """A setting of a service. ``secret``: not shown again. ``check`` returns the value to store, or an error message."""

    name: str
    label: Message
    hint: Message | None = None
    secret: bool = False
    required: bool = True
    default: str = ""
    check: Callable[[str], str | Message] | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """Settings for sending: network policy, user agent, mail server or None, ``key`` and ``contact`` for services with ``signs``."""

    policy: Policy = field(default_factory=Policy)
    agent: str = "newsportal"
    mail_server: str | None = field(default=None, repr=False)
    mail_from: str | None = None
    portal_fields: Callable[[], Mapping[str, str]] = field(default=dict, repr=False)


Fields = Mapping[str, str]
BuildRequest = Callable[[Fields, AlertMessage, datetime], Request]
CheckAnswer = Callable[[HttpResponse], None]


@dataclass(frozen=True, slots=True)
class Service:
    """A message service. ``title``: English, translated by the catalogues. ``right``: the right required to use it. ``build_request``
    creates the request, ``check_answer`` checks the response (raises ``Refused``, ``RetryLater``); without them the message is sent through
    Apprise to ``address`` (raises ``Refused``). ``signs``: uses the portal's own key (:class:`Setting`)."""

    name: str
    title: str
    fields: tuple[Field, ...]
    build_request: BuildRequest | None = None
    check_answer: CheckAnswer | None = None
    address: Callable[[Fields, Setting], str] | None = None
    right: str = "keep"
    signs: bool = False

    def checked(self, values: Fields) -> dict[str, str]:
        """Return the fields stripped, with defaults. Raises ``BadField`` for an invalid, missing or too long one."""
        found = {}
        for spec in self.fields:
            value = values.get(spec.name, "").strip() or spec.default
            if spec.required and not value:
                raise BadField(spec.name, Message("alert.missing"))
            if len(value) > SMALL or not value.isprintable():
                raise BadField(spec.name, Message("alert.invalid-characters"))
            found[spec.name] = value
        for spec in self.fields:
            checked = spec.check(found[spec.name]) if spec.check else found[spec.name]
            if isinstance(checked, Message):
                raise BadField(spec.name, checked)
            found[spec.name] = checked
        return found
