"""A restore that never ends: ``python killed_restore.py FILE URI`` prints ``half`` after half of its rows, and waits to be killed."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from newsportal.store import open_store
from newsportal.store.backup import restore, verify


def tell(phase: str, done: int, total: int) -> None:
    if done > total / 2:
        print("half", flush=True)
        time.sleep(600)


if __name__ == "__main__":
    file = Path(sys.argv[1])
    manifest = verify(file)
    restore(file, open_store(sys.argv[2], unfinished=True), manifest=manifest, progress=tell)
