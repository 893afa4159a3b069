"""What errors of MongoDB's driver mean, and what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pymongo.errors import (
    BulkWriteError,
    ConfigurationError,
    DocumentTooLarge,
    ExecutionTimeout,
    InvalidURI,
    NetworkTimeout,
    OperationFailure,
    PyMongoError,
    ServerSelectionTimeoutError,
)

from newsportal.errors import ServerUnavailable, StoreError, StoreUnavailable

REMEDIES: Mapping[int, tuple[str, str]] = {
    13: ("this user may not do that", "give the user the role readWrite on the database"),
    18: ("user or password is wrong", "check them in the store URI, and authSource if the user lives in another database"),
    8000: ("user or password is wrong", "check them in the store URI, and authSource if the user lives in another database"),
    14031: ("the disk is full", "make room on the server; nothing was half written"),
    17419: ("a row is longer than the 16 MB that MongoDB takes", "leave the article out"),
    10334: ("a row is longer than the 16 MB that MongoDB takes", "leave the article out"),
    10107: ("the server has become a secondary", "try again; name the replica set in the URI: ?replicaSet=NAME"),
    13435: ("the server is a secondary", "name the replica set in the URI: ?replicaSet=NAME"),
    11600: ("the server is shutting down", "start it, and try again"),
    64: ("the replica set did not confirm the write in time", "see that most of its members run, and try again"),
    100: ("the replica set has too few members to confirm a write", "see that most of its members run, and try again"),
    50: ("an answer took too long", "see what the server is doing (db.currentOp()), and try again"),
    262: ("an answer took too long", "see what the server is doing (db.currentOp()), and try again"),
}
"""MongoDB's error code -> what happened, what to do (src/mongo/base/error_codes.yml)."""

LASTING = frozenset({17419, 10334})
"""Those that trying again does not help."""

READ_ONLY = re.compile(r"read.?only", re.IGNORECASE)
FULL = re.compile(r"no space left|disk is full|out of disk space", re.IGNORECASE)


def no_uri(place: str, error: Exception) -> StoreError:
    return StoreError(f"{place}: not a URI of MongoDB: {error} (for example mongodb://localhost/newsportal)")


def explained(error: PyMongoError | DocumentTooLarge, place: str) -> StoreError:
    """The error of ours that says what ``error`` means. Unknown ones keep the driver's words."""
    if isinstance(error, InvalidURI | ConfigurationError):
        return no_uri(place, error)
    if isinstance(error, DocumentTooLarge):
        return StoreError(f"{place}: a row is longer than the 16 MB that MongoDB takes; leave the article out")
    if isinstance(error, NetworkTimeout | ExecutionTimeout):
        return ServerUnavailable(f"{place}: the server does not answer in time; see whether it is overloaded, and try again")
    if isinstance(error, ServerSelectionTimeoutError):
        return ServerUnavailable(f"{place}: MongoDB is away ({_first(error)}); start it, or correct the store URI in sources.yaml")
    if isinstance(error, OperationFailure):
        return _answered(error, place)
    return StoreUnavailable(f"{place}: the connection was lost ({_first(error)}); try again")


def _answered(error: OperationFailure, place: str) -> StoreError:
    code, text = error.code, str(error)
    if isinstance(error, BulkWriteError):
        faults = error.details.get("writeErrors") or error.details.get("writeConcernErrors") or [{}]
        code, text = faults[0].get("code"), str(faults[0].get("errmsg", error))
    if FULL.search(text):
        code = 14031
    if code is not None and code in REMEDIES:
        what, remedy = REMEDIES[code]
        return (StoreError if code in LASTING else StoreUnavailable)(f"{place}: {what}; {remedy}")
    if READ_ONLY.search(text):
        return StoreUnavailable(f"{place}: it cannot be written to ({_cut(text)}); check that the server's disk is not read-only")
    return StoreError(f"{place}: {_cut(text)}")


def _first(error: PyMongoError) -> str:
    """The driver's words up to its list of servers."""
    return _cut(str(error).partition(", Timeout:")[0])


def _cut(text: str) -> str:
    return text.partition(", full error:")[0][:300]
