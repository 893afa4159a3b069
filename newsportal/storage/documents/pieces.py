"""Long bytes in pieces: no document of MongoDB is longer than 16 MB, and none of Elasticsearch should be."""

from __future__ import annotations

from newsportal.storage.documents.base import Rows, Table, Transaction

PIECE = 2_000_000
"""Bytes of a piece: a transaction's journal, too, is told in texts of about this length."""

PIECES = Table("pieces", {"id": "key"}, binary=frozenset({"data"}))
"""``id``: the name of the whole and the number of the piece. The first one says ``of`` how many there are."""


def put(transaction: Transaction, name: str, data: bytes) -> None:
    """Keep ``data`` under ``name``, in place of what was there."""
    delete(transaction, name)
    cuts = [data[start : start + PIECE] for start in range(0, len(data), PIECE)] or [b""]
    for number, cut in enumerate(cuts):
        transaction.put(PIECES, {"id": _piece(name, number), "of": len(cuts), "data": cut})


def get(rows: Rows, name: str) -> bytes | None:
    """What was put under ``name``; ``None`` if nothing was, or if it is being written."""
    first = rows.get(PIECES, [_piece(name, 0)]).get(_piece(name, 0))
    if first is None:
        return None
    names = [_piece(name, number) for number in range(1, first["of"])]
    rest = rows.get(PIECES, names) if names else {}
    if len(rest) < len(names):
        return None
    return b"".join([first["data"], *(rest[one]["data"] for one in names)])


def delete(transaction: Transaction, name: str) -> None:
    """Nothing is under ``name`` any more."""
    head = _piece(name, 0)
    first = transaction.get(PIECES, [head], without=("data",)).get(head)
    if first is not None:
        transaction.delete(PIECES, [_piece(name, number) for number in range(first["of"])])


def _piece(name: str, number: int) -> str:
    return f"{name} {number}"
