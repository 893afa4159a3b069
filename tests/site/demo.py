"""``make demo``: the made-up Web, a crawl of it, and the portal on what it brought; no network is touched but loopback."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from madeup import MadeUpWeb

from newsportal.cli import main as newsportal

FOLDER = Path("demo-data")
"""Made anew every time: the made-up sites have new ports, and their news is always of today."""

STALE = ("newsportal.db", "newsportal.db-wal", "newsportal.db-shm", "index.db", "index.db-wal", "index.db-shm", "newsportal.db.known")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="address of the portal")
    parser.add_argument("--port", help="port of the portal; by default the first free one from 8000 on")
    arguments = parser.parse_args()
    for name in STALE:
        (FOLDER / "data" / name).unlink(missing_ok=True)
    with MadeUpWeb(hosts=True) as web:
        sources = web.sources(FOLDER / "sources.yaml")
        print(f"A made-up Web of {len(web.addresses)} sites on loopback; its sources.yaml is {sources}", flush=True)
        port = ["--port", arguments.port] if arguments.port else []
        newsportal(["up", "--sources", str(sources), "--host", arguments.host, *port])


if __name__ == "__main__":
    main()
