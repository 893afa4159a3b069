"""The filter of known URLs: insertions and look-ups per second, bytes per URL, false positives; compared with a set, SETBIT and rbloom.

    python benchmarks/bloom.py [1000000] [--capacity 100000] [--redis redis://127.0.0.1:6379/9]

``--redis`` needs a Redis whose database may be used (the filter's keys alone are written, and removed). ``rbloom`` is left out where it
is not installed. Names are made up: half are entered, the other half must not be found.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from itertools import islice
from typing import Any

from newsportal.dedup.bloom import ERROR_RATE, INITIAL_CAPACITY, UrlBloom
from newsportal.dedup.bloom_redis import RedisBloom, first_hashes, hashes_of, shape

PAGE = 100
"""URLs on a list page: the size of one look-up of the crawl."""


def names(number: int, kind: str) -> Iterator[str]:
    return (f"site{at % 997}.example/{kind}/2026/{at % 12 + 1:02d}/{at * 7919}.html" for at in range(number))


def pages(all_names: Iterable[str]) -> Iterator[list[str]]:
    rest = iter(all_names)
    while page := list(islice(rest, PAGE)):
        yield page


def row(name: str, number: int, enter: Callable[[list[str]], Any], ask: Callable[[list[str]], int], size: Callable[[], float]) -> str:
    began = time.perf_counter()
    for page in pages(names(number, "in")):
        enter(page)
    entered = time.perf_counter()
    hits = sum(ask(page) for page in pages(names(number, "in")))
    found = time.perf_counter()
    wrong = sum(ask(page) for page in pages(names(number, "out")))
    missed = time.perf_counter()
    if hits != number:
        raise SystemExit(f"{name} lost {number - hits} names")
    rates = [number / (entered - began), number / (found - entered), number / (missed - found)]
    return f"| {name} | " + " | ".join(f"{rate:,.0f}" for rate in rates) + f" | {size() / number:.1f} | {wrong / number:.1e} |"


def local(number: int, capacity: int) -> str:
    bloom = UrlBloom(capacity=capacity)
    return row("local, pybloom-live, grows", number, bloom.add, lambda page: len(bloom.candidates(page)), lambda: bloom.fill().bytes)


def shared(number: int, capacity: int, client: Any) -> str:
    bloom = RedisBloom(client, key="newsportal:benchmark", capacity=capacity)
    bloom.clear()
    bloom.open()
    result = row("Redis, a script a page, grows", number, bloom.add, lambda page: len(bloom.candidates(page)), lambda: bloom.fill().bytes)
    bloom.clear()
    return result


def plain(number: int, client: Any) -> str:
    """SETBIT and GETBIT one by one in a pipeline, on one filter of the right size, as the thesis describes it."""
    _, bits, hashes = shape(0, number, first_hashes(ERROR_RATE) - 1)
    key = "newsportal:benchmark:plain"
    client.delete(key)

    def sent(page: list[str], command: str, *more: int) -> list[int]:
        pipe = client.pipeline(transaction=False)
        for name in page:
            first, second = hashes_of(name)
            for n in range(hashes):
                pipe.execute_command(command, key, (first + n * second) % bits, *more)
        return pipe.execute()

    def ask(page: list[str]) -> int:
        answers = sent(page, "GETBIT")
        return sum(all(answers[at : at + hashes]) for at in range(0, len(answers), hashes))

    result = row("Redis, SETBIT and GETBIT in a pipeline, one filter", number, lambda page: sent(page, "SETBIT", 1), ask, lambda: bits / 8)
    client.delete(key)
    return result


def rbloom(number: int) -> str:
    from rbloom import Bloom

    bloom = Bloom(number, ERROR_RATE)
    return row(
        "rbloom, of the right size", number, bloom.update, lambda page: sum(name in bloom for name in page), lambda: bloom.size_in_bits / 8
    )


def exact(number: int) -> str:
    stored: set[str] = set()

    def size() -> float:
        return sys.getsizeof(stored) + sum(sys.getsizeof(name) for name in islice(stored, 1000)) * len(stored) / 1000

    return row("a set of Python", number, stored.update, lambda page: len(stored.intersection(page)), size)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="?", type=int, default=1_000_000)
    parser.add_argument("--capacity", type=int, default=INITIAL_CAPACITY)
    parser.add_argument("--redis", help="redis://HOST:PORT/DATABASE")
    options = parser.parse_args()
    print(f"{options.names:,} names, error rate {ERROR_RATE:g}, capacity {options.capacity:,} at first, {PAGE} names a call\n")
    print("| | entered a second | found a second | not found a second | bytes a name | false positives |\n|---|---|---|---|---|---|")
    print(local(options.names, options.capacity), flush=True)
    if find_spec("rbloom"):
        print(rbloom(options.names), flush=True)
    print(exact(options.names), flush=True)
    if options.redis:
        import redis

        client = redis.Redis.from_url(options.redis)
        print(shared(options.names, options.capacity, client), flush=True)
        print(plain(options.names // 10, client), "(a tenth of the names)")


if __name__ == "__main__":
    main()
