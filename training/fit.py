"""Fit the block model of ``newsportal.extractors.article.best`` on pages with gold, and say how good it is on sites it has not seen.

    python -m training.fit DIR... --out newsportal/extractors/article/block_model.json      (pip install newsportal[training])

Each DIR holds ``<id>.html[.gz]`` beside ``<id>.json`` with ``text`` and ``url``; made-up pages (:mod:`training.pages`) are added.
Every block is an example: it is text if most of its characters stand in the gold text, in order. A block weighs by its share of its
page's text, so that long pages do not rule. Folds hold whole sites.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import numpy as np
from catboost import CatBoostClassifier
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq

from newsportal.errors import NotApplicable
from newsportal.extractors.article.best import longest_description
from newsportal.extractors.article.block_features import Table, block_features
from newsportal.extractors.article.blocks import Blocks, read_blocks
from newsportal.extractors.article.body import VERSION, BlockModel, choose_body, from_dict
from newsportal.extractors.fields import title
from newsportal.extractors.fields.metadata import read_metadata
from newsportal.items import Page
from newsportal.text import dom
from newsportal_lab.evaluate.scoring import squash
from training.pages import made_up_pages

SETTINGS: Final[Mapping[str, Any]] = {
    "iterations": 400,
    "depth": 4,
    "learning_rate": 0.08,
    "l2_leaf_reg": 20,
    "rsm": 0.3,
    "border_count": 48,
    "random_seed": 1,
    "allow_writing_files": False,
}
"""Depth 3 to 5, 400 to 800 trees and a stronger l2 score alike (within 0.2 points of F1)."""

MADE_UP: Final = 400
MADE_UP_WEIGHT: Final = 0.2
MADE_UP_SEED: Final = 11
"""Without made-up pages the model is as good on real ones, but fails on small and unusual pages."""

RUN: Final = 3
"""Shorter runs of common characters are chance."""

UNKNOWN: Final = "about:blank"  # the URL of pages without a known URL
MIN_SHARE: Final = 0.5
FOLDS: Final = 4
GOOD: Final = 0.9


@dataclass(frozen=True, slots=True)
class Example:
    """The blocks of one page: features, labels and weights."""

    folder: str
    site: str
    gold: str
    page: Blocks
    table: Table
    right: NDArray[np.bool_]
    weight: NDArray[np.float64]


class Agreement(NamedTuple):
    """The number of characters common to found and gold text, and of each."""

    common: int
    found: int
    wanted: int


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--note", default="", help="what the pages are and their licences; goes into the model's file")
    options = parser.parse_args()
    real = [example for folder in options.folders for example in read_folder(folder)]
    made_up = list(made_up_examples())
    names = tuple(block_features(real[0].page, None, None).names)
    print(f"{len(real)} pages, {len(made_up)} made-up ones, {sum(len(example.right) for example in real)} blocks, {len(names)} features")
    held_out: dict[str, list[Agreement]] = {}
    for train, test in folds(real):
        model = from_dict(as_dict(fit(train + made_up), names, ""))
        for example in test:
            held_out.setdefault(example.folder, []).append(agreement(model, example))
    for folder, pages in sorted(held_out.items()):
        print(f"{folder}: sites held out in {FOLDS} folds: {summary(pages)}")
    shipped = as_dict(fit(real + made_up), names, options.note)
    options.out.write_text(json.dumps(shipped, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


def read_folder(folder: Path) -> Iterator[Example]:
    """Yield the pages of a folder that have gold text."""
    for document, gold in read_documents(folder):
        example = example_of(document, gold.get("text") or "", 1.0, folder.name)
        if example is not None:
            yield example


def read_documents(folder: Path) -> Iterator[tuple[dom.Document, dict[str, Any]]]:
    """Yield the pages of a folder with their gold; print which are refused."""
    for file in sorted(folder.glob("*.json")):
        gold = json.loads(file.read_text(encoding="utf-8"))
        plain, packed = file.with_suffix(".html"), file.with_suffix(".html.gz")
        html = plain.read_bytes() if plain.exists() else gzip.decompress(packed.read_bytes())
        try:
            document = dom.document(Page(gold.get("url") or UNKNOWN, html, datetime.now(UTC)))
        except NotApplicable as refusal:
            print(f"{folder.name}/{file.stem} is left out: {refusal}")
            continue
        yield document, gold


def made_up_examples() -> Iterator[Example]:
    """Yield made-up pages, with a lower weight."""
    for page in made_up_pages(MADE_UP, MADE_UP_SEED):
        example = example_of(dom.from_text(page.html, page.url), page.text, MADE_UP_WEIGHT, "made-up")
        if example is not None:
            yield example


def example_of(document: dom.Document, gold: str, weight: float, folder: str) -> Example | None:
    """Return a page as the extractor sees it; ``None`` for a page without text."""
    top = next(iter(document.root.iter("body")), None)
    page = read_blocks(top) if top is not None and gold else None
    if page is None or not page.blocks:
        return None
    meta = read_metadata(document)
    table = block_features(page, title.best_title(document, meta, None), longest_description(meta, None), meta.article("articleBody"))
    right = label(page.texts, gold)
    text = max(float(table.length[right].sum()), 200.0)
    weights = weight * np.minimum(table.length.astype(np.float64) / text, 0.25) ** 0.7
    host = urlsplit(document.url).hostname or document.url
    return Example(folder, ".".join(host.split(".")[-2:]), gold, page, table, right, weights)


def label(texts: Sequence[str], gold: str) -> NDArray[np.bool_]:
    """Return which blocks are in the gold text: the longest common subsequence of characters without its short runs."""
    squashed = [squash(text) for text in texts]
    common = np.zeros(sum(map(len, squashed)), dtype=bool)
    for step in LCSseq.opcodes("".join(squashed), squash(gold)):
        if step.tag == "equal" and step.src_end - step.src_start >= RUN:
            common[step.src_start : step.src_end] = True
    parts = np.split(common, np.cumsum([len(text) for text in squashed])[:-1])
    return np.array([len(part) > 0 and part.mean() >= MIN_SHARE for part in parts])


def folds(examples: Sequence[Example]) -> Iterator[tuple[list[Example], list[Example]]]:
    """Yield training and test pages; all pages of a site are on one side."""
    sites = sorted({example.site for example in examples})
    random.Random(3).shuffle(sites)  # noqa: S311  folds, not secrets
    fold = {site: number % FOLDS for number, site in enumerate(sites)}
    for number in range(FOLDS):
        yield [page for page in examples if fold[page.site] != number], [page for page in examples if fold[page.site] == number]


def fit(examples: Sequence[Example]) -> CatBoostClassifier:
    """Fit boosted oblivious trees."""
    model = CatBoostClassifier(verbose=0, **SETTINGS)
    rows = np.concatenate([example.table.values for example in examples], axis=1).T
    right = np.concatenate([example.right for example in examples]).astype(int)
    return model.fit(rows, right, sample_weight=np.concatenate([example.weight for example in examples]))


def as_dict(model: CatBoostClassifier, names: Sequence[str], note: str, depth: int = SETTINGS["depth"]) -> dict[str, Any]:
    """Return the model in the form of :func:`newsportal.extractors.article.body.from_dict`, with only the features that it uses."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.json"
        model.save_model(str(file), format="json")
        saved = json.loads(file.read_text(encoding="utf-8"))
    feature, border, leaves = [], [], []
    for tree in saved["oblivious_trees"]:
        splits = [(split["float_feature_index"], split["border"]) for split in tree["splits"]]
        splits += [(splits[0][0], 1e30)] * (depth - len(splits))  # never true, so the leaves keep their places
        feature += [place for place, _ in splits]
        border += [float(f"{value:.6g}") for _, value in splits]
        values = [float(f"{value:.4g}") for value in tree["leaf_values"]]
        leaves += values + [0.0] * (2**depth - len(values))
    used = sorted(set(feature))
    places = {old: new for new, old in enumerate(used)}
    return {
        "version": VERSION,
        "note": note,
        "depth": depth,
        "bias": saved["scale_and_bias"][1][0],
        "columns": [names[place] for place in used],
        "feature": [places[place] for place in feature],
        "border": border,
        "leaves": leaves,
    }


def agreement(model: BlockModel, example: Example) -> Agreement:
    """Compare the text that :mod:`newsportal.extractors.article.body` would choose with the gold text."""
    body = choose_body(example.page, model.predict(example.table.select(model.columns)), example.table)
    text, gold = squash("".join(body.lines)), squash(example.gold)
    return Agreement(int(LCSseq.similarity(text, gold)), len(text), len(gold))


def summary(pages: Sequence[Agreement]) -> str:
    """Return F1 over all characters, mean page F1 and the share of pages from 0.9, in per cent."""
    common, found, wanted = (sum(column) for column in zip(*pages, strict=True))
    each = [2 * page.common / max(page.found + page.wanted, 1) for page in pages]
    good = sum(f1 >= GOOD for f1 in each)
    return f"{200 * common / max(found + wanted, 1):.1f} · {100 * sum(each) / len(each):.1f} · {100 * good / len(each):.0f}"


if __name__ == "__main__":
    main()
