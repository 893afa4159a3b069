"""Messages: a code and its parameters, created where something happens and rendered as text where it is shown.

    note = Message("note.wait", number=7)
    str(note)                       # English, for logs and the command line
    render(note, words.gettext)     # in a reader's language
    to_dict(note)                   # JSON, for the store

The modules of this package have the English texts by code; catalogues of other languages have them as ``msgid`` (``portal/locale``).
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from difflib import get_close_matches
from typing import Any, Final, Union

from newsportal.messages import crawling, labels, reasons, sources

Value = Union[str, int, float, datetime, None, "Message", "tuple[Value, ...]"]

SENTENCES: Final[Mapping[str, str]] = {
    "text": "%(text)s",
    "joined": "%(parts)s",
    "separator": "; ",
    **crawling.SENTENCES,
    **labels.SENTENCES,
    **reasons.SENTENCES,
    **sources.SENTENCES,
}  # code -> English template. ``text`` is for the words of others: of a library, a server, a database.

FORMER_CODES: Final = {
    "lost.since": "engine.failing-since", "lost.never": "engine.never-worked", "note.rests": "note.paused",
    "note.one-address": "note.shared-link", "note.links-wait": "note.links-waiting", "note.hung": "note.pages-hung",
    "note.pictures-left": "note.pictures-excluded", "note.many-boards": "note.too-many-boards", "note.topics-lost": "note.topics-failed",
    "note.mails-wait": "note.mails-waiting", "note.not-tried": "note.no-longer-retried", "note.deep-threads": "note.long-threads",
    "note.deep-indexes": "note.nested-indexes", "note.further-pages": "note.further-pages-failed", "train.few": "train.small-labels",
    "train.hardly": "train.weak-labels", "train.bounded": "train.sampled",
}  # fmt: skip
"""Codes of notes and warnings stored by earlier versions → present codes; ``left.`` is ``skipped.`` now."""

FORMS: Final = re.compile(r"\{([^{}|]+)\|([^{}|]+)\}")  # "{link is|links are}": by the parameter before it, else by ``num``
NAME: Final = re.compile(r"%\((\w+)\)s")
MIN_SIMILARITY: Final = 0.6  # difflib's own default for "close"


@dataclass(frozen=True, slots=True, init=False)
class Message:
    """``params`` are JSON values, datetimes, other messages, or tuples of these, sorted by name."""

    code: str
    params: tuple[tuple[str, Value], ...]

    def __init__(self, code: str, /, **params: Value) -> None:
        object.__setattr__(self, "code", code)
        object.__setattr__(self, "params", tuple(sorted(params.items())))

    def __str__(self) -> str:
        return render(self)


_ZONES: Final[list[tzinfo]] = []


def set_zone(zone: tzinfo | None) -> None:
    """Format times in ``zone`` from now on, unless a reader's is known; ``None``: in this machine's."""
    _ZONES[:] = [zone] if zone else []


def to_utc(moment: datetime) -> datetime:
    """Convert ``moment`` to UTC; a naive one is in the zone of :func:`set_zone`. Raises ``OverflowError`` at the limits of ``datetime``."""
    return (moment.replace(tzinfo=_ZONES[0]) if _ZONES and moment.tzinfo is None else moment).astimezone(UTC)


def local(moment: datetime) -> datetime:
    """Convert ``moment`` to the zone of :func:`set_zone`; unchanged at the limits of ``datetime``."""
    try:
        return moment.astimezone(*_ZONES)
    except OverflowError:
        return moment


def format_time(moment: datetime) -> str:
    """``2026-03-05 17:00+08:00``"""
    return local(moment).isoformat(" ", "minutes")


def render(message: Message, translate: Callable[[str], str] = str, moment: Callable[[datetime], str] = format_time) -> str:
    """Render ``message`` as text. An unknown code, or one with missing parameters, is shown as it is."""

    def formatted(value: Value) -> str:
        if isinstance(value, Message):
            return render(value, translate, moment)
        if isinstance(value, tuple):
            return translate(SENTENCES["separator"]).join(map(formatted, value))
        if isinstance(value, datetime):
            return moment(value)
        return f"{value:g}" if isinstance(value, float) else str(value)

    params = {name: formatted(value) for name, value in message.params}
    try:
        return choose_forms(translate(SENTENCES[message.code]), params) % params
    except KeyError:
        return " ".join((message.code, *params.values()))


def choose_forms(template: str, params: Mapping[str, object]) -> str:
    """Choose the singular or plural forms in ``template`` by the formatted parameters before them, else by ``num``. Raises ``KeyError``."""
    return FORMS.sub(lambda form: form[1 if str(params[["num", *NAME.findall(template[: form.start()])][-1]]) == "1" else 2], template)


def label(kind: str, name: str, translate: Callable[[str], str] = str) -> str:
    """Return the name of a stable code (``label("action", "source.add")``); an unknown one is returned as it is."""
    code = f"{kind}.{name}"
    return translate(SENTENCES[code]) if code in SENTENCES else name


def explain(reason: str, translate: Callable[[str], str] = str) -> str | None:
    """Return the sentence for the reason of a failure; ``None`` if it is not listed."""
    code = reasons.code_of(reason)
    return None if code is None else translate(SENTENCES[f"reason.{code}"])


def reason_message(reason: str) -> Message:
    code = reasons.code_of(reason)
    return as_text(reason) if code is None else Message(f"reason.{code}")


def join_messages(*parts: Message) -> Message:
    """Join several messages to one sentence; a single one is returned as it is."""
    return parts[0] if len(parts) == 1 else Message("joined", parts=parts)


def as_text(text: object) -> Message:
    """Wrap words of others in a message."""
    return text if isinstance(text, Message) else Message("text", text=str(text))


def to_dict(message: Message) -> dict[str, Any]:
    """Convert ``message`` to JSON values, for the store."""

    def plain(value: Value) -> Any:
        if isinstance(value, Message):
            return to_dict(value)
        if isinstance(value, tuple):
            return [plain(item) for item in value]
        return {"moment": value.isoformat()} if isinstance(value, datetime) else value

    return {"code": message.code, "params": {name: plain(value) for name, value in message.params}}


def to_json(message: Message) -> dict[str, Any]:
    """Convert ``message`` to JSON values with its English text, for programs."""
    return to_dict(message) | {"text": str(message)}


def from_dict(stored: Any) -> Message:
    """The inverse of :func:`to_dict`; a plain text becomes a message of that text."""

    def value_of(plain: Any) -> Value:
        if isinstance(plain, dict):
            return datetime.fromisoformat(plain["moment"]) if "moment" in plain else from_dict(plain)
        return tuple(map(value_of, plain)) if isinstance(plain, list) else plain

    if not isinstance(stored, dict):
        return as_text(stored)
    code = str(stored.get("code")).replace("left.", "skipped.")
    return Message(FORMER_CODES.get(code, code), **{name: value_of(value) for name, value in stored.get("params", {}).items()})


def nearest_word(word: str, allowed: Iterable[str]) -> str | None:
    """Return the allowed word most like ``word`` (ignoring case, ``-`` and ``_``), or ``None`` if none is similar."""
    plain = {name.casefold().replace("-", "_").strip(): name for name in allowed}
    near = get_close_matches(word.casefold().replace("-", "_").strip(), plain, n=1, cutoff=MIN_SIMILARITY)
    return plain[near[0]] if near else None


def did_you_mean(word: object, allowed: Iterable[str]) -> Message | None:
    near = nearest_word(str(word), allowed)
    return Message("hint.near", near=repr(near)) if near else None
