"""The claim: the cost of a page does not grow with the store: folding, known URLs and the search index at growing numbers of articles.

    python benchmarks/growth.py CORPUS/docs.jsonl.gz --stored 1000 10000 100000 [--keep FOLDER]

Documents as in ``dedup.py``. At each number ``MEASURED`` articles come in batches of ten, as a crawl brings them, and the search index
takes them in; a hundred list pages of a hundred links, half of them known, are asked for. Milliseconds of the processor, an article or a
list page. ``--keep``: the store stays in this folder, and a later run goes on with it. ``--no-index``: without the index, the slowest.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from dedup import bodies, chain
from folding import NOW, articles

from newsportal.crawl.seen_filter import LocalFilter
from newsportal.items import Article
from newsportal.search import open_index
from newsportal.store import open_store
from newsportal.store.store import Store

MEASURED = 1000
BATCH = 10  # articles of a transaction
LINKS = 100  # of a list page


def took(number: int, step: Callable[[], object]) -> float:
    """Milliseconds of the processor for each of ``number``."""
    began = time.process_time()
    step()
    return (time.process_time() - began) * 1e3 / number


def add(store: Store, more: list[Article], batch: int) -> None:
    for at in range(0, len(more), batch):
        store.add_all([(article, ()) for article in more[at : at + batch]], now=NOW)


def ask(urls: LocalFilter, stored: list[str]) -> None:
    for page in range(100):
        names = [stored[(page * LINKS + n) % len(stored)] if n % 2 else f"new.example/{page}/{n}" for n in range(LINKS)]
        assert len(urls.find_stored(names)) == LINKS // 2


def measure(folder: Path, more: Iterator[Article], *, with_index: bool) -> tuple[float, float, float]:
    """Of an article that is folded, of a list page whose links are asked for, of an article that is indexed."""
    store, index = open_store(f"sqlite:///{folder}/news.db"), open_index(f"sqlite:///{folder}/index.db")
    add(store, list(islice(more, BATCH)), BATCH)  # the fingerprints are read
    if with_index:
        index.follow(store)
    news = list(islice(more, MEASURED))
    folded = took(MEASURED, lambda: add(store, news, BATCH))
    urls = LocalFilter(store)
    looked_up = took(100, lambda: ask(urls, [article.identity or "" for article in news]))
    indexed = took(MEASURED, lambda: index.follow(store)) if with_index else 0.0
    index.close()
    store.close()
    return folded, looked_up, indexed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--stored", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--no-index", action="store_true")
    options = parser.parse_args()
    follows = chain(bodies(options.corpus))
    print(f"{'stored':>8}{'an article, folded':>20}{'a list page asked for':>24}{'an article, indexed':>22}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        for number in options.stored:
            store = open_store(f"sqlite:///{folder}/news.db")
            count = store.tally().articles
            more = articles(follows, sys.maxsize, count)
            while count < number:
                add(store, news := list(islice(more, min(200, number - count))), 200)
                count += len(news)
            store.close()
            folded, looked_up, indexed = measure(folder, more, with_index=not options.no_index)
            print(f"{number:>8}{folded:>20.2f}{looked_up:>24.2f}{indexed:>22.2f}", flush=True)


if __name__ == "__main__":
    main()
