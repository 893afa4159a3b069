"""Writing speed of the stores, and copies between them: ``python benchmarks/storage.py [--part write|copy] [--stores …]``.

``write``: articles a second into each store, one by one and in batches, with reposts folded and (``apart``) every text its own story. Each
is all of a crawl's work in the store: whether it is known, text, topics, fingerprint, fold, story, labels, change log. In brackets: the
articles for which a second of this process would do, which leaves out what servers and other programs took. ``copy``: a store of so many
articles SQLite → PostgreSQL → MariaDB → SQLite, each copy proved equal, the last one to the first.

Articles are made up: words of jieba's dictionary as often as the dictionary says, 12 to a title and 300 to a body (about 650 characters);
with folding, every fourth is a repost of one before it, under another title on another site. Servers are those of ``scripts/servers``,
started for this and stopped afterwards, on this machine; a shared one measures little.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "benchmarks"), str(ROOT / "tests")]

import pytest  # noqa: E402
from search import Vocabulary  # noqa: E402
from servers import Servers, servers_of  # noqa: E402

from newsportal.dedup.judge import fold_keys  # noqa: E402
from newsportal.items import Article, FoldKey, Link  # noqa: E402
from newsportal.store import open_store  # noqa: E402
from newsportal.store.copying import copy  # noqa: E402
from newsportal.store.store import Store  # noqa: E402

STORES = ("sqlite", "postgresql", "mariadb")
WAY = ("postgresql", "mariadb", "sqlite")
SEED = 20261122
TITLE_WORDS, BODY_WORDS = 12, 300
REPOSTS = 4  # every fourth
BATCH = 100
NOW = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
New = tuple[Article, Sequence[FoldKey]]


def made_up(number: int, *, reposts: bool, seed: int = SEED) -> Iterator[New]:
    """Yield this many articles with their keys."""
    chance, words = random.Random(seed), Vocabulary()
    texts: list[str] = []
    for n in range(number):
        again = reposts and texts and n % REPOSTS == REPOSTS - 1
        text = chance.choice(texts) if again else "".join(words.draw(chance, BODY_WORDS))
        texts.append(text)
        url = f"https://site{n % 200}.example/{seed}/{n}.html"
        link = Link(url, f"feed:{n % 40}", topic=f"话题{n % 20}", summary="".join(words.draw(chance, 20)))
        title = "".join(words.draw(chance, TITLE_WORDS))
        published = NOW - timedelta(minutes=chance.randrange(60 * 24 * 30))
        article = Article(url, link, NOW, identity=url.partition("://")[2], title=title, text=text, published=published)
        yield article, fold_keys(title, text)


def written(store: Store, articles: Sequence[New], batch: int) -> str:
    """Articles a second by the clock, and by this process' time. Both run while they are stored, not while they are made."""
    began, used = time.perf_counter(), time.process_time()
    if batch == 1:
        for article, keys in articles:
            store.add(article, keys, now=NOW)
    else:
        for start in range(0, len(articles), batch):
            store.add_all(articles[start : start + batch], now=NOW)
    seconds, busy = time.perf_counter() - began, time.process_time() - used
    return f"{len(articles) / seconds:.0f} ({len(articles) / busy:.0f})"


def write(stores: Sequence[str], number: int, stack: ExitStack) -> None:
    servers = stack.enter_context(servers_of(Path(stack.enter_context(tempfile.TemporaryDirectory()))))
    print(f"| articles a second, {number} each | one by one | batches of {BATCH} | one by one, apart | batches, apart |")
    print("|---|---:|---:|---:|---:|")
    for name in stores:
        rates: list[str] = []
        for reposts, batch in ((True, 1), (True, BATCH), (False, 1), (False, BATCH)):
            articles = list(made_up(number, reposts=reposts))
            try:
                rates.append(fresh(servers, name, articles, batch))
            except pytest.skip.Exception as error:
                rates = [f"– ({error})"]
                break
        print(f"| {name} | " + " | ".join(rates) + " |", flush=True)


def fresh(servers: Servers, name: str, articles: Sequence[New], batch: int) -> str:
    """Write into an empty store."""
    if name == "sqlite":
        with tempfile.TemporaryDirectory() as folder, closing(open_store(f"sqlite:///{folder}/news.db")) as store:
            return written(store, articles, batch)
    with servers.database(name) as database, closing(open_store(database.uri)) as store:
        return written(store, articles, batch)


def move(number: int, stack: ExitStack) -> bool:
    """Copy through every store; return whether each copy, and the last of all, was equal."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    servers = stack.enter_context(servers_of(folder))
    source = first = stack.enter_context(closing(open_store(f"sqlite:///{folder}/first.db")))
    articles = list(made_up(number, reposts=True))
    for start in range(0, number, BATCH):
        source.add_all(articles[start : start + BATCH], now=NOW)
    print("| to | rows | seconds | equal |\n|---|---:|---:|---|")
    equal, digests = True, []
    for name in WAY:
        uri = f"sqlite:///{folder}/last.db" if name == "sqlite" else stack.enter_context(servers.database(name)).uri
        target = stack.enter_context(closing(open_store(uri)))
        began = time.perf_counter()
        done = copy(source, target)
        seconds = time.perf_counter() - began
        digests.append([(table.table, table.digest, table.digest_there) for table in done.tables])
        equal = equal and done.equal
        print(f"| {name} | {done.written} | {seconds:.1f} | {'yes' if done.equal else 'NO'} |", flush=True)
        source = target
    same = [row[1] for row in digests[0]] == [row[2] for row in digests[-1]]
    print(f"\nthe last store holds what the first one held: {'yes' if same else 'NO'} ({first.tally().articles} articles)")
    return equal and same


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--part", choices=("write", "copy"), default="write")
    parser.add_argument("--number", type=int, default=None, help="articles (default: 2000 to write, 10000 to copy)")
    parser.add_argument("--stores", nargs="+", choices=STORES, default=STORES)
    options = parser.parse_args()
    with ExitStack() as stack:
        if options.part == "copy":
            return 0 if move(options.number or 10_000, stack) else 1
        write(options.stores, options.number or 2_000, stack)
    return 0


if __name__ == "__main__":
    sys.exit(main())
