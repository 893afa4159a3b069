"""The claim: ``best`` reads the posts of a thread's page of 100 KB in 15 ms, and its time grows with the posts, up to 1,000 a page.

    python benchmarks/forum.py FOLDER...     real pages: milliseconds a 100 KB, beside PEAN, MiBAT and the parsing alone
    python benchmarks/forum.py --growth      made pages of 10 to 1,000 posts: milliseconds a post

A FOLDER holds ``<id>.html`` or ``<id>.html.gz``. Processor time, decoding and parsing included; every page is read by each reader in turn,
so that a busy machine is equally slow for all, and of three repeats the least counts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from datetime import UTC, datetime

from newsportal.cli.pages import SavedPage, saved_pages
from newsportal.errors import NotApplicable
from newsportal.extractors.forum import POST_EXTRACTORS, post_extractor
from newsportal.items import Page
from newsportal.text import dom

NOW = datetime.now(UTC)
NOWHERE = "https://page.invalid/"
REPEATS = 3
GOAL = 15.0  # ms a 100 KB
SIZES = (10, 30, 100, 300, 1000)
PARSING = "decode and parse"
Reader = Callable[[SavedPage], object]


def parse_only(page: SavedPage) -> object:
    return dom.document(Page(page.url or NOWHERE, page.body, NOW)).root


def reader_of(name: str) -> Reader:
    run = post_extractor(name)

    def read(page: SavedPage) -> object:
        try:
            return run(dom.document(Page(page.url or NOWHERE, page.body, NOW)), NOW)
        except NotApplicable:
            return None

    return read


def least(read: Reader, page: SavedPage) -> float:
    times = []
    for _ in range(REPEATS):
        started = time.process_time()
        read(page)
        times.append(time.process_time() - started)
    return min(times)


def compare(folders: list[str]) -> None:
    readers = {PARSING: parse_only} | {name: reader_of(name) for name in POST_EXTRACTORS}
    pages = [page for folder in folders for page in saved_pages(folder) if page.error is None]
    size = sum(len(page.body) for page in pages) / 100_000
    seconds = dict.fromkeys(readers, 0.0)
    for page in pages:
        for name, read in readers.items():
            seconds[name] += least(read, page)
    print(f"{len(pages)} pages, {size / 10:.1f} MB")
    for name, spent in seconds.items():
        note = f"  (goal {GOAL:.0f})" if name == "best" else ""
        print(f"{name:18}{1000 * spent / size:8.1f} ms a 100 KB{note}")


def made(posts: int) -> SavedPage:
    """A page of as many posts, each with a member's card, buttons and 300 characters."""
    block = (
        "<div class='item' id='n{0}'><div class='card'><a href='/user/{1}'>member{1}</a><p>Posts: {0}</p><p>Joined 2010-01-0{2}</p></div>"
        "<div class='main'><span class='when'>2024-03-05 0{2}:{3:02}</span><div class='words'>{4}</div>"
        "<ul><li>Quote</li><li>Reply</li></ul></div></div>"
    )
    words = "今天早上六点，滨海新线的首班列车从东站出发，车厢里坐满了赶早的市民，他们说这是一个好消息。" * 6
    inner = "".join(block.format(n, n % 17, n % 9 + 1, n % 60, f"{n}{words}") for n in range(posts))
    return SavedPage("made", f"<html><body><h1>Thread</h1>{inner}</body></html>".encode())


def growth() -> None:
    read = reader_of("best")
    print(f"{'posts':>6}{'KB':>8}{'ms':>9}{'ms a post':>11}")
    for posts in SIZES:
        page = made(posts)
        spent = 1000 * least(read, page)
        print(f"{posts:>6}{len(page.body) / 1000:>8.0f}{spent:>9.1f}{spent / posts:>11.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--growth", action="store_true")
    options = parser.parse_args()
    if options.folders:
        compare(options.folders)
    if options.growth:
        growth()
