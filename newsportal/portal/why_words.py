"""Why a source is visited when it is, in the reader's language: the sentences of ``newsportal.schedule``, piece by piece."""

from __future__ import annotations

import re
from gettext import NullTranslations
from typing import Final

from newsportal.portal.language import _

SAYINGS: Final[tuple[tuple[str, str], ...]] = (
    (r"about (?P<number>\S+) entries a day", _("about %(number)s entries a day")),
    (r"asked to wait (?P<wait>\d+) minutes", _("asked to wait %(wait)s minutes")),
    (r"not before (?P<wait>\d+) minutes", _("not before %(wait)s minutes")),
    (r"at the latest after (?P<wait>\d+) minutes", _("at the latest after %(wait)s minutes")),
    (r"enough are expected by then", _("enough are expected by then")),
    (r"never visited", _("never visited")),
    (r"not visited for long", _("not visited for long")),
    (r"every (?P<wait>\S+) minutes", _("every %(wait)s minutes")),
    (r"weight (?P<weight>\S+): every (?P<wait>\d+) minutes", _("weight %(weight)s: every %(wait)s minutes")),
    (r"hour (?P<hour>\d+)", _("in hour %(hour)s")),
    (r"off: (?P<hours>[\d, ]+)", _("hours switched off: %(hours)s")),
    (r"failed (?P<times>\d+) times in a row: (?P<wait>\d+) minutes", _("failed %(times)s times in a row: %(wait)s minutes")),
    (r"it asked to be left alone until then", _("it asked to be left alone until then")),
    (r"its hours begin then", _("its hours begin then")),
    (r"its hub tells of what is new", _("its hub tells of what is new")),
)
"""What the schedule says, as patterns, and the same as messages."""

COMPILED: Final = tuple((re.compile(pattern), message) for pattern, message in SAYINGS)


def why(said: str, words: NullTranslations) -> str:
    """A reason of the schedule; a piece without a translation stays as it is."""
    return words.gettext("; ").join(_piece(piece, words) for piece in said.split("; "))


def _piece(piece: str, words: NullTranslations) -> str:
    for pattern, message in COMPILED:
        if (match := pattern.fullmatch(piece)) is not None:
            return words.gettext(message) % match.groupdict()
    return piece
