"""The journal of a transaction: what it writes, in a text that is told before the first row is touched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from uuid import uuid4

from newsportal.errors import StoreError
from newsportal.storage.documents.backend import Backend, unpacked
from newsportal.storage.documents.base import Row, Table
from newsportal.storage.documents.pieces import PIECE
from newsportal.storage.documents.turns import Turn, Turns

JOURNAL: Final = Table("journal", {"id": "key"})

SHORT = 64_000
"""Characters of a journal that its turn has within itself: an article with all that belongs to it has about 20,000."""


@dataclass(frozen=True)
class Told:
    """A journal: its ``text``, or how many ``pieces`` of it are in the database, under ``token``."""

    token: str
    text: str = ""
    pieces: int = 0


def told(backend: Backend, text: str, number: int) -> Told:
    """The journal ``text``; the pieces of a long one are in the database already, as state ``number``."""
    token = uuid4().hex
    if len(text) <= SHORT:
        return Told(token, text)
    cuts = [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
    ids = _ids(token, len(cuts))
    for id, cut in zip(ids, cuts, strict=True):  # one by one: a piece is as long as what is sent at once
        backend.apply({JOURNAL.name: {id: {"id": id, "text": cut}}}, number)
    return Told(token, "", len(cuts))


def finish(backend: Backend, tables: Mapping[str, Table], turns: Turns, number: int) -> None:
    """Write the journal of the turn of this number to the tables. Done twice, it does nothing the second time."""
    turn = turns.whole(number)
    if turn is None:
        raise StoreError(f"{backend.place}: the journal of transaction {number} is missing; restore a backup")
    text = turn.text or _joined(backend, turn)
    if text is not None:
        backend.apply(unpacked(tables, text), number)
    forget(backend, turn)


def _joined(backend: Backend, turn: Turn) -> str | None:
    """The pieces; ``None`` if one is missing: they all were there before the turn, and go when everything is written."""
    ids = _ids(turn.token, turn.pieces)
    found = backend.get(JOURNAL, ids)
    return "".join(found[id]["text"] for id in ids) if len(found) == len(ids) else None


def forget(backend: Backend, turn: Turn) -> None:
    """Let go of the pieces of a journal that is written."""
    if turn.pieces:
        backend.apply({JOURNAL.name: dict.fromkeys(_ids(turn.token, turn.pieces))}, turn.number)


def sweep(backend: Backend, number: int) -> None:
    """Let go of pieces of journals that nobody decided upon. For who may write, once nothing is left to be finished."""
    left: dict[str, Row | None] = dict.fromkeys(row["id"] for row in backend.find(JOURNAL, only=("id",)))
    if left:
        backend.apply({JOURNAL.name: left}, number)


def _ids(token: str, pieces: int) -> list[str]:
    return [f"{token} {piece}" for piece in range(pieces)]
