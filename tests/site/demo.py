"""``make demo``: the made-up Web, a crawl of it, and the portal on what it brought; no network is touched but loopback."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent))

from madeup import MadeUpWeb
from madeup.photos import MadeUpPhotos

from newsportal.cli import main as newsportal

FOLDER = Path("demo-data")
"""Made anew every time: the made-up sites have new ports, and their news is always of today."""

STALE = ("newsportal.db", "newsportal.db-wal", "newsportal.db-shm", "index.db", "index.db-wal", "index.db-shm", "newsportal.db.known")
PICTURES = "pictures"

GALLERIES = ("guanlan", "lanting", "songling")
"""Photo stories of one index page each: a dozen and a half are there after seconds, and some are told by two hosts."""

MORE = "    pages: 1\n"


def sources(web: MadeUpWeb, photos: MadeUpPhotos) -> Path:
    """The ``sources.yaml`` of the made-up Web, with photo stories. The portal keeps their pictures: some hosts give them to nobody else."""
    written = web.sources(FOLDER / "sources.yaml")
    hosts = sorted({str(urlsplit(address).hostname) for address in photos.addresses.values()})
    text = written.read_text(encoding="utf-8").replace("allow_private: [", f"allow_private: [{', '.join(hosts)}, ")
    written.write_text(
        f"{text}\npictures:\n  cache: data/{PICTURES}\n\ngalleries:\n{photos.entries(*GALLERIES, more=MORE)}", encoding="utf-8"
    )
    return written


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="address of the portal")
    parser.add_argument("--port", help="port of the portal; by default the first free one from 8000 on")
    arguments = parser.parse_args()
    for name in STALE:
        (FOLDER / "data" / name).unlink(missing_ok=True)
    shutil.rmtree(FOLDER / "data" / PICTURES, ignore_errors=True)
    with MadeUpWeb(hosts=True) as web, MadeUpPhotos() as photos:
        photos.visit = 1  # nothing fails here
        file = sources(web, photos)
        print(f"A made-up Web of {len(web.addresses) + len(photos.addresses)} sites on loopback; its sources.yaml is {file}", flush=True)
        port = ["--port", arguments.port] if arguments.port else []
        newsportal(["up", "--sources", str(file), "--host", arguments.host, *port])


if __name__ == "__main__":
    main()
