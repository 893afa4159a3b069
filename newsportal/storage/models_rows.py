"""Between versions of models and rows of ``models``, and the errors of those that there are not. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from newsportal.errors import StoreError
from newsportal.storage.columns import ID_CHARS
from newsportal.storage.corpora import Model

ID_BYTES: Final = ID_CHARS // 2

DELETED: Final = ""
"""``algorithm`` of a version that was deleted. Its number stays taken: articles may name it."""


def model_row(
    corpus: str, version: int, algorithm: str, facts: Mapping[str, Any], now: datetime, held_out: Iterable[str], size: int
) -> dict[str, Any]:  # fmt: skip
    """The columns of a new version but the model itself."""
    packed = b"".join(bytes.fromhex(id) for id in sorted(held_out))
    row = {"corpus_id": corpus, "version": version, "algorithm": algorithm, "created": now, "facts": dict(facts)}
    return {**row, "size": size, "held_out": packed, "activated": None}


def model_of(row: Mapping[str, Any], name: str, active: int | None) -> Model:
    """The inverse of :func:`model_row`; ``active``: the version in use."""
    packed: bytes = row["held_out"]
    ids = frozenset(packed[at : at + ID_BYTES].hex() for at in range(0, len(packed), ID_BYTES))
    facts = {"facts": row["facts"], "size": row["size"], "active": row["version"] == active, "held_out": ids}
    return Model(name, row["version"], row["algorithm"], row["created"], **facts)


def deleted_row() -> dict[str, Any]:
    """The columns of a version that was deleted, but its number and the model itself."""
    return {"algorithm": DELETED, "facts": {}, "size": 0, "held_out": b"", "activated": None}


def in_use(name: str, number: int) -> StoreError:
    """The error of deleting the version in use."""
    return StoreError(f"version {number} of {name!r} is in use and cannot be deleted; put another one to use first")


def none_in_use(name: str) -> StoreError:
    """The error of a corpus without a model in use."""
    return StoreError(f"corpus {name!r} has no model in use; train one: newsportal train --corpus {name}")


def no_version(name: str, number: int, there: Sequence[int]) -> StoreError:
    """The error of an unknown version; ``there``: the numbers of those there are."""
    return StoreError(
        f"corpus {name!r} has no version {number}; " + (f"it has {', '.join(map(str, there))}" if there else "it has none yet")
    )


def was_let_go(name: str, number: int) -> StoreError:
    """The error of a version of which the figures alone are kept."""
    return StoreError(f"version {number} of {name!r} was let go: only its figures are kept")


def nothing_before(name: str, active: int) -> StoreError:
    """The error of a version before which none was in use."""
    return StoreError(f"nothing to go back to: no version of {name!r} before {active} was in use and is still kept")
