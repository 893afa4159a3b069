"""Fit the models of ``newsportal.extractors.article.page_kind``: what kind of page it is, and which blocks of any page are content.

    python -m training.page WCXB_DIR DIR... --out newsportal/extractors/article/page_model.json       (pip install newsportal[training])

WCXB_DIR holds ``<id>.html`` beside ``<id>.json`` with ``kind``, ``text`` and ``url`` (Web Content Extraction Benchmark); the pages of the
other folders, on which :mod:`training.fit` fits, and made-up ones are articles as ``best`` knows them. Folds hold whole sites; the
probabilities of kinds that the blocks are fitted with, and those of blocks that the model of products corrects, come from models that have
not seen the page's site.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any, Final

import numpy as np
from catboost import CatBoostClassifier, Pool, sum_models
from numpy.typing import NDArray

from newsportal.extractors.article.any_page import MIN_THREAD_PROBABILITY, NOSCRIPT, THREAD, choose_content, posts_of, without_scripts
from newsportal.extractors.article.best import MAX_CHARS_TO_SEARCH_SCRIPTS
from newsportal.extractors.article.block_features import Table
from newsportal.extractors.article.body import Body, block_model, from_dict
from newsportal.extractors.article.page_kind import (
    COLUMNS,
    EPSILON,
    FEATURE_NAMES,
    KINDS,
    MIN_PRODUCT_PROBABILITY,
    NETWORK,
    PRODUCT,
    PRODUCT_BLOCKS,
    PRODUCT_COLUMNS,
    PageKind,
    PageModel,
    network_from,
    page_features,
    product_features,
)
from newsportal.extractors.fields.metadata import read_metadata
from newsportal.text import dom
from training.fit import MADE_UP, MADE_UP_SEED, UNKNOWN, Example, as_dict, example_of, read_documents
from training.network import fit_networks
from training.pages import MadeUpPage, made_up_pages

PAGE_SETTINGS: Final[Mapping[str, Any]] = {"iterations": 120, "depth": 3, "learning_rate": 0.08, "l2_leaf_reg": 8}
BLOCK_SETTINGS: Final[Mapping[str, Any]] = {
    "iterations": 130,
    "depth": 5,
    "learning_rate": 0.18,
    "l2_leaf_reg": 20,
    "bootstrap_type": "Bernoulli",
    "subsample": 0.5,
}
COMMON: Final[Mapping[str, Any]] = {"rsm": 0.3, "border_count": 32, "random_seed": 1, "verbose": 0, "allow_writing_files": False}

PRODUCT_SETTINGS: Final[Mapping[str, Any]] = {
    "iterations": 120,
    "depth": 4,
    "learning_rate": 0.06,
    "l2_leaf_reg": 30,
    "bootstrap_type": "Bernoulli",
    "subsample": 0.5,
}
FITS: Final = 3
"""Models of content, each fitted on a different sample of blocks and features, whose scores are averaged. Cross-validated by site, three
give 0.4 points of F1 more than one, on listings and collections two."""

DRAWN_WEIGHT: Final = 0.1
"""Lighter blocks are sampled with a probability of their weight divided by this, and then have this weight: a third of the rows."""

CALLED: Final = {"forum": "thread"}
"""Kinds whose name in the benchmark differs from ours."""

KIND_WEIGHT, NEWS_WEIGHT, BLOCK_WEIGHT, MADE_UP_WEIGHT = 0.3, 1.5, 0.5, 0.1
"""Weights of other folders' pages relative to the benchmark's: for kind, for being news, and for blocks; of made-up pages' blocks."""

UNKNOWN_WEIGHT: Final = 0.5
"""Each page is used a second time without its URL: saved pages often come without one."""

MADE_UP_NAME: Final = "made-up"
FOLDS: Final = 4
WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, eq=False)
class PageExample:
    """A page with its blocks, kind and figures; ``probs``: the probabilities of its blocks by the model of ``best``; ``posts``: the text
    of its posts, ``""`` if there are none."""

    blocks: Example
    kind: str
    news: bool
    figures: NDArray[np.float32]
    probs: NDArray[np.float32]
    posts: str = ""


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--note", default="", help="what the pages are and their licences; goes into the models' file")
    options = parser.parse_args()
    real = [page for number, folder in enumerate(options.folders) for page in read_pages(folder, news=number > 0)]
    if absent := sorted(set(KINDS) - {page.kind for page in real}):
        parser.error(f"{options.folders[0]} has no page of these kinds: {', '.join(absent)}; it must hold the benchmark")
    made_up = [page for page in map(made_up_example, made_up_pages(MADE_UP, MADE_UP_SEED)) if page is not None]
    plain = fit_all(real, made_up, options.note)
    options.out.write_text(json.dumps(plain, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


def read_pages(folder: Path, news: bool) -> Iterator[PageExample]:
    """Yield the pages of a folder that have gold text."""
    for document, gold in read_documents(folder):
        weight = BLOCK_WEIGHT if news else 1.0
        page = page_example(document, gold, news, weight, folder.name)
        if f"<{NOSCRIPT}" in document.html and (page is None or page.blocks.table.length.sum() < MAX_CHARS_TO_SEARCH_SCRIPTS):
            page = page_example(without_scripts(document), gold, news, weight, folder.name) or page
        if page is not None:
            yield page


def made_up_example(page: MadeUpPage, url: str | None = None) -> PageExample | None:
    return page_example(dom.from_text(page.html, url or page.url), {"text": page.text}, True, MADE_UP_WEIGHT, MADE_UP_NAME)


def page_example(document: dom.Document, gold: Mapping[str, Any], news: bool, weight: float, folder: str) -> PageExample | None:
    """Return a page as the extractor sees it; ``None`` for a page without text."""
    blocks = example_of(document, gold.get("text") or "", weight, folder)
    if blocks is None:
        return None
    model, table = block_model(), blocks.table
    probs = model.predict(table.select(model.columns))
    figures = page_features(document, read_metadata(document), blocks.page, table, probs)
    kind = gold.get("kind") or "article"
    posts = () if news else posts_of(document, datetime.now(UTC))
    return PageExample(blocks, CALLED.get(kind, kind), news, figures, probs, "\n".join(post.text or "" for post in posts))


def fit_all(real: Sequence[PageExample], made_up: Sequence[PageExample], note: str) -> dict[str, Any]:
    """Return the models as one table; print their scores on held-out sites."""
    fold = folds_of(real)
    kinds, page_kinds = kinds_of(real, made_up, fold)
    contents: dict[tuple[int, int], dict[str, Any]] = {}
    probs: dict[tuple[int, int], dict[int, NDArray[np.float32]]] = {}
    for folds in combinations_with_replacement(range(FOLDS), 2):  # all but one fold or two
        contents[folds] = fit_blocks([*(page for page in real if fold[page.blocks.site] not in folds), *made_up], page_kinds)
        probs[folds] = likely_of([page for page in real if fold[page.blocks.site] in folds], contents[folds], page_kinds)
    scores: dict[str, list[float]] = defaultdict(list)
    for number in range(FOLDS):
        before = merged(probs[min(number, other), max(number, other)] for other in range(FOLDS) if other != number)
        others = [page for page in real if fold[page.blocks.site] != number]
        product = fit_products(others, page_kinds, before)
        model = replace(as_model(kinds, contents[number, number], product), network=network_from(fit_networks(others, page_kinds)))
        for page in real:
            if fold[page.blocks.site] == number and not page.news:
                f1 = word_f1(page, model, page_kinds[id(page)])
                scores["all"].append(f1)
                scores[page.kind].append(f1)
    for name, values in sorted(scores.items()):
        print(f"{name}: {len(values)} pages, sites held out in {FOLDS} folds: mean word F1 {100 * sum(values) / len(values):.1f}")
    product = fit_products(real, page_kinds, merged(probs[number, number] for number in range(FOLDS)))
    content, networks = fit_blocks([*real, *made_up], page_kinds), fit_networks(real, page_kinds)
    return {"note": note, **kinds, "content": content, PRODUCT_BLOCKS: product, NETWORK: networks}


def merged(parts: Iterable[Mapping[int, NDArray[np.float32]]]) -> dict[int, NDArray[np.float32]]:
    return {page: probs for part in parts for page, probs in part.items()}


def likely_of(pages: Sequence[PageExample], content: Mapping[str, Any], kinds: Mapping[int, PageKind]) -> dict[int, NDArray[np.float32]]:
    """Return the probabilities of the blocks of each page by its ``id``."""
    model = from_dict(dict(content))
    return {id(page): model.predict(with_kind(page, kinds).select(model.columns)) for page in pages}


def folds_of(pages: Sequence[PageExample]) -> dict[str, int]:
    """Return the fold of each site."""
    sites = sorted({page.blocks.site for page in pages})
    random.Random(3).shuffle(sites)  # noqa: S311  folds, not secrets
    return {site: number % FOLDS for number, site in enumerate(sites)}


def kinds_of(
    real: Sequence[PageExample], made_up: Sequence[PageExample], fold: Mapping[str, int]
) -> tuple[dict[str, Any], dict[int, PageKind]]:
    """Return the models of kinds, fitted on all pages, and each page's kind by its ``id``, from models that have not seen its site."""
    page_kinds: dict[int, PageKind] = {}
    for number in range(FOLDS):
        model = as_model(fit_kinds([*(page for page in real if fold[page.blocks.site] != number), *made_up]))
        page_kinds |= {id(page): model.classify(page.figures) for page in real if fold[page.blocks.site] == number}
        right = [page_kinds[id(page)].name == page.kind for page in real if fold[page.blocks.site] == number and not page.news]
        print(f"kinds, fold {number}: {100 * sum(right) / len(right):.1f} % of {len(right)} pages right")
    kinds = fit_kinds([*real, *made_up])
    model = as_model(kinds)
    return kinds, page_kinds | {id(page): model.classify(page.figures) for page in made_up}


def as_model(kinds: Mapping[str, Any], content: Mapping[str, Any] | None = None, product: Mapping[str, Any] | None = None) -> PageModel:
    news = from_dict(kinds["news"])
    first, second = (from_dict(dict(model)) if model else news for model in (content, product))
    return PageModel(tuple(from_dict(kinds[kind]) for kind in KINDS), news, first, second)


def fit_kinds(pages: Sequence[PageExample]) -> dict[str, Any]:
    """Return a model for each kind, and one for news; every page is used twice, the second time without its URL."""
    rows = np.stack([page.figures for page in pages])
    hidden = rows.copy()
    place = [number for number, name in enumerate(FEATURE_NAMES) if name.startswith("address_")]
    hidden[:, place] = figures_of_nothing()[place]
    rows = np.concatenate([rows, hidden])
    labels = {kind: [page.kind == kind for page in pages] for kind in KINDS} | {"news": [page.news for page in pages]}
    models = {}
    for name, right in labels.items():
        weights = [(NEWS_WEIGHT if page.blocks.folder != MADE_UP_NAME else KIND_WEIGHT) if page.news else 1.0 for page in pages]
        if name != "news":
            weights = [KIND_WEIGHT if page.news else 1.0 for page in pages]
        weight = np.concatenate([weights, np.array(weights) * UNKNOWN_WEIGHT])
        model = CatBoostClassifier(**COMMON, **PAGE_SETTINGS).fit(rows, np.array(right * 2).astype(int), sample_weight=weight)
        models[name] = as_dict(model, FEATURE_NAMES, "", PAGE_SETTINGS["depth"])
    return models


def figures_of_nothing() -> NDArray[np.float32]:
    """Return the figures of a page without a known URL."""
    page = made_up_example(next(iter(made_up_pages(1, MADE_UP_SEED))), UNKNOWN)
    if page is None:
        raise ValueError("a made-up page without text")
    return page.figures


def fit_blocks(pages: Sequence[PageExample], kinds: Mapping[int, PageKind]) -> dict[str, Any]:
    """Return the model of content, over the features of blocks and the probabilities of the page's kinds: the mean of ``FITS`` models."""
    tables = [with_kind(page, kinds) for page in pages]
    rows, right = np.concatenate([table.values for table in tables], axis=1).T, rights_of(pages)
    weight = np.concatenate([page.blocks.weight for page in pages])
    models = []
    for seed in range(1, FITS + 1):
        drawn = np.random.default_rng(seed).random(len(weight)) < weight / DRAWN_WEIGHT
        model = CatBoostClassifier(**{**COMMON, **BLOCK_SETTINGS, "random_seed": seed})
        models.append(model.fit(rows[drawn], right[drawn], sample_weight=np.maximum(weight[drawn], DRAWN_WEIGHT)))
    mean = sum_models(models, weights=[1 / FITS] * FITS)
    return as_dict(mean, tables[0].names, "", BLOCK_SETTINGS["depth"])


def with_kind(page: PageExample, kinds: Mapping[int, PageKind]) -> Table:
    """Return the features of the page's blocks with the probabilities of its kinds."""
    table = page.blocks.table
    shares = np.repeat(kinds[id(page)].shares[:, None], len(page.probs), 1)
    return Table((*table.names, *COLUMNS), np.concatenate([table.values, shares]), table.length)


def rights_of(pages: Sequence[PageExample]) -> NDArray[np.int64]:
    return np.concatenate([page.blocks.right for page in pages]).astype(np.int64)


def fit_products(real: Sequence[PageExample], kinds: Mapping[int, PageKind], probs: Mapping[int, NDArray[np.float32]]) -> dict[str, Any]:
    """Return the model that is added to the scores of the model of content on pages of products, from its ``probs`` on unseen sites."""
    pages = [page for page in real if not page.news and kinds[id(page)].probability_of(PRODUCT) >= MIN_PRODUCT_PROBABILITY]
    tables = [with_kind(page, kinds) for page in pages]
    figures = [product_features(page.blocks.page, page.blocks.table.length) for page in pages]
    rows = np.concatenate([np.concatenate(both) for both in zip([table.values for table in tables], figures, strict=True)], axis=1).T
    weight = np.concatenate([page.blocks.weight * kinds[id(page)].probability_of(PRODUCT) for page in pages])
    before = np.clip(np.concatenate([probs[id(page)] for page in pages]).astype(np.float64), EPSILON, 1 - EPSILON)
    pool = Pool(rows, rights_of(pages), weight=weight, baseline=np.log(before / (1 - before)))
    models = [CatBoostClassifier(**{**COMMON, **PRODUCT_SETTINGS, "random_seed": seed}).fit(pool) for seed in range(1, FITS + 1)]
    mean = sum_models(models, weights=[1 / FITS] * FITS)
    return as_dict(mean, (*tables[0].names, *PRODUCT_COLUMNS), "", PRODUCT_SETTINGS["depth"])


def word_f1(page: PageExample, model: PageModel, kind: PageKind) -> float:
    """Return the benchmark's measure: F1 of the multisets of words, for a thread those of its posts."""
    table: Table = page.blocks.table
    body = Body(page.blocks.page, page.probs >= 0.5, page.probs, table)
    text = page.posts if kind.probability_of(THREAD) >= MIN_THREAD_PROBABILITY else ""
    text = text or "\n".join(choose_content(body, kind, model).lines)
    found, gold = (Counter(WORD.findall(words.lower())) for words in (text, page.blocks.gold))
    return 2 * (found & gold).total() / max(found.total() + gold.total(), 1)


if __name__ == "__main__":
    main()
