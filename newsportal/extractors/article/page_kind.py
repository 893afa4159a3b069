"""What kind of page it is: an article, a thread, documentation, a product, a listing, a collection or a service.

One small model a kind asks whether the page is of it, by :mod:`page_figures`; the probability of a kind is its share of what all say:

    P(k) = p_k / Σ_j p_j

``training/page.py`` fits the models. See docs/algorithms/page_kinds.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from newsportal.extractors.article.block_features import Table
from newsportal.extractors.article.body import BlockModel, Body, from_dict
from newsportal.extractors.article.page_figures import NAMES, page_figures
from newsportal.extractors.fields.metadata import Metadata
from newsportal.text import dom

FILE: Final = "page_model.json"
KINDS: Final = ("article", "documentation", "thread", "product", "listing", "collection", "service")
NONE: Final = "none"
NO_CONTENT: Final = frozenset(("captcha", "login", "soft-404", "error-page", "no-body", "not-html"))
"""The kind of pages without content, and the reasons for which they are refused."""

COLUMNS: Final = tuple(f"page_is_{kind}" for kind in KINDS)  # What the probabilities of kinds are called among the features of a block


@dataclass(frozen=True, slots=True, eq=False)
class PageModel:
    """``kinds``: a model for each of ``KINDS``; ``news``: whether the page is such an article as :func:`block_model` was fitted on;
    ``content``: which blocks are content on a page of any kind."""

    kinds: tuple[BlockModel, ...]
    news: BlockModel
    content: BlockModel

    def kind(self, figures: NDArray[np.float32]) -> PageKind:
        """``figures`` is a row of :func:`page_figures`."""
        column = dict(zip(NAMES, figures, strict=True))
        *said, news = (
            float(model.likely(np.array([[column[name]] for name in model.columns], dtype=np.float32))[0])
            for model in (*self.kinds, self.news)
        )
        return PageKind(np.array(said, dtype=np.float32) / sum(said), news)


@dataclass(frozen=True, slots=True, eq=False)
class PageKind:
    """``shares``: how likely each of ``KINDS`` is; ``news``: how likely the page is an article as news sites have them."""

    shares: NDArray[np.float32]
    news: float

    @property
    def name(self) -> str:
        return KINDS[int(self.shares.argmax())]

    @property
    def probability(self) -> float:
        return float(self.shares.max())

    def of(self, name: str) -> float:
        """The probability of the kind ``name``."""
        return float(self.shares[KINDS.index(name)])


def content_likely(model: BlockModel, table: Table, kind: PageKind) -> NDArray[np.float32]:
    """The probability of each block to be content; among the columns of ``model`` are the probabilities of the page's kinds."""
    shares = np.repeat(kind.shares[:, None], len(table.length), axis=1)
    return model.likely(Table((*table.names, *COLUMNS), np.concatenate([table.values, shares]), table.length).of(model.columns))


def from_plain(plain: Mapping[str, Any]) -> PageModel:
    """The models that ``training/page.py`` wrote. Raises ``ValueError`` for tables that do not fit together."""
    return PageModel(tuple(from_dict(plain[kind]) for kind in KINDS), from_dict(plain["news"]), from_dict(plain["content"]))


@cache
def page_model() -> PageModel:
    return from_plain(json.loads((files(__package__) / FILE).read_text(encoding="utf-8")))


def kind_of(document: dom.Document, meta: Metadata, body: Body) -> PageKind | None:
    """The page's kind; ``None`` for a page without a block."""
    if body.table is None:
        return None
    return page_model().kind(page_figures(document, meta, body.page, body.table, body.likely))
