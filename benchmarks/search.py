"""Speed of the search index, in queries and building: ``python benchmarks/search.py [ARTICLES] [--keep FOLDER] [--elasticsearch URI]``.

20,000 articles by default; 1,000,000 take about half an hour on an idle machine, and 9 GB in FOLDER (else in the temporary folder) while
it runs. With ``--keep`` the index stays there, and another run queries it without building. With the URI of an Elasticsearch (as
``scripts/servers`` starts one) the same articles are indexed there and the same queries asked, in the same run.

Articles are made up: words of jieba's dictionary as often as the dictionary says, 12 to a title and 300 to a body (about 650
characters), spread over a year. Queries are of the kinds readers type: one word, two words, one character, a name, a phrase, a word within
a topic, a word by time, a long question; "the goal" is two words within a month, the newest 20 of them. Every answer has marked titles and
passages, and facets. No results are cached. Beside the clock's time stands the processor's (of this process), which leaves out what other
programs took of a busy machine.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from itertools import accumulate
from pathlib import Path
from typing import Any

from newsportal.items import content_id
from newsportal.search import open_index
from newsportal.search.base import Index, Query
from newsportal.store.results import Change, StoredArticle

SEED = 20260301
TITLE_WORDS, BODY_WORDS = 12, 300
QUERIES = 100  # of each kind
YEAR = timedelta(days=365)
START = datetime(2025, 3, 1, tzinfo=UTC)
MONTH = START + YEAR / 2
COMMON = 2_000  # ranks of the words that make common queries; the commonest 100 are particles nobody searches for
TOPICS = [f"话题{n}" for n in range(20)]
SITES = [f"site{n}.example" for n in range(200)]


class Vocabulary:
    """Words drawn as often as jieba's dictionary counts them."""

    def __init__(self) -> None:
        lines = (files("jieba") / "dict.txt").read_text(encoding="utf-8").splitlines()
        counts = sorted(((int(count), word) for word, count, *_ in map(str.split, lines)), reverse=True)
        self.words = [word for _, word in counts]
        self._sums = list(accumulate(count for count, _ in counts))

    def draw(self, chance: random.Random, number: int) -> list[str]:
        return chance.choices(self.words, cum_weights=self._sums, k=number)


class MadeUp:
    """The part of a store that an index needs."""

    def __init__(self, number: int, vocabulary: Vocabulary) -> None:
        self.number, self.vocabulary = number, vocabulary

    def last_seq(self) -> int:
        return self.number

    def changes(self, after: int = 0, limit: int = 1000) -> list[Change]:
        return []

    def all_articles(self, *, after: str | None = None) -> Iterator[StoredArticle]:
        chance = random.Random(SEED)
        for n in range(self.number):
            yield self._article(n, chance)

    def _article(self, n: int, chance: random.Random) -> StoredArticle:
        words = self.vocabulary.draw(chance, TITLE_WORDS + BODY_WORDS)
        body = words[TITLE_WORDS:]
        sentences = ["".join(body[at : at + 15]) + "。" for at in range(0, BODY_WORDS, 15)]
        moment = START + chance.random() * YEAR
        return StoredArticle(
            id=content_id(str(n)), story_id=content_id(str(n - n % 10 if n % 10 < 3 else n)), identity=str(n), url=f"https://site.example/{n}",
            title="".join(words[:TITLE_WORDS]), text="\n".join(sentences), first_seen=START + YEAR, fetched=moment, published=moment,
            source="feed:x", site=chance.choice(SITES), topics=(chance.choice(TOPICS),),
        )  # fmt: skip


def queries(vocabulary: Vocabulary) -> dict[str, list[Query]]:
    """Queries by kind."""
    chance = random.Random(SEED + 1)
    usual = [word for word in vocabulary.words[100 : 20 * COMMON] if len(word) > 1]

    def make(form: Callable[[], Query]) -> list[Query]:
        return [form() for _ in range(QUERIES)]

    def any_word() -> str:
        return chance.choice(usual)

    def common() -> str:
        return chance.choice(usual[:COMMON])

    return {
        "the goal": make(lambda: Query(f"{any_word()} {common()}", sort="time", since=MONTH, until=MONTH + timedelta(days=30))),
        "the goal, common words": make(lambda: Query(f"{common()} {common()}", sort="time", since=MONTH, until=MONTH + timedelta(days=30))),
        "a word": make(lambda: Query(any_word())),
        "a common word": make(lambda: Query(common())),
        "two words": make(lambda: Query(f"{any_word()} {common()}")),
        "two common words": make(lambda: Query(f"{common()} {common()}")),
        "one character": make(lambda: Query(chance.choice(any_word()))),
        "characters of no word": make(lambda: Query(any_word()[-1] + any_word()[0] + any_word()[0])),
        "a phrase": make(lambda: Query(f'"{any_word()}{common()}"')),
        "a word in a topic": make(lambda: Query(common(), topic=chance.choice(TOPICS))),
        "a word by time": make(lambda: Query(common(), sort="time")),
        "a word of one month": make(lambda: Query(common(), since=MONTH, until=MONTH + timedelta(days=30))),
        "a long question": make(lambda: Query("".join(vocabulary.draw(chance, 12)))),
        "a word of titles, not another": make(lambda: Query(f"title:{common()} -{common()}")),
    }


def ask(index: Index, inputs: Sequence[Any], question: Callable[[Any], Any] | None = None) -> list[tuple[float, float]]:
    """Milliseconds of each, on the clock and of the processor."""
    times = []
    for query in inputs:
        started, used = time.perf_counter(), time.process_time()
        (question or index.search)(query)
        times.append((1000 * (time.perf_counter() - started), 1000 * (time.process_time() - used)))
    return times


def row(name: str, times: list[tuple[float, float]]) -> str:
    clock, processor = (sorted(column) for column in zip(*times, strict=True))
    places = (len(times) // 2, int(len(times) * 0.95))
    return f"{name:32}" + "".join(f"{column[place]:10.1f}" for column in (clock, processor) for place in places)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("articles", nargs="?", type=int, default=20_000)
    parser.add_argument("--keep", type=Path, help="keep the index in this folder, and use it again when it is there")
    parser.add_argument("--elasticsearch", metavar="URI", help="an Elasticsearch to measure beside it (elasticsearch://127.0.0.1:9200)")
    options = parser.parse_args()
    vocabulary = Vocabulary()
    with tempfile.TemporaryDirectory() as scratch:
        measure(options.articles, f"sqlite:///{(options.keep or Path(scratch)) / f'index-{options.articles}.db'}", vocabulary)
    if options.elasticsearch:
        measure(options.articles, f"{options.elasticsearch.rstrip('/')}/benchmark_{options.articles}", vocabulary)


def measure(number: int, uri: str, vocabulary: Vocabulary) -> None:
    print(f"\n{uri.partition(':')[0]}, {number:,} articles")
    built(number, uri, vocabulary)
    index = open_index(uri)
    index.search(Query("热身"))
    print(f"{'milliseconds':32}{'p50':>10}{'p95':>10}{'p50 CPU':>10}{'p95 CPU':>10}")
    all_times: list[tuple[float, float]] = []
    for name, batch in queries(vocabulary).items():
        times = ask(index, batch)
        all_times += times
        print(row(name, times), flush=True)
    print(row("all", all_times))
    times = ask(index, typing(vocabulary), index.suggest)
    print(row("suggestions", times))
    index.close()


def built(number: int, uri: str, vocabulary: Vocabulary) -> None:
    """Build the index, unless it was kept; print the duration and size."""
    index = open_index(uri)
    if index.position() < number:
        store: Any = MadeUp(number, vocabulary)
        index.search(Query("热身"))  # the segmenter starts
        started, used = time.perf_counter(), time.process_time()
        index.rebuild(store, lambda done: print(f"\r{done:,} articles", end="", flush=True))
        seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - used
        print(f"\rbuilt in {seconds:.0f} s, {number / seconds:.0f} articles/s ({cpu_seconds:.0f} s of our processor)")
    index.close()  # SQLite writes back what is in its log
    index = open_index(uri)
    size = index.status().bytes or 0
    index.close()
    print(f"{size / 2**20:.0f} MiB, {size / number / 1024:.1f} KiB an article\n")


def typing(vocabulary: Vocabulary) -> list[str]:
    """Prefixes of queries: a character or two."""
    chance = random.Random(SEED + 2)
    return [chance.choice(vocabulary.words[100:COMMON])[: 1 + n % 2] for n in range(QUERIES)]


if __name__ == "__main__":
    main()
