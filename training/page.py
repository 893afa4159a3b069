"""Fit the models of ``newsportal.extractors.article.page_kind``: what kind of page it is, and which blocks of any page are content.

    python -m training.page WCXB_DIR DIR... --out newsportal/extractors/article/page_model.json       (pip install newsportal[training])

WCXB_DIR holds ``<id>.html`` beside ``<id>.json`` with ``kind``, ``text`` and ``url`` (Web Content Extraction Benchmark); the pages of the
other folders, on which :mod:`training.fit` fits, and made-up ones are articles as ``best`` knows them. Folds hold whole sites; the
probabilities of kinds that the blocks are fitted with come from models that have not seen the page's site.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np
from catboost import CatBoostClassifier, sum_models
from numpy.typing import NDArray

from newsportal.extractors.article.any_page import MIN_THREAD_PROBABILITY, NOSCRIPT, THREAD, content_of, posts_of, without_scripts
from newsportal.extractors.article.best import FEW_CHARS
from newsportal.extractors.article.block_features import Table
from newsportal.extractors.article.body import Body, block_model, from_dict
from newsportal.extractors.article.page_kind import COLUMNS, KINDS, NAMES, PageKind, PageModel, page_figures
from newsportal.extractors.fields.metadata import read_metadata
from newsportal.text import dom
from training.fit import MADE_UP, MADE_UP_SEED, UNKNOWN, Example, as_dict, example_of, read_documents
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
    """A page with its blocks, kind and figures; ``likely``: the probabilities of its blocks by the model of ``best``; ``posts``: the text
    of its posts, ``""`` if there are none."""

    blocks: Example
    kind: str
    news: bool
    figures: NDArray[np.float32]
    likely: NDArray[np.float32]
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
        if f"<{NOSCRIPT}" in document.html and (page is None or page.blocks.table.length.sum() < FEW_CHARS):
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
    likely = model.likely(table.of(model.columns))
    figures = page_figures(document, read_metadata(document), blocks.page, table, likely)
    kind = gold.get("kind") or "article"
    posts = () if news else posts_of(document, datetime.now(UTC))
    return PageExample(blocks, CALLED.get(kind, kind), news, figures, likely, "\n".join(post.text or "" for post in posts))


def fit_all(real: Sequence[PageExample], made_up: Sequence[PageExample], note: str) -> dict[str, Any]:
    """Return the models as one table; print their scores on held-out sites."""
    fold = folds_of(real)
    kinds, page_kinds = kinds_of(real, made_up, fold)
    scores: dict[str, list[float]] = defaultdict(list)
    for number in range(FOLDS):
        content = fit_blocks([*(page for page in real if fold[page.blocks.site] != number), *made_up], page_kinds)
        for page in real:
            if fold[page.blocks.site] == number and not page.news:
                f1 = word_f1(page, content, page_kinds[id(page)])
                scores["all"].append(f1)
                scores[page.kind].append(f1)
    for name, values in sorted(scores.items()):
        print(f"{name}: {len(values)} pages, sites held out in {FOLDS} folds: mean word F1 {100 * sum(values) / len(values):.1f}")
    return {"note": note, **kinds, "content": fit_blocks([*real, *made_up], page_kinds)}


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
        page_kinds |= {id(page): model.kind(page.figures) for page in real if fold[page.blocks.site] == number}
        right = [page_kinds[id(page)].name == page.kind for page in real if fold[page.blocks.site] == number and not page.news]
        print(f"kinds, fold {number}: {100 * sum(right) / len(right):.1f} % of {len(right)} pages right")
    kinds = fit_kinds([*real, *made_up])
    model = as_model(kinds)
    return kinds, page_kinds | {id(page): model.kind(page.figures) for page in made_up}


def as_model(kinds: Mapping[str, Any], content: Mapping[str, Any] | None = None) -> PageModel:
    news = from_dict(kinds["news"])
    return PageModel(tuple(from_dict(kinds[kind]) for kind in KINDS), news, from_dict(dict(content)) if content else news)


def fit_kinds(pages: Sequence[PageExample]) -> dict[str, Any]:
    """Return a model for each kind, and one for news; every page is used twice, the second time without its URL."""
    rows = np.stack([page.figures for page in pages])
    hidden = rows.copy()
    place = [number for number, name in enumerate(NAMES) if name.startswith("address_")]
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
        models[name] = as_dict(model, NAMES, "", PAGE_SETTINGS["depth"])
    return models


def figures_of_nothing() -> NDArray[np.float32]:
    """Return the figures of a page without a known URL."""
    page = made_up_example(next(iter(made_up_pages(1, MADE_UP_SEED))), UNKNOWN)
    if page is None:
        raise ValueError("a made-up page without text")
    return page.figures


def fit_blocks(pages: Sequence[PageExample], kinds: Mapping[int, PageKind]) -> dict[str, Any]:
    """Return the model of content, over the features of blocks and the probabilities of the page's kinds: the mean of ``FITS`` models."""
    tables = [np.concatenate([page.blocks.table.values, np.repeat(kinds[id(page)].shares[:, None], len(page.likely), 1)]) for page in pages]
    rows, right = np.concatenate(tables, axis=1).T, np.concatenate([page.blocks.right for page in pages]).astype(int)
    weight = np.concatenate([page.blocks.weight for page in pages])
    models = []
    for seed in range(1, FITS + 1):
        drawn = np.random.default_rng(seed).random(len(weight)) < weight / DRAWN_WEIGHT
        model = CatBoostClassifier(**{**COMMON, **BLOCK_SETTINGS, "random_seed": seed})
        models.append(model.fit(rows[drawn], right[drawn], sample_weight=np.maximum(weight[drawn], DRAWN_WEIGHT)))
    mean = sum_models(models, weights=[1 / FITS] * FITS)
    return as_dict(mean, (*pages[0].blocks.table.names, *COLUMNS), "", BLOCK_SETTINGS["depth"])


def word_f1(page: PageExample, content: Mapping[str, Any], kind: PageKind) -> float:
    """Return the benchmark's measure: F1 of the multisets of words, for a thread those of its posts."""
    table: Table = page.blocks.table
    body = Body(page.blocks.page, page.likely >= 0.5, page.likely, table)
    text = page.posts if kind.of(THREAD) >= MIN_THREAD_PROBABILITY else ""
    text = text or "\n".join(content_of(body, kind, from_dict(dict(content))).lines)
    found, gold = (Counter(WORD.findall(words.lower())) for words in (text, page.blocks.gold))
    return 2 * (found & gold).total() / max(found.total() + gold.total(), 1)


if __name__ == "__main__":
    main()
