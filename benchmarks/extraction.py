"""The claim: ``best`` reads title, text, date and author of a page in a fifth of trafilatura's time or less.

    python benchmarks/extraction.py FOLDER [--limit 100]

FOLDER holds ``<id>.html`` or ``<id>.html.gz``. CPU milliseconds a page, parsing included, each page read alone by each reader in
turn, so that a busy machine is equally slow for all. The peer is measured when it is installed (``pip install trafilatura``).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from itertools import islice

from newsportal import dom
from newsportal.commands.pages import saved_pages
from newsportal.errors import NotApplicable
from newsportal.extractors import EXTRACTORS, extractor
from newsportal.items import Page

NOW = datetime.now(UTC)
PEER = "trafilatura"
Reader = Callable[[bytes], object]


def parse_only(body: bytes) -> object:
    return dom.document(Page("https://a.example/", body, NOW)).root


def ours(name: str) -> Reader:
    run = extractor(name)

    def read(body: bytes) -> object:
        try:
            return run(dom.document(Page("https://a.example/", body, NOW)), None, NOW)
        except NotApplicable:
            return None

    return read


def peer() -> Reader:
    module = import_module(PEER)
    return lambda body: module.bare_extraction(body, with_metadata=True, include_comments=False)


def measure(readers: dict[str, Reader], pages: list[bytes]) -> dict[str, float]:
    """CPU seconds of each reader over all pages, after one page to warm up."""
    spent = dict.fromkeys(readers, 0.0)
    for read in readers.values():
        read(pages[0])
    for body in pages:
        for name, read in readers.items():
            started = time.process_time()
            read(body)
            spent[name] += time.process_time() - started
    return spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--limit", type=int, default=100)
    options = parser.parse_args()
    pages = [page.body for page in islice(saved_pages(options.folder), options.limit) if not page.error]
    readers: dict[str, Reader] = {"decode and parse": parse_only, **{name: ours(name) for name in EXTRACTORS}}
    if find_spec(PEER):
        readers[PEER] = peer()
    spent = measure(readers, pages)
    print(f"{len(pages)} pages, {sum(map(len, pages)) / len(pages) / 1000:.0f} kB on average")
    for name, seconds in spent.items():
        share = f"{seconds / spent[PEER]:8.2f} of {PEER}" if PEER in spent else ""
        print(f"{name:18}{1000 * seconds / len(pages):8.2f} ms a page{share}")


if __name__ == "__main__":
    main()
