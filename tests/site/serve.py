"""Serve the made-up Web until Ctrl+C: ``python tests/site/serve.py --port-base 8100 --write-sources demo-data/sources.yaml``."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
from datetime import datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from madeup import MadeUpWeb


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Serve a small made-up Web on loopback.")
    parser.add_argument("--port-base", type=int, default=8100, help="the first port; each site takes one (0: any free ones)")
    parser.add_argument("--hosts", action="store_true", help="give each site a loopback address of its own (127.0.0.11 and up)")
    parser.add_argument("--now", type=datetime.fromisoformat, help="the moment to which dates relate, with zone (by default this minute)")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other times and addresses")
    parser.add_argument("--write-sources", type=Path, metavar="FILE", help="write a sources.yaml for it")
    parser.add_argument("--write-manifest", type=Path, metavar="FILE", help="write what a perfect crawl would know, as JSON")
    parser.add_argument("--traps", action="store_true", help="include the site full of traps in sources.yaml")
    return parser.parse_args()


def main() -> int:
    arguments = _arguments()
    web = MadeUpWeb(arguments.now, arguments.seed, arguments.port_base, arguments.hosts)
    try:
        web.start()
    except OSError as error:
        print(f"cannot serve: {error}. Is it running already? Try another --port-base.", file=sys.stderr)
        return 1
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    names = {site["key"]: site["name"] for site in web.manifest()["sites"]}
    for key, address in web.addresses.items():
        print(f"{address}/  {names.get(key, 'search engine ' + key)}")
    if arguments.write_sources:
        print(f"sources: {web.sources(arguments.write_sources, arguments.traps)}")
    if arguments.write_manifest:
        arguments.write_manifest.write_text(json.dumps(web.manifest(), ensure_ascii=False, indent=1), encoding="utf-8")
    print("ready", flush=True)
    stopped.wait()
    web.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
