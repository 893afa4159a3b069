"""The claim: ``best`` reads title, text, date, author and pictures of a page in a fifth of trafilatura's time or less.

    python benchmarks/extraction.py FOLDER... [--limit 100] [--repeat 3]     compared with peers, page by page
    python benchmarks/extraction.py FOLDER... --parts                        the time of ``best`` by module
    python benchmarks/extraction.py FOLDER... --memory [--pages 10000]       memory of a process after this many pages
    python benchmarks/extraction.py --growth                                 time against the size of the page, up to 5 MB

A FOLDER holds ``<id>.html`` or ``<id>.html.gz``. Processor milliseconds a page, decoding and parsing included; every page is read by
each reader in turn, so that a busy machine is equally slow for all, and of the repeats the median counts. Peers are measured where they
are installed (``pip install 'newsportal[peers]'``), each with all the fields it knows.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import pstats
import random
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from newsportal.cli.pages import SavedPage, saved_pages
from newsportal.errors import NotApplicable
from newsportal.extractors import extractor
from newsportal.items import Page
from newsportal.text import dom
from newsportal_lab.evaluate.peers import installed, peer

NOW = datetime.now(UTC)
NOWHERE = "https://page.invalid/"
PEERS = ("trafilatura", "readability-lxml", "gne", "magic-html", "resiliparse", "htmldate")
YARDSTICK = "trafilatura"
GOAL = 0.2
SIZES = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0)  # MB
SEED = 20260301
SHARED = "dom"  # the module whose functions --parts tells apart: every part uses them
Reader = Callable[[SavedPage], object]


def parse_only(page: SavedPage) -> object:
    return dom.document(Page(page.url or NOWHERE, page.body, NOW)).root


def best(page: SavedPage) -> object:
    try:
        return extractor("best")(dom.document(Page(page.url or NOWHERE, page.body, NOW)), None, NOW)
    except NotApplicable:
        return None


def reader_of(name: str) -> Reader:
    run = peer(name)

    def read(page: SavedPage) -> object:
        try:
            return run(page.body, page.url)
        except Exception:  # noqa: BLE001  a page that a peer cannot read has its price all the same
            return None

    return read


def seconds(read: Reader, page: SavedPage) -> float:
    started = time.process_time()
    read(page)
    return time.process_time() - started


# against peers


def compare(folders: list[str], limit: int, repeat: int) -> None:
    readers: dict[str, Reader] = {"decode and parse": parse_only, "best": best}
    readers |= {name: reader_of(name) for name in PEERS if name in installed()}
    totals = dict.fromkeys(readers, 0.0)
    number = 0
    for folder in folders:
        pages = [page for page in islice(saved_pages(folder), limit) if not page.error]
        spent = measure(readers, pages, repeat)
        table(Path(folder).resolve().name, len(pages), sum(len(page.body) for page in pages), spent)
        number += len(pages)
        totals = {name: totals[name] + spent[name] for name in totals}
    if len(folders) > 1:
        table("all", number, 0, totals)
    if YARDSTICK in totals:
        print(f"best / {YARDSTICK}: {totals['best'] / totals[YARDSTICK]:.3f} (goal: {GOAL})")


def measure(readers: dict[str, Reader], pages: list[SavedPage], repeat: int) -> dict[str, float]:
    """Return each reader's processor seconds over all pages: the sum of each page's median of the repeats, after one page to warm up."""
    for read in readers.values():
        read(pages[0])
    spent = dict.fromkeys(readers, 0.0)
    for page in pages:
        runs = [{name: seconds(read, page) for name, read in readers.items()} for _ in range(repeat)]
        for name in readers:
            spent[name] += statistics.median(run[name] for run in runs)
    return spent


def table(name: str, pages: int, size: int, spent: dict[str, float]) -> None:
    print(f"\n{name}: {pages} pages" + (f", {size / pages / 1000:.0f} kB on average" if size else ""))
    for reader, total in spent.items():
        share = f"{total / spent[YARDSTICK]:8.3f} of {YARDSTICK}" if YARDSTICK in spent else ""
        print(f"  {reader:18}{1000 * total / pages:8.2f} ms a page{pages / total:8.0f} pages/s{share}")


# where the time goes


def parts(folders: list[str], limit: int) -> None:
    """Return own time by module of newsportal; time in libraries and built-ins counts towards the module that calls them."""
    pages = [page for folder in folders for page in islice(saved_pages(folder), limit) if not page.error]
    best(pages[0])
    plain = sum(seconds(best, page) for page in pages)
    profile = cProfile.Profile(time.process_time)
    for page in pages:
        profile.runcall(best, page)
    shares = by_module(pstats.Stats(profile))
    total = sum(shares.values())
    print(
        f"{len(pages)} pages, best: {1000 * plain / len(pages):.2f} ms a page; shares as the profiler sees them, which makes calls dearer"
    )
    for module, spent in shares.most_common():
        if spent / total >= 0.005:
            print(f"  {module:44}{100 * spent / total:6.1f} %{1000 * plain * spent / total / len(pages):8.2f} ms")


def by_module(stats: pstats.Stats) -> Counter[str]:
    """Return own time by module. A function outside newsportal passes its time to its callers, in proportion to calls, up to ours."""
    table = stats.stats  # type: ignore[attr-defined]
    shares: Counter[str] = Counter()
    for function, (_, _, spent, _, callers) in table.items():
        for module, share in owners(function, callers, table, 0).items():
            shares[module] += spent * share
    return shares


def owners(
    function: tuple[str, int, str], callers: dict[tuple[str, int, str], tuple[float, ...]], table: dict, depth: int
) -> dict[str, float]:
    module = ours(function[0])
    if module == SHARED:
        module = f"{module}: {function[2].strip('<>')}"
    if module or not callers or depth > 8:
        return {module or "the rest": 1.0}
    total = sum(times[3] for times in callers.values()) or 1.0
    shares: Counter[str] = Counter()
    for caller, times in callers.items():
        if caller != function:
            for name, share in owners(caller, table[caller][4], table, depth + 1).items():
                shares[name] += share * times[3] / total
    return dict(shares) or {"the rest": 1.0}


def ours(file: str) -> str | None:
    _, found, module = file.partition("/newsportal/newsportal/") if "/newsportal/newsportal/" in file else file.rpartition("/newsportal/")
    return module.removesuffix(".py") if found and module.endswith(".py") else None


# memory


def memory(folders: list[str], number: int) -> None:
    """Read the folders' pages repeatedly; the process should use no more memory after the last thousand than after the first."""
    pages = [page for folder in folders for page in saved_pages(folder) if not page.error]
    sizes = []
    for count in range(1, number + 1):
        best(pages[count % len(pages)])
        if count % 1000 == 0 or count == number:
            gc.collect()
            sizes.append(resident())
            print(f"{count:7} pages  {sizes[-1]:7.1f} MB", flush=True)
    print(f"from the first thousand to the last: {sizes[-1] - sizes[0]:+.1f} MB")


def resident() -> float:
    """Return the resident memory of the process in megabytes (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


# growth


def growth(repeat: int) -> None:
    """Made-up pages of every size: paragraphs of many lengths, links, tables, lists of other stories."""
    print(f"{'MB':>6}{'parse ms':>10}{'best ms':>10}{'ms a MB':>10}")
    best(SavedPage("warm", made_up(0.05)))
    rates = []
    for size in SIZES:
        page = SavedPage("made up", made_up(size))
        parsed = statistics.median(seconds(parse_only, page) for _ in range(repeat))
        spent = statistics.median(seconds(best, page) for _ in range(repeat))
        rates.append(1000 * spent / (len(page.body) / 1e6))
        print(f"{len(page.body) / 1e6:6.2f}{1000 * parsed:10.1f}{1000 * spent:10.1f}{rates[-1]:10.1f}", flush=True)
    print(f"a megabyte of the largest page costs {rates[-1] / rates[2]:.2f} times as much as one of {SIZES[2]} MB (linear: 1)")


def made_up(size: float) -> bytes:
    chance = random.Random(SEED)
    parts = ["<html><head><title>滨海新线今晨通车_滨海网</title></head><body><h1>滨海新线今晨通车</h1><p>2024-03-05 08:30</p><div>"]
    length = 0
    for part in pieces(chance):
        parts.append(part)
        length += len(part.encode())
        if length >= size * 1e6:
            break
    return "".join([*parts, "</div></body></html>"]).encode()


def pieces(chance: random.Random) -> Iterator[str]:
    letters = (
        "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去"
    )
    while True:
        text = "".join(chance.choices(letters, k=chance.randrange(5, 200)))
        yield f"<p>{text}，{text[::-1]}。</p>"
        kind = chance.randrange(40)
        if kind == 0:
            yield f"<ul>{''.join(f'<li><a href=/{n}.html>{text[:20]}</a></li>' for n in range(20))}</ul>"
        elif kind == 1:
            yield f"<table>{f'<tr><td>{text[:8]}</td><td>{chance.random():.2f}</td></tr>' * 12}</table>"
        elif kind == 2:
            yield f"<div class='box'><div><span>{text}</span><img src='/{text[:2]}.jpg' alt='{text[:9]}'></div></div>"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", metavar="FOLDER")
    parser.add_argument("--limit", type=int, default=100, help="pages of each folder")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--parts", action="store_true")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--pages", type=int, default=10_000, help="pages read by --memory")
    parser.add_argument("--growth", action="store_true")
    options = parser.parse_args()
    if not options.folders and not options.growth:
        parser.error("name a folder of saved pages")
    if options.growth:
        growth(options.repeat)
    elif options.parts:
        parts(options.folders, options.limit)
    elif options.memory:
        memory(options.folders, options.pages)
    else:
        compare(options.folders, options.limit, options.repeat)


if __name__ == "__main__":
    main()
