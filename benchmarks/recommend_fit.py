"""The cost of storing views and of learning from them: recording, streaming, the fit on this machine and on Spark, and an answer.

    python benchmarks/recommend_fit.py --stories 100000 --readers 10000 --views 1000000 [--spark 'local[2]'] [--keep news.db]

A store in a file is filled with made-up stories and views: each reader has a few topics, and a few stories are looked at by very many.
Then each step is timed (by the clock, and by the processor: this process alone, without Spark's), and the answers of both fits are compared
for a hundred readers.
"""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from sqlalchemy import insert

from newsportal.items import Article, Link, content_id
from newsportal.recommend import best
from newsportal.recommend.base import View
from newsportal.services.recommending import parts
from newsportal.services.recommending.serving import Recommender
from newsportal.sources.parts import Recommending
from newsportal.store import open_store
from newsportal.store.article_rows import row_of
from newsportal.store.dialects import writing
from newsportal.store.folding import heat
from newsportal.store.store import Store
from newsportal.store.tables import ARTICLES, LABELS, STORIES

NOW = datetime(2026, 3, 5, 4, tzinfo=UTC)
DAYS = 30
TOPICS = 40
WORDS = 6000
ASKED = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("stories", 100_000), ("readers", 10_000), ("views", 1_000_000)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--spark", metavar="MASTER")
    parser.add_argument("--keep", type=Path, help="the store's file; one that is there is used as it is")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = options.keep or Path(folder) / "news.db"
        exists = file.exists()
        uri = f"sqlite:///{file.absolute()}"
        store = open_store(uri)
        assert isinstance(store, Store)
        if not exists:
            timed("fill stories", lambda: fill(store, options.stories))
            timed("import views", lambda: store.readers.import_views(views(options), now=NOW))
        report(store, uri, options.spark, file)
        store.close()


def report(store: Store, uri: str, master: str | None, file: Path) -> None:
    print(f"{store.readers.counts()} views, readers; {file.stat().st_size / 1e6:.0f} MB")
    ids = [story.story for story, _ in zip(store.readers.stories(NOW - timedelta(days=DAYS)), range(1000), strict=False)]
    each("record one view", lambda number: store.readers.record_view(f"new{number % 50}", ids[number], [1], pictures=8, now=NOW), 1000)
    timed("stream views", lambda: sum(1 for _ in store.readers.views()))
    timed("months", lambda: store.readers.months(alpha=0.532))
    timed("ages", lambda: store.readers.ages(hours=48))
    embedded = timed("fit, embedded", lambda: parts.fit(store, NOW, days=DAYS))
    print(f"  {len(embedded.model) / 1e6:.1f} MB packed")
    serve(store)
    if master:
        from newsportal.services import spark

        on_spark = timed(f"fit, {master}", lambda: spark.fit(store, uri, master, NOW, days=DAYS))
        compare(store, embedded.model, on_spark.model)


def serve(store: Store) -> None:
    recommender = Recommender(store, Recommending(days=DAYS))
    timed("load the fit, and what is new", lambda: recommender.refresh(NOW))
    each("answer a reader", lambda number: recommender.recommended(f"reader{number}", NOW, 20), ASKED)
    each("answer a new reader", lambda _: recommender.recommended(None, NOW, 20), 10)


def compare(store: Store, first: bytes, other: bytes) -> None:
    models = [best.unpack(packed) for packed in (first, other)]
    same, furthest = 0, 0.0
    for number in range(ASKED):
        history = store.readers.history(f"reader{number}")
        mine, its = (model.recommend(history, NOW, 20, reader=f"reader{number}") for model in models)
        same += [found.story for found in mine] == [found.story for found in its]
        furthest = max([furthest, *(abs(a.score - b.score) for a, b in zip(mine, its, strict=True))])
    print(f"same twenty stories in the same order for {same} of {ASKED} readers; scores differ by {furthest:.1e} at most")


def timed(label: str, step: Callable[[], Any]) -> Any:
    began, cpu = time.perf_counter(), time.process_time()
    answer = step()
    elapsed, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{label}: {elapsed:.1f} s, {cpu_seconds:.1f} s of the processor (peak memory so far {peak:.0f} MB)", flush=True)
    return answer


def each(label: str, step: Callable[[int], Any], number: int) -> None:
    times = []
    for place in range(number):
        began = time.perf_counter()
        step(place)
        times.append((time.perf_counter() - began) * 1e3)
    print(f"{label}: median {median(times):.2f} ms, p95 {quantiles(times, n=20)[-1]:.2f} ms", flush=True)


def fill(store: Store, number: int) -> None:
    """Insert single-article stories, as the store would write them, without the search for reposts."""
    chance = random.Random(1)
    words = ["".join(chr(0x4E00 + chance.randrange(3000)) for _ in range(2)) for _ in range(WORDS)]
    for start in range(0, number, 5000):
        articles = [_article(chance, words, place) for place in range(start, min(number, start + 5000))]
        rows = [{**row_of(article, now=article.published or NOW), "story_id": name(place)} for place, article in enumerate(articles, start)]
        with writing(store._engine) as connection:
            connection.execute(insert(STORIES), [_story(row) for row in rows])
            connection.execute(insert(ARTICLES), rows)
            connection.execute(insert(LABELS), [label for place, row in enumerate(rows, start) for label in _labels(place, row)])


def name(place: int) -> str:
    return content_id(identity(place))


def identity(place: int) -> str:
    return f"news.example/{place}"


def _article(chance: random.Random, words: list[str], place: int) -> Article:
    offset = place % TOPICS * (WORDS // TOPICS)
    title = "".join(words[(offset + chance.randrange(WORDS // TOPICS)) % WORDS] for _ in range(6))
    link = Link(f"https://{identity(place)}", f"feed:{place % 200}")
    at = NOW - timedelta(days=DAYS) * chance.random()
    return Article(link.url, link, at, identity=identity(place), title=title, text=title + "。" + "文" * 300, published=at)


def _story(row: dict[str, Any]) -> dict[str, Any]:
    figures = {"count": 1, "sites": 1, "first_seen": row["first_seen"], "last_seen": row["first_seen"], "moment": row["moment"]}
    return {"id": row["id"], "head_id": row["id"], **figures, "heat": heat([(row["moment"], "x")])}


def _labels(place: int, row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for kind, value in (("topic", f"t{place % TOPICS}"), ("source", row["source"])):
        yield {"story_id": row["id"], "kind": kind, "value": value, "moment": row["moment"], "heat": 0.0}


def views(options: argparse.Namespace) -> Iterator[View]:
    """Yield views: readers like three topics, and view what is popular there soon after it appeared."""
    chance = random.Random(2)
    for number in range(options.views):
        reader = int(options.readers * chance.random() ** 1.5)
        topic = (reader * 7 + int(3 * chance.random() ** 2)) % TOPICS
        place = topic + TOPICS * int(options.stories // TOPICS * chance.random() ** 2)
        at = NOW - timedelta(days=DAYS) * chance.random() ** 2
        yield View(f"reader{reader}", identity(min(place, options.stories - 1)), 1 + chance.randrange(8), 8, at)
        if number % 100_000 == 0:
            print(f"  {number} views", flush=True)


if __name__ == "__main__":
    main()
