"""The tables of the queue on disk.

A task's ``state``: ``ready`` (may be had as soon as its host may), ``behind`` (another of its lane comes first), ``later`` (waits for
``at``), ``suspect`` (two workers died of it), ``leased``, ``aside``. What is asked for often is counted beside the tasks: ``counts`` of
a queue by state, ``visits`` of a source, and ``lines``, one for each host of each queue: what waits, and whether it may be had. So no
question walks over the tasks, nor over hosts that rest or are held. ``holder`` 0 is nobody, below 0 who a free host is kept for.
Moments are ticks (seconds since the machine was started, which no clock change moves), but for ``at``, ``seen`` and ``since``.
"""

from __future__ import annotations

APPLICATION = int.from_bytes(b"nwsq")
"""SQLite's ``application_id``: a file of ours is known by it."""

VERSION = 1
"""SQLite's ``user_version``. A file of a later one is refused."""

TABLES = """
CREATE TABLE queues (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE tasks (
    number INTEGER PRIMARY KEY,
    queue INTEGER NOT NULL,
    id TEXT NOT NULL,
    host TEXT NOT NULL,
    state TEXT NOT NULL,
    priority INTEGER NOT NULL,
    at REAL,
    lane TEXT,
    source TEXT,
    seen TEXT,
    tries INTEGER NOT NULL DEFAULT 0,
    worker INTEGER,
    since REAL,
    reason TEXT,
    body TEXT NOT NULL
);
CREATE UNIQUE INDEX tasks_id ON tasks (queue, id);
CREATE INDEX tasks_ready ON tasks (queue, host, priority DESC) WHERE state = 'ready';
CREATE INDEX tasks_behind ON tasks (queue, lane, priority DESC) WHERE state = 'behind';
CREATE INDEX tasks_later ON tasks (queue, at) WHERE state = 'later';
CREATE INDEX tasks_suspect ON tasks (queue, tries) WHERE state = 'suspect';
CREATE INDEX tasks_leased ON tasks (worker) WHERE state = 'leased';
CREATE INDEX tasks_aside ON tasks (queue, since) WHERE state = 'aside';
CREATE TABLE lanes (queue INTEGER NOT NULL, lane TEXT NOT NULL, task INTEGER NOT NULL, PRIMARY KEY (queue, lane)) WITHOUT ROWID;
CREATE TABLE lines (
    host TEXT NOT NULL,
    queue INTEGER NOT NULL,
    waiting INTEGER NOT NULL,
    ready INTEGER NOT NULL,
    top INTEGER,
    holder INTEGER NOT NULL,
    resting INTEGER NOT NULL,
    free_at REAL NOT NULL,
    PRIMARY KEY (host, queue)
) WITHOUT ROWID;
CREATE INDEX lines_open ON lines (queue, holder, top DESC, free_at) WHERE ready > 0 AND resting = 0;
CREATE INDEX lines_resting ON lines (queue, free_at) WHERE resting = 1;
CREATE INDEX lines_waiting ON lines (queue, waiting DESC);
CREATE TABLE hosts (
    host TEXT PRIMARY KEY,
    holder INTEGER NOT NULL,
    free_at REAL NOT NULL,
    gap REAL NOT NULL,
    wanted_by INTEGER NOT NULL DEFAULT 0,
    wanted_until REAL NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX hosts_holder ON hosts (holder, free_at);
CREATE INDEX hosts_wanted ON hosts (wanted_by) WHERE wanted_by > 0;
CREATE TABLE workers (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    queue INTEGER NOT NULL,
    name TEXT NOT NULL,
    machine TEXT NOT NULL,
    pid INTEGER NOT NULL,
    started TEXT,
    since REAL NOT NULL,
    beat REAL NOT NULL,
    delay REAL NOT NULL DEFAULT 0,
    hungry REAL NOT NULL DEFAULT 0,
    draining INTEGER NOT NULL DEFAULT 0,
    doing TEXT NOT NULL DEFAULT '{}'
);
CREATE TABLE jobs (job TEXT PRIMARY KEY, worker INTEGER NOT NULL, until REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE counts (queue INTEGER NOT NULL, state TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (queue, state)) WITHOUT ROWID;
CREATE TABLE visits (queue INTEGER NOT NULL, source TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (queue, source)) WITHOUT ROWID;
CREATE TABLE seen (queue INTEGER NOT NULL, name INTEGER NOT NULL, at REAL NOT NULL, PRIMARY KEY (queue, name)) WITHOUT ROWID;
CREATE TABLE clock (ticks REAL NOT NULL, swept REAL NOT NULL);
INSERT INTO clock VALUES (0, 0);
"""
