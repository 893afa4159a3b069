"""The file of the queue on disk: one connection, taken in turns by threads; what goes wrong with it is mended here, or told."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from time import monotonic, sleep
from typing import TypeVar

from newsportal.errors import FrontierRefused, FrontierUnavailable
from newsportal.frontier.queues.disk_schema import APPLICATION, TABLES, VERSION
from newsportal.store.dialect_sqlite import explained

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")
Step = Callable[[sqlite3.Connection], Answer]

BUSY_SECONDS = 30.0
"""How long a turn waits for those of other processes. One takes milliseconds."""

MEMORY = ":memory:"

OURS = (sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.InterfaceError, sqlite3.DataError)
"""Mistakes of this code: waiting does not help."""

DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")

CACHE_KIB = 16 * 1024
"""SQLite's own 2 MiB are too few where ids come in any order: a million of them take 60 MB."""

SHRINK_PAGES = 2000
"""Pages that one step of shrinking moves: 8 MB."""

JOURNAL_PAGES = 128
"""Pages (half a megabyte) after which the write-ahead log is taken in: SQLite's thousand would take four megabytes of a disk for a queue of
a few hundred requests."""

JOURNAL_BYTES = 64 * 1024 * 1024
"""What the write-ahead log is cut to when it has grown in a burst."""


class QueueFile:
    """The file at ``path``; ``:memory:`` for one that goes with the process. Safe between threads; opened at the first use.

    A damaged file is moved away with a warning and begun anew (the store knows which articles are missing), and so is one that somebody
    removed under us. Raises ``FrontierUnavailable`` (locked, full, read-only) and ``FrontierRefused`` (newer, or not ours).
    """

    def __init__(self, path: Path | str) -> None:
        self.path = str(path)
        self._lock = RLock()
        self._connection: sqlite3.Connection | None = None
        self._inode: int | None = None
        self._users = 0

    def exists(self) -> bool:
        """Whether there is anything to be read."""
        return self._connection is not None if self.path == MEMORY else Path(self.path).exists()

    def write(self, step: Step[Answer]) -> Answer:
        """What ``step`` answers, in one transaction: all of it is kept, or nothing."""
        return self._tried(step, "BEGIN IMMEDIATE")

    def read(self, step: Step[Answer]) -> Answer:
        """What ``step`` answers; it sees one state of the queue."""
        return self._tried(step, "BEGIN")

    def shrink(self) -> None:
        """Give the room of what went back to the disk, in steps, so that others come in between. Raises ``FrontierUnavailable``."""
        free = self.write(_free_pages)
        while free:
            self.write(lambda sql: sql.execute(f"PRAGMA incremental_vacuum({SHRINK_PAGES})").fetchall())
            before, free = free, self.write(_free_pages)
            if free >= before:
                return  # others are filling it meanwhile

    def join(self) -> None:
        """One more uses it."""
        with self._lock:
            self._users += 1

    def leave(self) -> None:
        """One fewer uses it; the last one closes it."""
        with self._lock:
            self._users -= 1
            if self._users <= 0:
                self.close()

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _tried(self, step: Step[Answer], begin: str) -> Answer:
        with self._lock:
            try:
                return self._run(step, begin)
            except OURS:
                raise
            except sqlite3.DatabaseError as error:
                if not _is_damage(error) or self.path == MEMORY:
                    raise self._told(error) from error
                self._move_away(error)
            try:
                return self._run(step, begin)
            except OURS:
                raise
            except sqlite3.Error as error:
                raise self._told(error) from error

    def _run(self, step: Step[Answer], begin: str) -> Answer:
        connection = self._open()
        connection.execute(begin)
        try:
            answer = step(connection)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        return answer

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and self.path != MEMORY and _inode(self.path) != self._inode:
            logger.warning("%s: the file is gone or is another one; it is opened anew", self.path)
            self.close()
        if self._connection is None:
            self._connection = self._connected()
        return self._connection

    def _connected(self) -> sqlite3.Connection:
        if self.path != MEMORY:
            try:
                Path(self.path).parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise FrontierUnavailable(f"{self.path}: its folder cannot be made ({error.strerror}); check the store's place") from error
        connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256)
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        self._inode = _inode(self.path)
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA synchronous = NORMAL")  # a killed process loses nothing; a power cut costs the last moments
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if not version:
            _make(connection, self.path)
            version = connection.execute("PRAGMA user_version").fetchone()[0]
        if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
            raise FrontierRefused(f"{self.path}: this is a database of something else; move it away, or give the store another place")
        if version > VERSION:
            raise FrontierRefused(
                f"{self.path}: a newer newsportal made this queue (version {version}, this one reads {VERSION}); "
                "update with: pip install -U newsportal, or move the file away: its requests are known to the store"
            )
        connection.execute(f"PRAGMA wal_autocheckpoint = {JOURNAL_PAGES}")
        connection.execute(f"PRAGMA journal_size_limit = {JOURNAL_BYTES}")
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")

    def _told(self, error: sqlite3.Error) -> FrontierUnavailable:
        return FrontierUnavailable(f"queue of requests: {explained(error, self.path)}")

    def _move_away(self, error: sqlite3.Error) -> None:
        """Raises ``FrontierUnavailable`` where the file cannot be moved."""
        mine = self._inode if self._connection is not None else _inode(self.path)
        self.close()
        if _inode(self.path) != mine:
            return  # another process has moved it
        away = f"{self.path}.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S}-{os.getpid()}"
        try:
            for suffix in ("", "-wal", "-shm"):
                if Path(self.path + suffix).exists():
                    Path(self.path + suffix).rename(away + suffix)
        except OSError as failure:
            raise FrontierUnavailable(f"{self.path}: it is damaged and cannot be moved away ({failure.strerror})") from failure
        logger.warning("%s: the queue of requests is damaged (%s): moved to %s and begun anew", self.path, error, away)


def _make(connection: sqlite3.Connection, where: str) -> None:
    """The tables, by whoever comes first. Turning the write-ahead log on does not wait for others by itself, so it is tried again."""
    if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] and not _ours(connection):
        raise FrontierRefused(f"{where}: this is a database of something else; move it away, or give the store another place")
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # stands before anything else is written
    until = monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or monotonic() > until:
                raise
            sleep(0.05)
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not connection.execute("PRAGMA user_version").fetchone()[0]:
            for statement in TABLES.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _free_pages(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA freelist_count").fetchone()[0])


def _ours(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION)


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    return (getattr(error, "sqlite_errorname", None) or "").startswith(DAMAGED)


def _inode(path: str) -> int | None:
    try:
        return os.stat(path).st_ino
    except OSError:
        return None
