"""The cost of finding reposts in the store: time and bytes written per article, at growing numbers of stored articles.

    python benchmarks/folding.py CORPUS/docs.jsonl.gz --stored 1000 10000 100000

Documents as in ``dedup.py``. A store in a file is filled to the number asked, then a thousand articles are added and measured: with the
search for reposts, and as it would be without. ``postings`` is the alternative that was not taken: an inverted index in a table of the
same database, sixty rows an article, looked up and written in one transaction (docs/decisions/reposts-in-the-store.md).
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from dedup import Chain, bodies, chain, documents

from newsportal.items import Article, Link
from newsportal.store import open_store, prints
from newsportal.store.store import Store

NOW = datetime(2024, 6, 1, tzinfo=UTC)
MEASURED = 1000
POSTINGS = 58
"""Indexed runs of a document of 700 characters."""


def articles(follows: Chain, number: int, seed: int = 1) -> Iterator[Article]:
    for document in documents(follows, number, seed):
        url = f"https://s{int(document.id) % 50}.example/{seed}/{document.id}.html"
        link = Link(url=url, source="feed:x")
        yield Article(url=url, link=link, fetched=NOW, identity=url, title=document.title, text=document.text, published=document.published)


def measured(steps: Iterator[Callable[[], object]]) -> tuple[float, float, float]:
    """Return milliseconds by the clock and of the processor, and kB written, per step."""
    wall, cpu, wrote, count = time.perf_counter(), time.process_time(), written(), 0
    for step in steps:
        step()
        count += 1
    return (time.perf_counter() - wall) / count * 1e3, (time.process_time() - cpu) / count * 1e3, (written() - wrote) / count / 1024


def written() -> int:
    """Return the bytes that this process has written (Linux)."""
    return next(int(line.split()[1]) for line in Path("/proc/self/io").read_text().splitlines() if line.startswith("wchar"))


def stored(store: Store, more: Iterator[Article]) -> tuple[float, float, float]:
    return measured((lambda article=article: store.add(article, now=NOW)) for article in more)


def postings(folder: str, number: int) -> tuple[float, float, float]:
    """Fill the table in order (its best case), then read and write at random."""
    chance = random.Random(1)
    base = sqlite3.connect(f"{folder}/postings.db", isolation_level=None)
    base.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL")
    base.execute("CREATE TABLE postings (run INTEGER, number INTEGER, PRIMARY KEY (run, number)) WITHOUT ROWID")
    rows = sorted(chance.randrange(1 << 32) for _ in range(number * POSTINGS))
    base.execute("BEGIN")
    base.executemany("INSERT INTO postings VALUES (?, ?)", ((run, at) for at, run in enumerate(rows)))
    base.execute("COMMIT")
    marks = ",".join("?" * POSTINGS)

    def add(at: int) -> None:
        runs = [chance.randrange(1 << 32) for _ in range(POSTINGS)]
        base.execute("BEGIN IMMEDIATE")
        base.execute(f"SELECT run, number FROM postings WHERE run IN ({marks})", runs).fetchall()
        base.executemany("INSERT INTO postings VALUES (?, ?)", [(run, len(rows) + at) for run in runs])
        base.execute("COMMIT")

    result = measured((lambda at=at: add(at)) for at in range(MEASURED))
    base.close()
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--stored", type=int, nargs="+", default=[1000, 10_000])
    options = parser.parse_args()
    source = articles(chain(bodies(options.corpus)), max(options.stored) + 3 * MEASURED * len(options.stored))
    print(f"{'stored':>8}  {'':28}{'ms':>7}{'ms cpu':>8}{'kB written':>12}")
    repeated, save = prints.find_repeated, prints.save
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(f"sqlite:///{folder}/news.db")
        assert isinstance(store, Store)
        count = 0
        for number in options.stored:
            for _ in range(count, number):
                store.add(next(source), now=NOW)
            batch = [next(source) for _ in range(MEASURED)]
            show(number, "with the search for reposts", stored(store, iter(batch)))
            prints.find_repeated, prints.save = lambda *_: None, lambda *_: None
            show(number, "without", stored(store, (next(source) for _ in range(MEASURED))))
            prints.find_repeated, prints.save = repeated, save
            count = number + 2 * MEASURED
            show(number, "a table of postings alone", postings(tempfile.mkdtemp(dir=folder), number))
            start = time.perf_counter()
            again = open_store(f"sqlite:///{folder}/news.db")
            again.add(next(source), now=NOW)
            count += 1
            print(f"{number:>8}  {'first article of a process':28}{(time.perf_counter() - start) * 1e3:>7.0f}", flush=True)
            again.close()


def show(number: int, label: str, figures: tuple[float, float, float]) -> None:
    wall, cpu, kilobytes = figures
    print(f"{number:>8}  {label:28}{wall:>7.2f}{cpu:>8.2f}{kilobytes:>12.0f}", flush=True)


if __name__ == "__main__":
    main()
