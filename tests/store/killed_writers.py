"""Writers in separate processes: patient ones, and ones that are killed. ``python killed_writers.py patient|killed URI COUNT LENGTH``."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # import factories
from factories import NOW, article, invented

from newsportal.errors import StoreUnavailable
from newsportal.items import FoldKey
from newsportal.store import open_store
from newsportal.store.store import Store

Answer = TypeVar("Answer")
PATIENCE = 600.0
"""Seconds for which a writer retries."""


def add(store: Store, name: str, length: int = 0) -> str:
    """Add an article; its text has ``length`` random characters if ``length`` is given."""
    new = article(name, topic="旅游", **({"text": invented(int(name), length)} if length else {}))
    return store.add(new, [FoldKey(f"story {sum(map(ord, name)) % 20}", "same-title")], now=NOW).id


def patiently(do: Callable[[], Answer]) -> Answer:
    """Retry while the store is unavailable, as a crawl does; errors are printed to standard error."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return do()
        except StoreUnavailable as error:
            print(error, file=sys.stderr, flush=True)
            if time.monotonic() > until:
                raise
        time.sleep(0.2)


def patient(uri: str, count: int, length: int) -> None:
    """Write ``count`` articles, whatever happens to the server; print the id of each once it is written."""
    store = patiently(lambda: open_store(uri))
    for number in range(count):
        print(patiently(lambda name=str(number): add(store, name, length)), flush=True)  # type: ignore[misc]
    store.close()


def killed(uri: str, _count: int, _length: int) -> None:
    """For each line on standard input, start a process that writes until it is killed and prints its process id and the ids written."""
    for line in sys.stdin:
        process = os.fork()
        if process == 0:
            print("process", os.getpid(), flush=True)
            store = open_store(uri)
            for number in range(10**6):
                print(add(store, f"{line.strip()}-{number}"), flush=True)
        os.waitpid(process, 0)
        print("dead", flush=True)


if __name__ == "__main__":
    {"patient": patient, "killed": killed}[sys.argv[1]](sys.argv[2], *map(int, sys.argv[3:]))
