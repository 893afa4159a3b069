"""Keywords compared with those that pages declare (a silver standard), and their duration.

    python benchmarks/keywords.py FOLDER...

FOLDER holds <id>.html.gz beside <id>.json with "title" and "text". Of ``<meta name="keywords">`` those count that are Chinese, two to
eight characters long and stand in title or text: publishers put the names of their sites there too, and many write what a program
found. So the figures tell methods apart, and are not the share of keywords that are good.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from newsportal.classify.keywords import Keyword, keywords, terms
from newsportal.text import CJK, normalise
from newsportal.text.encoding import decode
from newsportal_lab.keywords import textrank, tfidf

METHODS: dict[str, Callable[[str, str, int], tuple[Keyword, ...]]] = {
    "tfidf": tfidf,
    "textrank": textrank,
    "terms": terms,
    "weighted": keywords,
}
META = re.compile(r"""<meta[^>]+name=["']?(?:news_)?keywords["']?[^>]*>""", re.IGNORECASE)
CONTENT = re.compile(r"""content=["'](.*?)["']""", re.IGNORECASE | re.DOTALL)
MIN_TEXT = 150
TOP, MORE = 5, 10
ROUNDS = 3
"""The time is that of the best of so many."""

Page = tuple[str, str, set[str]]


def plain(text: str) -> str:
    return normalise(text).replace(" ", "")


def pages(folder: Path) -> Iterator[Page]:
    """Title, text and the page's own keywords."""
    for file in sorted(folder.glob("*.html.gz")):
        gold = json.loads(file.with_name(file.name.removesuffix(".html.gz") + ".json").read_text("utf-8"))
        title, text = gold.get("title") or "", gold.get("text") or ""
        meta = META.search(decode(gzip.decompress(file.read_bytes()))[0])
        content = CONTENT.search(meta[0]) if meta else None
        if content is None or len(text) <= MIN_TEXT:
            continue
        body = plain(f"{title}{text}")
        declared = {plain(word) for word in re.split(r"[,，、;；|\s]+", content[1])}
        expected = {word for word in declared if 2 <= len(word) <= 8 and word in body and CJK.search(word)}
        if expected:
            yield title, text, expected


def compared(method: Callable[[str, str, int], tuple[Keyword, ...]], examples: list[Page]) -> str:
    """Precision and recall of the first five, recall of the first ten, milliseconds of processor time a page."""
    hits = answered = relevant = 0
    recall = 0.0
    milliseconds, results = float("inf"), []
    for _ in range(ROUNDS):
        begin = time.process_time()
        results = [method(title, text, MORE) for title, text, _ in examples]
        milliseconds = min(milliseconds, 1000 * (time.process_time() - begin) / len(examples))
    answers = [[plain(keyword.word) for keyword in words] for words in results]
    for answer, (_, _, expected) in zip(answers, examples, strict=True):
        hits += len(expected & set(answer[:TOP]))
        answered += len(answer[:TOP])
        relevant += min(len(expected), TOP)
        recall += len(expected & set(answer)) / len(expected)
    return f"{100 * hits / answered:8.1f} {100 * hits / relevant:8.1f} {100 * recall / len(examples):8.1f} {milliseconds:8.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    examples = [page for folder in parser.parse_args().folders for page in pages(folder)]
    if not examples:
        parser.error("no page in these folders names keywords that stand in its text")
    print(f"{len(examples)} pages, {sum(len(expected) for *_, expected in examples) / len(examples):.1f} keywords each")
    print(f"{'method':12} {'P@5':>8} {'R@5':>8} {'R@10':>8} {'ms':>8}")
    for name, method in METHODS.items():
        method("预热", "预热", 1)
        print(f"{name:12} {compared(method, examples)}")


if __name__ == "__main__":
    main()
