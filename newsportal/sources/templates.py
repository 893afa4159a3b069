"""What of an article can be published under a name, and texts with such names in braces.

A template is a text with ``{name}`` in it and nothing else: no attributes, no indexes, no conversions, no formats. So nobody who may write
``sources.yaml`` reaches anything but the article, and no article reaches anything at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import Final

from newsportal.messages import Message, did_you_mean

FIELDS: Final[Mapping[str, str]] = {
    "id": "the article's id: 20 letters and digits, the same for ever",
    "story": "the id of the story that it is a version of",
    "identity": "the address by which it is known",
    "url": "its address",
    "title": "its title",
    "text": "its text, one paragraph a line",
    "html": "its body as safe HTML",
    "summary": "what a feed or result page said of it, else how the text begins",
    "published": "when it was published",
    "first_seen": "when it was seen first",
    "moment": "published, else first_seen",
    "day": "the day of moment, as 2026-03-01",
    "author": "its author",
    "origin": "who published it first, as its page says",
    "site": "its site's name, else the host",
    "source": "the source that brought it, as feed:NAME",
    "kind": "article, thread or photos",
    "language": "zh, zh-Hant, en …",
    "category": "its category",
    "topics": "its topics",
    "topic": "the first of them",
    "keywords": "its keywords",
    "images": "the addresses of its pictures",
    "image": "the first of them",
    "revision": "1, and one more for each change of title or text",
    "chars": "how many characters its text has",
}
"""Name → what it is. ``newsportal.services.publishing.fields`` has the values (a test compares the two)."""

MOMENTS: Final = ("published", "first_seen", "moment")
NUMBERS: Final = ("revision", "chars")
LASTING: Final = ("id", "identity", "url")  # what no other article has, and what never changes
MAX_CHARS: Final = 500


class BadTemplate(ValueError):
    """Raised for a template that cannot be used. ``hint``: the nearest right spelling."""

    def __init__(self, message: Message, hint: Message | None = None) -> None:
        super().__init__(message)
        self.hint = hint


def check_field(name: str) -> str:
    """``name``, if it is one of :data:`FIELDS`. Raises ``BadTemplate``."""
    if name in FIELDS:
        return name
    hint = did_you_mean(name, FIELDS) or (Message("hint.template") if "{" in name else None)
    raise BadTemplate(Message("template.no-field", found=repr(name), allowed=", ".join(FIELDS)), hint)


def parts(template: str) -> tuple[tuple[str, str | None], ...]:
    """``template`` as pairs of a literal text and the name that follows it (``None`` at the end). Raises ``BadTemplate``."""
    if len(template) > MAX_CHARS:
        raise BadTemplate(Message("template.long", found=len(template), limit=MAX_CHARS))
    try:
        found = list(Formatter().parse(template))
    except ValueError as error:
        raise BadTemplate(Message("template.broken", found=repr(template), why=str(error))) from error
    for _, name, form, conversion in found:
        if name is not None and (form or conversion):
            raise BadTemplate(Message("template.format", found=repr(name)))
    return tuple((literal, None if name is None else check_field(name)) for literal, name, _, _ in found)


def names(template: str) -> tuple[str, ...]:
    """The names in a template. Raises ``BadTemplate``."""
    return tuple(name for _, name in parts(template) if name is not None)
