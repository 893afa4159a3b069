"""Classification compared with scikit-learn's: articles per second on one core, with and without segmentation and keywords.

python benchmarks/classify.py FOLDER    (with train.jsonl.gz and test.jsonl.gz, see docs/commands.md, evaluate classify)
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time

from newsportal.classify.base import Example, train
from newsportal.classify.keywords import keywords
from newsportal.text import segment
from newsportal_lab.evaluate import classify
from newsportal_lab.evaluate.classify import read_examples

ASKED = 1000


def rate(look: Callable[[Sequence[str]], object], texts: Sequence[str]) -> float:
    look(texts[:5])
    start = process_time()
    look(texts)
    return len(texts) / (process_time() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--learn", type=int, default=1000, help="examples that are learnt from")
    options = parser.parse_args()
    learnt: list[Example] = read_examples(options.folder, "train")
    learnt = learnt[:: max(1, len(learnt) // options.learn)]
    examples = read_examples(options.folder, "test")
    texts = [example.text for example in examples[:: max(1, len(examples) // ASKED)]]
    print(
        f"{len(learnt)} learnt, {len(texts)} asked, {sum(map(len, texts)) / len(texts):.0f} characters on average; texts a second, one core"
    )
    model = train("linear", learnt)
    print(f"{'linear':40}{rate(lambda texts: [model.classify('', text) for text in texts], texts):9.0f}")
    print(f"{'cutting into words':40}{rate(lambda texts: [segment(text) for text in texts], texts):9.0f}")
    print(f"{'keywords':40}{rate(lambda texts: [keywords('', text) for text in texts], texts):9.0f}")
    all_steps = rate(lambda texts: [(model.classify("", text), segment(text), keywords("", text)) for text in texts], texts)
    print(f"{'linear, words and keywords':40}{all_steps:9.0f}")
    for name in classify.PEERS:
        predict = classify.train(name, [example.text for example in learnt], [example.labels[0] for example in learnt])
        print(f"{name:40}{rate(predict, texts):9.0f}")


if __name__ == "__main__":
    main()
