"""The same change of several sources of ``sources.yaml`` at once: made whole or not at all, and taken back as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, get_args

from newsportal.sources.changing import FAMILIES, drop_entry, set_entry, several
from newsportal.sources.editing import Change
from newsportal.sources.parts import Source

Way = Literal["enable", "disable", "interval", "remove"]
WAYS: Final[tuple[Way, ...]] = get_args(Way)


def change_many(way: Way, sources: Sequence[Source], minutes: float | str | None = None) -> Change:
    """Switch sources on or off, take them out, or give them an interval of ``minutes`` (``None``: the schedule decides; a text that is no
    number is refused when the file is checked). The change raises ``NoEntry`` if one of them is gone."""
    return several([_one(way, FAMILIES[source.family], source.name, _plain(minutes)) for source in sources])


def _one(way: Way, kind: str, name: str, minutes: float | str | None) -> Change:
    if way == "remove":
        return drop_entry(kind, name)
    if way == "interval":
        return set_entry(kind, name, {"interval": minutes})
    return set_entry(kind, name, {"enabled": None if way == "enable" else False})


def _plain(minutes: float | str | None) -> float | str | None:
    """A number without a needless point."""
    return int(minutes) if isinstance(minutes, float) and minutes.is_integer() else minutes
