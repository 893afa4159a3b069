"""Folding compared with MinHash LSH and winnowing: documents per second, memory, bytes per document, on made-up news.

    python benchmarks/dedup.py CORPUS/docs.jsonl.gz --documents 10000 100000 [--finders judge datasketch winnowing]

Documents are made in memory (seed fixed) by a chain of the corpus' words, each followed by a word that follows it there, so that phrases
come again as often as in news: the share of runs of six letters that five and more documents hold is printed for both. One document in
five is an earlier one with a changed title, a lead, a tail or dropped sentences. Each finder runs in a process of its own, one after the
other. ``datasketch`` is left out where it is not installed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import random
import resource
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from zlib import crc32

import numpy as np

from newsportal.dedup.document import Document
from newsportal.dedup.fingerprints import fingerprint
from newsportal.dedup.judge import Judge
from newsportal.text import letters, segment

LENGTH = 700
"""Approximate characters of a made-up document; the corpus' own have 770."""

ENDS = frozenset(["。", "！", "？", ""])

Look = Callable[[Document], object]


Chain = dict[str, list[str]]
"""Map each word to the words that follow it in the corpus, with their frequencies; the empty word begins and ends a sentence."""


def bodies(file: Path) -> list[str]:
    """Return one text of each cluster."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        first = {document["cluster"]: document["body"] for document in map(json.loads, lines)}
    return list(first.values())


def chain(texts: list[str]) -> Chain:
    follows: defaultdict[str, list[str]] = defaultdict(list)
    for line in (line for text in texts for line in text.splitlines()):
        words = ["", *segment(line), ""]
        for word, following in pairwise(words):
            follows[word].append(following)
    return dict(follows)


def sentence(follows: Chain, chance: random.Random) -> str:
    """Return a random sentence, cut after about ``LENGTH`` characters if it has not ended."""
    words, word, length = [], "", 0
    while length < LENGTH:
        word = chance.choice(follows[word])
        words.append(word)
        length += len(word)
        if word in ENDS:
            break
    return "".join(words)


def documents(follows: Chain, number: int, seed: int = 1) -> Iterator[Document]:
    """The same for every finder."""
    chance, start, earlier = random.Random(seed), datetime(2024, 3, 1, tzinfo=UTC), []
    for at in range(number):
        if earlier and chance.random() < 0.2:
            sentences = list(chance.choice(earlier))
            del sentences[chance.randrange(len(sentences))]
            sentences = ["本报讯（记者 周明）", *sentences, f"责任编辑：{chance.choice('赵钱孙李')}"]
        else:
            sentences, length = [], 0
            while length < LENGTH or len(sentences) < 2:
                sentences.append(sentence(follows, chance))
                length += len(sentences[-1])
            if len(earlier) < 2000:
                earlier.append(sentences)
            else:
                earlier[chance.randrange(2000)] = sentences
        title = sentences[len(sentences) // 2][:20]
        yield Document(str(at), "", title, "\n".join(sentences), start + timedelta(seconds=20 * at))


def common(texts: Iterable[str]) -> float:
    """Return the share of the texts' sampled runs that occur in five or more of them."""
    runs = np.concatenate([fingerprint(text).runs for text in texts])
    _, counts = np.unique(runs, return_counts=True)
    return float(counts[counts >= 5].sum() / len(runs))


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
        similar = index.query(sketch)
        index.insert(document.id, sketch)
        return similar

    return look


def winnowing() -> Look:
    """Runs of ten letters, the smallest hash of every eight (Schleimer et al. 2003), a dict of lists, containment at 0.5."""
    index: defaultdict[int, list[int]] = defaultdict(list)
    sizes: list[int] = []

    def look(document: Document) -> object:
        text = letters(document.text)
        hashes = [crc32(text[at : at + 10].encode()) for at in range(max(1, len(text) - 9))]
        selected = {min(hashes[at : at + 8]) for at in range(max(1, len(hashes) - 7))}
        shared = Counter(number for value in selected for number in index[value][-64:])
        repeats = [number for number, count in shared.most_common(5) if count >= 0.5 * min(len(selected), sizes[number])]
        for value in selected:
            index[value].append(len(sizes))
        sizes.append(len(selected))
        return repeats

    return look


FINDERS: dict[str, Callable[[], Look]] = {"judge": judge, "datasketch": datasketch, "winnowing": winnowing}


def measure(name: str, corpus: Path, number: int, channel: multiprocessing.Queue) -> None:
    follows = chain(bodies(corpus))
    fingerprint("预备"), letters("预备")  # tables that are loaded once
    look = FINDERS[name]()
    look(Document("warm", "", "预备", "预备的一句话"))
    before, seconds = resident(), 0.0
    for document in documents(follows, number):
        start = time.process_time()
        look(document)
        seconds += time.process_time() - start
    growth = resident() - before
    channel.put((number / seconds, growth, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def resident() -> int:
    """Return the resident memory of this process in bytes (Linux)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--documents", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--finders", nargs="+", choices=FINDERS, default=list(FINDERS))
    options = parser.parse_args()
    texts = bodies(options.corpus)
    generated = (document.text for document in documents(chain(texts), len(texts)))
    print(f"runs held by five and more of {len(texts)} documents: corpus {common(texts):.3f}, made up {common(generated):.3f}")
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
            rate, growth, peak = channel.get()
            print(f"{name:12}{number:>10}{rate:>13.0f}{growth / 2**20:>9.0f}{growth / number:>12.0f}{peak:>9.0f}", flush=True)


if __name__ == "__main__":
    main()
