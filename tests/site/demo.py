"""``make demo``: the made-up Web, a crawl of it, made-up readers, and a portal for the result; it uses no network but loopback."""

from __future__ import annotations

import argparse
import shutil
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent))

from madeup import MadeUpWeb, events, readers
from madeup.photos import MadeUpPhotos

from newsportal.cli import main as newsportal
from newsportal.errors import StoreError
from newsportal.sources import load
from newsportal.store import open_store
from newsportal.store.dialects import open_engine

FOLDER = Path("demo-data")
"""Recreated every time: the made-up sites have new ports, and their news is always from today."""

STALE = (
    "newsportal.db",
    "newsportal.db-wal",
    "newsportal.db-shm",
    "index.db",
    "index.db-wal",
    "index.db-shm",
    "newsportal.db.known",
    "accounts.db",
    "accounts.db-wal",
    "accounts.db-shm",
)
PICTURES = "pictures"

GALLERIES = ("guanlan", "lanting", "songling")
"""Photo stories with one index page each: about eighteen are stored after seconds, some of them from two hosts."""

MORE = "    pages: 1\n"

LOOK = 2.0
"""Seconds between two checks whether the first crawl has ended."""

TOLD = (
    "{readers} made-up readers have looked at stories {views} times, so that /for-you and /monitor have something to show; "
    "the figures of earlier months are made up as well. What you look at yourself comes on top."
)


def sources(web: MadeUpWeb, photos: MadeUpPhotos) -> Path:
    """Write the ``sources.yaml`` of the made-up Web with photo stories. The portal stores their pictures: some hosts refuse others."""
    written = web.sources(FOLDER / "sources.yaml")
    hosts = sorted({str(urlsplit(address).hostname) for address in photos.addresses.values()})
    text = written.read_text(encoding="utf-8").replace("allow_private: [", f"allow_private: [{', '.join(hosts)}, ")
    written.write_text(
        f"{text}\npictures:\n  cache: data/{PICTURES}\n\ngalleries:\n{photos.entries(*GALLERIES, more=MORE)}", encoding="utf-8"
    )
    return written


def read(file: Path) -> None:
    """Let made-up readers view the stories when the first crawl has ended."""
    uri = load(file).store
    while True:
        time.sleep(LOOK)
        try:
            store = open_store(uri, create=False)
        except StoreError:  # the portal has not created it yet
            continue
        try:
            if any(run.ended for run in store.runs(1)):
                events.fill(store, datetime.now(UTC))
                filled = readers.fill(store, datetime.now(UTC))
                readers.earlier_months(open_engine(uri, create=False), datetime.now(UTC))
                print(TOLD.format(readers=filled.readers, views=filled.views), flush=True)
                return
        finally:
            store.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="address of the portal")
    parser.add_argument("--port", help="port of the portal; by default the first free one from 8000 on")
    arguments = parser.parse_args()
    for name in STALE:
        (FOLDER / "data" / name).unlink(missing_ok=True)
    shutil.rmtree(FOLDER / "data" / PICTURES, ignore_errors=True)
    with MadeUpWeb(hosts=True) as web, MadeUpPhotos() as photos:
        photos.visit = 1  # no failures at this visit
        file = sources(web, photos)
        print(f"A made-up Web of {len(web.addresses) + len(photos.addresses)} sites on loopback; its sources.yaml is {file}", flush=True)
        threading.Thread(target=read, args=(file,), daemon=True, name="readers").start()
        port = ["--port", arguments.port] if arguments.port else []
        newsportal(["up", "--sources", str(file), "--host", arguments.host, *port])


if __name__ == "__main__":
    main()
