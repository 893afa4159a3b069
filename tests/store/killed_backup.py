"""A backup that never ends: ``python killed_backup.py URI FILE`` prints ``writing`` after its first rows, and waits to be killed."""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from newsportal.store import open_store
from newsportal.store.backup import back_up


def tell(phase: str, done: int, total: int) -> None:
    if done:
        print("writing", flush=True)
        time.sleep(600)


if __name__ == "__main__":
    back_up(open_store(sys.argv[1]), Path(sys.argv[2]), sources=None, now=datetime.now(UTC), progress=tell)
