"""What a message says, in the language of who gets it. Plain text: every service takes it, and nothing in a title can do harm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from newsportal.accounts.alerts import Alert
from newsportal.text import clean

MAX_TITLE: Final = 120
"""Characters of a headline."""

WORDS: Final = {
    "zh": {
        "head": "「{name}」有 {number} 条新消息",
        "more": "另有 {number} 条",
        "test": "这是一条测试消息：通知渠道设置正确。",
        "sites": "{number} 家报道",
    },
    "en": {
        "head": "{name}: {number} new",
        "more": "{number} more",
        "test": "This is a test: the channel is set up correctly.",
        "sites": "{number} sites",
    },
}


@dataclass(frozen=True, slots=True)
class Item:
    """A story in a message. ``address``: where it is read."""

    id: str
    title: str
    site: str
    address: str
    sites: int = 1


@dataclass(frozen=True, slots=True)
class Told:
    """A message as every service gets it. ``key`` is the same for the same message, for receivers that know repeated ones."""

    title: str
    items: tuple[Item, ...]
    language: str
    key: str
    alert: str
    more: int = 0
    plain: str = ""

    def text(self, limit: int = 1_000_000) -> str:
        """The body in at most ``limit`` bytes of UTF-8: as many of its items as fit, the others counted."""
        if self.plain:
            return cut(self.plain, limit)
        words = WORDS[self.language]
        blocks: list[str] = []
        for place, item in enumerate(self.items):
            rest = len(self.items) - place - 1 + self.more
            tail = words["more"].format(number=rest) if rest else ""
            if len("\n\n".join([*blocks, block(item, words["sites"]), tail]).encode()) > limit:
                blocks.append(words["more"].format(number=rest + 1))
                return cut("\n\n".join(blocks), limit)
            blocks.append(block(item, words["sites"]))
        return "\n\n".join([*blocks, *([words["more"].format(number=self.more)] if self.more else [])])


def block(item: Item, sites: str) -> str:
    beside = [item.site] if item.site else []
    beside += [sites.format(number=item.sites)] if item.sites > 1 else []
    return "\n".join(part for part in (item.title, " · ".join(beside), item.address) if part)


def cut(text: str, limit: int) -> str:
    """``text`` in at most ``limit`` bytes of UTF-8."""
    raw = text.encode()
    return text if len(raw) <= limit else raw[: max(0, limit - 3)].decode(errors="ignore") + "…"


def told(alert: Alert, items: Sequence[Item], key: str, more: int = 0) -> Told:
    """The message of an alert about ``items``."""
    head = WORDS[alert.language]["head"].format(name=clean(alert.name), number=len(items) + more)
    return Told(head, tuple(items), alert.language, key, alert.name, more)


def test(alert: Alert, key: str) -> Told:
    """The message that shows that a channel works."""
    return Told(clean(alert.name), (), alert.language, key, alert.name, plain=WORDS[alert.language]["test"])


def headline(title: str) -> str:
    """A title in one line, without control characters."""
    one = " ".join(clean(title).split())
    return one if len(one) <= MAX_TITLE else one[: MAX_TITLE - 1] + "…"
