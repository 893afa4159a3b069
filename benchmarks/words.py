"""Comparison of segmenters: start, memory, MB/s, the share of boundaries in common with jieba; and the cost of words per article.

    python benchmarks/words.py CORPUS.jsonl.gz [--documents 400] [--engines jieba rjieba jieba_fast fmm]

CORPUS has one document a line, {"text"}. Each segmenter runs in a process of its own. Those that are not installed are left out.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import json
import multiprocessing
import resource
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

from newsportal.classify.keywords import keywords
from newsportal.search.words import grams, index_words, runs
from newsportal.text import segment
from newsportal.text.words import forward_maximum, open_cutter

Cut = Callable[[str], Iterable[str]]
OURS = ("jieba", "rjieba")
ENGINES = ("jieba", "rjieba", "jieba_fast", "jieba_next", "jieba_fast_dat", "fmm")


def opened(name: str) -> Cut:
    """Return our segmenter through our own interface, others as they are. Raises ``ImportError``."""
    if name in OURS:
        return open_cutter(engine=name).cut
    if name == "fmm":
        return forward_maximum
    module = importlib.import_module(name)
    if hasattr(module, "setLogLevel"):
        module.setLogLevel(60)
    cut: Cut = module.cut
    return cut


def boundaries(words: Iterable[str]) -> set[int]:
    """Return the ends of words, counted in characters that are not white space (which forward matching omits)."""
    place, ends = 0, set()
    for word in words:
        place += len("".join(word.split()))
        ends.add(place)
    return ends


def measured(name: str, texts: list[str]) -> tuple[float, float, float, list[set[int]]] | None:
    """Return the seconds to start, the MB of additional memory, the MB of text per second (best of three), and the boundaries."""
    warnings.simplefilter("ignore")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.perf_counter()
    try:
        cut = opened(name)
    except ImportError:
        return None
    list(cut("我们今天出发"))
    start = time.perf_counter() - begin
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) / 1024
    size, best = sum(len(text.encode("utf-8", "replace")) for text in texts) / 1e6, float("inf")
    for _ in range(3):
        begin = time.perf_counter()
        words = [list(cut(text)) for text in texts]
        best = min(best, time.perf_counter() - begin)
    return start, grown, size / best, [boundaries(cuts) for cuts in words]


def agreement(cuts: list[set[int]], other: list[set[int]]) -> float:
    """Return the F1 score of the boundaries of two segmenters."""
    common = sum(len(first & second) for first, second in zip(cuts, other, strict=True))
    return 2 * common / max(1, sum(map(len, cuts)) + sum(map(len, other)))


def costs(texts: list[str]) -> None:
    """Print the cost of words per article, step by step."""
    parts: dict[str, Callable[[str], object]] = {
        "segment": segment,
        "words of the index": lambda text: list(index_words(runs(text))),
        "characters and pairs of the index": lambda text: grams(runs(text)),
        "keywords": lambda text: keywords("", text),
    }
    for name, part in parts.items():
        part(texts[0])
        best = float("inf")
        for _ in range(3):
            begin = time.process_time()
            for text in texts:
                part(text)
            best = min(best, time.process_time() - begin)
        print(f"{name:36} {1000 * best / len(texts):6.2f} ms an article")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--documents", type=int, default=400)
    parser.add_argument("--engines", nargs="+", default=ENGINES)
    options = parser.parse_args()
    with gzip.open(options.corpus, "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for _, line in zip(range(options.documents), lines, strict=False)]
    print(f"{len(texts)} documents, {sum(map(len, texts)) / len(texts):.0f} characters each")
    by_jieba: list[set[int]] | None = None
    print(f"{'segmenter':16} {'start s':>8} {'MB':>6} {'MB/s':>7} {'as jieba':>9}")
    for name in options.engines:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            figures = pool.apply(measured, (name, texts))
        if figures is None:
            print(f"{name:16} is not installed")
            continue
        start, memory, speed, ends = figures
        by_jieba = ends if name == "jieba" else by_jieba
        same = f"{100 * agreement(ends, by_jieba):8.2f}%" if by_jieba else "?"
        print(f"{name:16} {start:8.2f} {memory:6.0f} {speed:7.2f} {same:>9}")
    costs(texts)


if __name__ == "__main__":
    main()
