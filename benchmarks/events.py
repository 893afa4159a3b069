"""The cost of assigning a story to an event in a growing store, and the memory of the clusters.

    python benchmarks/events.py [--stories 100000] [CORPUS.jsonl.gz]

The stories are made of keywords: each has forty, drawn by Zipf's law from a vocabulary of 200,000 and weighed by their rarity; every third
continues one of the last 2,000 stories with half of its words. With CORPUS (id, title, text, published a line) the keywords of true texts
are timed beside.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import resource
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from math import log
from pathlib import Path

from newsportal.events import EventClusters, Story
from newsportal.services.events.following import story_of

WORDS, TERMS, RECENT = 200_000, 40, 2_000
START = datetime(2026, 1, 1, tzinfo=UTC)


def made(number: int, chance: random.Random) -> Iterator[Story]:
    last: list[dict[str, float]] = []
    for at in range(number):
        ranks = [int(WORDS ** chance.random()) for _ in range(TERMS)]
        terms = {f"词{rank}": log(1 + rank) + chance.random() for rank in ranks}
        if last and at % 3 == 0:
            continued = chance.choice(last)
            terms = dict(list(continued.items())[: TERMS // 2]) | dict(list(terms.items())[: TERMS // 2])
        last = [*last[-RECENT:], terms]
        yield Story(str(at), f"标题{at}", START + timedelta(minutes=at), terms, frozenset({f"地{chance.randrange(500)}"}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stories", type=int, default=100_000)
    parser.add_argument("corpus", nargs="?", type=Path)
    arguments = parser.parse_args()
    clusters, step = EventClusters(), max(1, arguments.stories // 10)
    spent, begin = 0.0, time.process_time()
    for number, story in enumerate(made(arguments.stories, random.Random(1)), 1):
        before = time.process_time()
        clusters.add(story)
        spent += time.process_time() - before
        if number % step == 0:
            size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
            print(f"{number:>8,} stories {len(clusters):>8,} events {1000 * spent / step:6.2f} ms a story {size:7.1f} MiB", flush=True)
            spent = 0.0
    print(f"all of it, with the making of the stories: {time.process_time() - begin:.0f} s of processor time")
    if arguments.corpus is not None:
        rows = [json.loads(line) for line in gzip.decompress(arguments.corpus.read_bytes()).splitlines()]
        begin = time.process_time()
        for row in rows:
            story_of(str(row["id"]), row["title"], row["text"], None)
        print(f"keywords of {len(rows):,} texts: {1000 * (time.process_time() - begin) / len(rows):.2f} ms a story")


if __name__ == "__main__":
    main()
