"""The log of turns: who may write, and what was decided.

A turn is a row whose id is its number. Whoever has seen turn ``n`` as the newest may try to make turn ``n + 1``; the database lets one
succeed. So a turn decides, without any comparing and replacing that the database would have to do in one step (FerretDB does not), and
without any clock that two machines would have to share.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final
from uuid import uuid4

from newsportal.errors import StoreUnavailable
from newsportal.storage.documents.backend import Backend
from newsportal.storage.documents.base import Row, Table, Within

TURNS: Final = Table("turns", {"id": "key", "number": "number"}, (("number",),))

AHEAD = 2
"""Turns looked for behind the one that was the newest."""

KEPT_TURNS = 16
"""Turns that stay. Who has not looked for so long that they are gone looks for the newest by a search (:data:`leases.SURE_SECONDS`)."""

PAUSES = (0.0, 0.1, 0.5, 2.0)
"""Seconds before a turn of which nobody knows whether it was made is tried again."""


@dataclass(frozen=True)
class Turn:
    """``owner``: who may write now (as :mod:`owners` tells it), empty: whoever comes. ``since``: when he began, microseconds since 1970.

    ``journal``: the number of the turn whose journal may not be written to the tables yet, 0 if none is. That turn has it as ``text``, or
    in ``pieces``. ``counters``: the numbers that counters gave last; ``before``: those before that journal.
    """

    number: int
    owner: str = ""
    since: int = 0
    counters: Mapping[str, int] = field(default_factory=dict)
    before: Mapping[str, int] = field(default_factory=dict)
    journal: int = 0
    text: str = ""
    pieces: int = 0
    token: str = field(default_factory=lambda: uuid4().hex)

    def following(self, **changes: Any) -> Turn:
        """The next turn: the same, but for ``changes``, and with no journal of its own."""
        return replace(self, **{"number": self.number + 1, "token": uuid4().hex, "text": "", "pieces": 0, **changes})


class Turns:
    """The log in a database. One thread at a time."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._known = 0

    def newest(self, *, search: bool = False) -> Turn | None:
        """The newest turn, without its text. ``search``: whatever is known of earlier ones."""
        while self._known and not search:
            numbers = range(self._known, self._known + AHEAD + 1)
            found = self._backend.get(TURNS, [turn_id(number) for number in numbers], without=("text",))
            if turn_id(self._known) not in found:
                break
            last = next((number for number in reversed(numbers) if turn_id(number) in found), self._known)
            self._known = last
            if last < numbers[-1]:
                return _turn(found[turn_id(last)])
        rows = self._backend.find(TURNS, order=("-number",), limit=1, without=("text",))
        self._known = rows[0]["number"] if rows else 0
        return _turn(rows[0]) if rows else None

    def whole(self, number: int) -> Turn | None:
        """A turn with its text."""
        row = self._backend.get(TURNS, [turn_id(number)]).get(turn_id(number))
        return None if row is None else _turn(row)

    def append(self, turn: Turn) -> bool:
        """Make the turn; false if somebody else has made one of its number.

        Raises ``StoreUnavailable`` if the database is away: then it may have been made, or may yet be.
        """
        row = _row(turn)
        for pause in PAUSES:
            time.sleep(pause)
            try:
                made = self._backend.create(TURNS, row) or self._is(turn)
            except StoreUnavailable:
                if pause == PAUSES[-1]:
                    raise
                continue
            if made:
                self._known = turn.number
            return made
        return False

    def _is(self, turn: Turn) -> bool:
        """Whether the turn of this number is this one: an earlier try went through, and its answer was lost."""
        row = self._backend.get(TURNS, [turn_id(turn.number)], without=("text",)).get(turn_id(turn.number))
        return row is not None and row["token"] == turn.token

    def sweep(self, newest: int) -> None:
        """Let go of turns that those who ended at the wrong moment left behind."""
        old = self._backend.find(TURNS, Within("number", high=newest - 2 * KEPT_TURNS), only=("id",))
        if old:
            self._backend.apply({TURNS.name: dict.fromkeys(row["id"] for row in old)}, newest)


def turn_id(number: int) -> str:
    return f"{number:015d}"


def outdated(number: int) -> dict[str, None]:
    """Turns that the one of this number lets go of: ids for ``Backend.apply``."""
    if number % KEPT_TURNS:
        return {}
    first = max(1, number - 3 * KEPT_TURNS)
    return dict.fromkeys(turn_id(old) for old in range(first, number - KEPT_TURNS))


def _row(turn: Turn) -> Row:
    return {
        "id": turn_id(turn.number), "number": turn.number, "token": turn.token, "owner": turn.owner, "since": turn.since,
        "counters": dict(turn.counters), "before": dict(turn.before), "journal": turn.journal, "text": turn.text, "pieces": turn.pieces,
    }  # fmt: skip


def _turn(row: Row) -> Turn:
    return Turn(
        row["number"], row["owner"], row["since"], row["counters"], row["before"], row["journal"], row.get("text", ""), row["pieces"],
        row["token"],
    )  # fmt: skip
