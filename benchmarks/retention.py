"""Whether a portal with ``retention`` stays as large and as quick as it was: ``python benchmarks/retention.py [--daily 300] [--days 450]``.

Days pass as fast as the store takes them: each brings ``--daily`` made-up articles (those of ``storage.py``, every fourth a repost), the
index follows, and a night's ``prune`` deletes what is older than ``--kept``. A row at intervals of days: rows, bytes of the files, and
the longest of ten latencies. Names of deleted articles are kept for a year, so all is level from that day and ``--kept`` on.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from itertools import islice
from pathlib import Path

from search import Vocabulary
from storage import BATCH, NOW, made_up  # says where the tests are

from factories import empty_accounts  # isort: skip

from newsportal.portal.reading.front_cache import query_front
from newsportal.search import open_index
from newsportal.search.base import Query
from newsportal.services.retention import prune
from newsportal.sources.parts import Retention
from newsportal.store import open_store
from newsportal.store.records import BY_NAME

TIMES = 10
COLUMNS = ("day", "articles", "changes", "store MB", "index MB", "front page ms", "search ms", "prune s")


def longest(ask: Callable[[], object]) -> float:
    """Return the longest duration of ``TIMES`` calls, in milliseconds."""
    found = []
    for _ in range(TIMES):
        began = time.perf_counter()
        ask()
        found.append(time.perf_counter() - began)
    return max(found) * 1000


def live(folder: Path, *, daily: int, days: int, kept: int, every: int) -> None:
    chance, words = random.Random(1), Vocabulary()
    articles, retention = made_up(daily * days, reposts=True), Retention(articles=kept)
    with (
        closing(open_store(f"sqlite:///{folder}/news.db")) as store,
        closing(open_index(f"sqlite:///{folder}/index.db")) as index,
        closing(empty_accounts(folder / "accounts.db")) as accounts,
    ):
        for day in range(1, days + 1):
            moved = timedelta(days=day)
            now = NOW + moved
            new = [
                (replace(article, fetched=now, published=article.published + moved if article.published else None), keys)
                for article, keys in islice(articles, daily)
            ]
            for start in range(0, daily, BATCH):
                store.add_all(new[start : start + BATCH], now=now)
            while index.follow(store):
                pass
            began = time.perf_counter()
            prune(store, accounts, retention, alpha=0.5, now=now)
            night = time.perf_counter() - began
            while index.follow(store):
                pass
            if day % every:
                continue
            first = longest(lambda: query_front(store, ["话题1", "话题2"], {}, now, by_rank=False))  # noqa: B023  asked at once
            search = longest(lambda: index.search(Query("".join(words.draw(chance, 1)))))
            with store.records.reading() as look:
                changes = sum(1 for _ in look.rows(BY_NAME["changes"]))
            sizes = [sum(file.stat().st_size for file in folder.glob(f"{name}.db*")) / 1e6 for name in ("news", "index")]
            row = (day, store.tally().articles, changes, *(f"{figure:.1f}" for figure in (*sizes, first, search)), f"{night:.2f}")
            print("| " + " | ".join(map(str, row)) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--daily", type=int, default=300, help="articles a day")
    parser.add_argument("--days", type=int, default=450)
    parser.add_argument("--kept", type=int, default=30, help="days that articles are kept")
    parser.add_argument("--every", type=int, default=30, help="days between two rows")
    options = parser.parse_args()
    print(f"| {' | '.join(COLUMNS)} |\n|{'---:|' * len(COLUMNS)}")
    with tempfile.TemporaryDirectory() as folder:
        live(Path(folder), daily=options.daily, days=options.days, kept=options.kept, every=options.every)


if __name__ == "__main__":
    main()
