"""What every service of alerts is, what may come of sending, and what a message says, in the language of who gets it.

Messages are plain text: every service takes it, and nothing in a title can do harm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from newsportal.errors import NewsportalError
from newsportal.messages import Message
from newsportal.net.egress import Answer, Policy
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
    """A story in a message. ``address``: where it is read, in the portal if `portal.url` is set; ``original``: its publisher's page.
    ``text``: what stands below its title in place of the address."""

    id: str
    title: str
    site: str
    address: str
    sites: int = 1
    text: str = ""
    original: str = ""


@dataclass(frozen=True, slots=True)
class AlertMessage:
    """A message as every service gets it. ``key`` is the same for the same message, for receivers that know repeated ones."""

    title: str
    items: tuple[Item, ...]
    language: str
    key: str
    alert: str
    plain: str = ""

    def text(self, limit: int = 1_000_000) -> str:
        """The body in at most ``limit`` bytes of UTF-8: as many of its items as fit, the others counted.

        Where they do not all fit, the publishers' addresses are left out before any item is.
        """
        if self.plain:
            return cut(self.plain, limit)
        words = WORDS[self.language]
        whole = "\n\n".join(block(item, words["sites"], original=True) for item in self.items)
        if len(whole.encode()) <= limit:
            return whole
        blocks: list[str] = []
        for place, item in enumerate(self.items):
            rest = len(self.items) - place - 1
            tail = words["more"].format(number=rest) if rest else ""
            if len("\n\n".join([*blocks, block(item, words["sites"]), tail]).encode()) > limit:
                blocks.append(words["more"].format(number=rest + 1))
                return cut("\n\n".join(blocks), limit)
            blocks.append(block(item, words["sites"]))
        return "\n\n".join(blocks)


def block(item: Item, sites: str, *, original: bool = False) -> str:
    beside = [item.site] if item.site else []
    beside += [sites.format(number=item.sites)] if item.sites > 1 else []
    addresses = (item.text or item.address, item.original if original and item.original != item.address else "")
    return "\n".join(part for part in (item.title, " · ".join(beside), *addresses) if part)


def cut(text: str, limit: int) -> str:
    raw = text.encode()
    return text if len(raw) <= limit else raw[: max(0, limit - 3)].decode(errors="ignore") + "…"


def message_of(alert: Alert, items: Sequence[Item], key: str) -> AlertMessage:
    head = WORDS[alert.language][HEADS.get(alert.about, "head")].format(name=clean(alert.name), number=len(items))
    return AlertMessage(head, tuple(items), alert.language, key, alert.name)


def test_message(alert: Alert, key: str) -> AlertMessage:
    return AlertMessage(clean(alert.name), (), alert.language, key, alert.name, plain=WORDS[alert.language]["test"])


def headline(title: str) -> str:
    """A title in one line, without control characters."""
    one = " ".join(clean(title).split())
    return one if len(one) <= MAX_TITLE else one[: MAX_TITLE - 1] + "…"


SMALL: Final = 2000  # characters of a field: a URL may be so long


class Unclear(NewsportalError):
    """Raised where perhaps it was sent: no answer came. The caller does not send it again."""


class Gone(Refused):
    """Raised where the receiver is there no more, for good. The caller removes what was stored of it."""


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
    """What a service needs to know. ``secret``: never shown again. ``check`` returns the value to store, or what is wrong."""

    name: str
    label: Message
    hint: Message | None = None
    secret: bool = False
    needed: bool = True
    default: str = ""
    check: Callable[[str], str | Message] | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """What all sending needs: where may be asked, who we are, the mail server (None: no mail), what a service that ``signs`` is given
    of the portal: its ``key`` and ``contact``."""

    policy: Policy = field(default_factory=Policy)
    agent: str = "newsportal"
    mail_server: str | None = field(default=None, repr=False)
    mail_from: str | None = None
    own: Callable[[], Mapping[str, str]] = field(default=dict, repr=False)


Fields = Mapping[str, str]
BuildRequest = Callable[[Fields, AlertMessage, datetime], Request]
CheckAnswer = Callable[[Answer], None]


@dataclass(frozen=True, slots=True)
class Service:
    """A place that messages go to. ``title``: in English, for the catalogues. ``needs``: the right that somebody must have to send there.

    ``build_request`` makes the request, ``check_answer`` reads its answer (raises ``Refused``, ``PutOff``); without them the message goes
    through Apprise to ``address`` (raises ``Refused``). ``signs``: with the portal's own key (:class:`Setting`).
    """

    name: str
    title: str
    fields: tuple[Field, ...]
    build_request: BuildRequest | None = None
    check_answer: CheckAnswer | None = None
    address: Callable[[Fields, Setting], str] | None = None
    needs: str = "keep"
    signs: bool = False

    def checked(self, given: Fields) -> dict[str, str]:
        """The fields without space around them, defaults filled in. Raises ``BadField``, also for one that is missing or too long."""
        found = {}
        for one in self.fields:
            value = given.get(one.name, "").strip() or one.default
            if one.needed and not value:
                raise BadField(one.name, Message("alert.missing"))
            if len(value) > SMALL or not value.isprintable():
                raise BadField(one.name, Message("alert.characters"))
            found[one.name] = value
        for one in self.fields:
            checked = one.check(found[one.name]) if one.check else found[one.name]
            if isinstance(checked, Message):
                raise BadField(one.name, checked)
            found[one.name] = checked
        return found
