"""Copy a portal's folder while it is at work: ``python deploy/backup.py FOLDER BACKUPS [--keep 14]``. Needs Python alone.

``sources.yaml`` and the store (``data/newsportal.db``, by SQLite's own backup, checked afterwards). The search index, the filter of known
addresses and the queue are not copied: they are made anew from the store, or found again by the next visits.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

STORE = Path("data") / "newsportal.db"
FORM, FORMED = "%Y%m%d-%H%M%S", re.compile(r"\d{8}-\d{6}")
"""How a copy is named, by this machine's clock."""


def back_up(folder: Path, backups: Path, keep: int) -> Path:
    """The new copy. Raises ``OSError``, ``sqlite3.Error``; then no copy is left half done under its name."""
    done = backups / time.strftime(FORM)
    under_way = backups / f"{done.name}.part"
    shutil.rmtree(under_way, ignore_errors=True)
    (under_way / STORE).parent.mkdir(parents=True)
    shutil.copy2(folder / "sources.yaml", under_way)
    with (
        closing(sqlite3.connect(f"file:{(folder / STORE).absolute()}?mode=ro", uri=True, timeout=60)) as store,
        closing(sqlite3.connect(under_way / STORE)) as copy,
    ):
        store.backup(copy)
        (said,) = copy.execute("PRAGMA quick_check").fetchone()
    if said != "ok":
        raise sqlite3.DatabaseError(f"the copy is damaged: {said}")
    under_way.rename(done)
    for old in sorted(path for path in backups.iterdir() if FORMED.fullmatch(path.name))[:-keep]:
        shutil.rmtree(old)
    return done


def main() -> int:
    parser = argparse.ArgumentParser(description="Copy a portal's store and sources.yaml while it is at work.")
    parser.add_argument("folder", type=Path, help="the portal's folder, with sources.yaml and data/")
    parser.add_argument("backups", type=Path, help="where copies are kept, a folder each")
    parser.add_argument("--keep", type=int, default=14, help="copies that are kept, the newest (default: 14)")
    told = parser.parse_args()
    try:
        print(back_up(told.folder, told.backups, max(1, told.keep)))
    except (OSError, sqlite3.Error) as error:
        print(f"no backup: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
