"""Folding beside MinHash LSH and plain winnowing: documents a second, memory, bytes a document, on made-up news.

    python benchmarks/dedup.py CORPUS/docs.jsonl.gz --documents 10000 100000 [--finders judge datasketch winnowing]

Documents are mixed from the corpus' sentences in memory (seed fixed): four in five are new, one in five is an earlier one with a
changed title, a lead, a tail or dropped sentences. Each finder runs in a process of its own, one after the other. ``datasketch`` is
left out where it is not installed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import random
import re
import resource
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zlib import crc32

from newsportal.dedup.document import Document
from newsportal.dedup.fingerprints import fingerprint
from newsportal.dedup.judge import Judge
from newsportal.text import letters

SENTENCE = re.compile(r"[^。！？\n]{12,}[。！？]")
LENGTH = 700
"""Characters of a made-up document, about; the corpus' own have 770."""

Look = Callable[[Document], object]


def sentences(file: Path) -> list[str]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        found = {sentence for line in lines for sentence in SENTENCE.findall(json.loads(line)["body"])}
    return sorted(found)


def documents(stock: list[str], number: int, seed: int = 1) -> Iterator[Document]:
    """The same for every finder. Words of a sentence are exchanged with another's end, so that sentences seldom come twice."""
    chance, start, earlier = random.Random(seed), datetime(2024, 3, 1, tzinfo=UTC), []
    for at in range(number):
        if earlier and chance.random() < 0.2:
            told = list(chance.choice(earlier))
            del told[chance.randrange(len(told))]
            told = ["本报讯（记者 周明）", *told, f"责任编辑：{chance.choice('赵钱孙李')}"]
        else:
            told, length = [], 0
            while length < LENGTH:
                one, other = chance.choice(stock), chance.choice(stock)
                cut = chance.randrange(len(one))
                told.append(one[:cut] + other[min(cut, len(other) // 2) :])
                length += len(told[-1])
            if len(earlier) < 2000:
                earlier.append(told)
            else:
                earlier[chance.randrange(2000)] = told
        title = told[len(told) // 2][:20]
        yield Document(str(at), "", title, "\n".join(told), start + timedelta(seconds=20 * at))


def judge() -> Look:
    return Judge().judge


def datasketch() -> Look:
    """MinHash of 128 permutations over runs of five letters, LSH at 0.5."""
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(threshold=0.5, num_perm=128)

    def look(document: Document) -> object:
        text = letters(document.text)
        sketch = MinHash(num_perm=128)
        sketch.update_batch({text[at : at + 5].encode() for at in range(max(1, len(text) - 4))})
        found = index.query(sketch)
        index.insert(document.id, sketch)
        return found

    return look


def winnowing() -> Look:
    """Runs of ten letters, the smallest hash of every eight (Schleimer et al. 2003), a dict of lists, containment at 0.5."""
    index: defaultdict[int, list[int]] = defaultdict(list)
    sizes: list[int] = []

    def look(document: Document) -> object:
        text = letters(document.text)
        hashes = [crc32(text[at : at + 10].encode()) for at in range(max(1, len(text) - 9))]
        kept = {min(hashes[at : at + 8]) for at in range(max(1, len(hashes) - 7))}
        shared = Counter(number for one in kept for number in index[one][-64:])
        found = [number for number, count in shared.most_common(5) if count >= 0.5 * min(len(kept), sizes[number])]
        for one in kept:
            index[one].append(len(sizes))
        sizes.append(len(kept))
        return found

    return look


FINDERS: dict[str, Callable[[], Look]] = {"judge": judge, "datasketch": datasketch, "winnowing": winnowing}


def measure(name: str, corpus: Path, number: int, channel: multiprocessing.Queue) -> None:
    stock = sentences(corpus)
    fingerprint("预备"), letters("预备")  # tables that are loaded once
    look = FINDERS[name]()
    look(Document("warm", "", "预备", stock[0]))
    before, took = resident(), 0.0
    for document in documents(stock, number):
        start = time.process_time()
        look(document)
        took += time.process_time() - start
    held = resident() - before
    channel.put((number / took, held, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def resident() -> int:
    """Bytes of this process in memory (Linux)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("corpus", type=Path)
    asked.add_argument("--documents", type=int, nargs="+", default=[10_000, 100_000])
    asked.add_argument("--finders", nargs="+", choices=FINDERS, default=list(FINDERS))
    options = asked.parse_args()
    print(f"{'finder':12}{'documents':>10}{'documents/s':>13}{'MB more':>9}{'bytes each':>12}{'MB peak':>9}")
    for number in options.documents:
        for name in options.finders:
            channel: multiprocessing.Queue = multiprocessing.Queue()
            process = multiprocessing.Process(target=measure, args=(name, options.corpus, number, channel))
            process.start()
            process.join()
            if process.exitcode:
                print(f"{name:12}{number:>10}{'not measured':>13}")
                continue
            rate, held, peak = channel.get()
            print(f"{name:12}{number:>10}{rate:>13.0f}{held / 2**20:>9.0f}{held / number:>12.0f}{peak:>9.0f}", flush=True)


if __name__ == "__main__":
    main()
