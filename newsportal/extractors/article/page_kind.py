"""Classify a page: article, thread, documentation, product, listing, collection or service.

One small model per kind rates the page by its :func:`page_figures`; the probabilities are normalised:

    P(k) = p_k / Σ_j p_j

``training/page.py`` fits the models. See docs/algorithms/page_kinds.md.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from newsportal.extractors.article.block_features import Table
from newsportal.extractors.article.blocks import Blocks
from newsportal.extractors.article.body import BlockModel, Body, from_dict
from newsportal.extractors.fields.metadata import Metadata
from newsportal.text import dom

TAGS: Final = "form input button img pre code table time article section h1 h2 h3 video select dl details p li a".split()
TYPES: Final[dict[str, str]] = {
    "article": r"(?:News|Report|Blog)?(?:Article|Posting)|Report\w*",
    "technical": r"TechArticle|APIReference|HowTo",
    "thread": r"DiscussionForumPosting|QAPage|Comment|InteractionCounter",
    "product": r"Product|Offer|Brand|SoftwareApplication|VideoGame|ProductGroup",
    "list": r"ItemList|CollectionPage|OfferCatalog|SearchResultsPage|Blog",
    "business": r"LocalBusiness|Service|ProfessionalService|ContactPoint|FAQPage|MedicalBusiness",
}  # Types of schema.org, by the kind of page that declares them
TYPE: Final = (('"@type"', re.compile(r"\s*:\s*\"(\w{3,40})")), ("schema.org/", re.compile(r"(\w{3,40})")))  # marker, pattern after it
OG_TYPES: Final = ("article", "product", "website")
_WHOLE = r"(?:^|[./_-])(?:%s)(?=[./_-]|$)"  # a path segment or a part of one
ADDRESS: Final[dict[str, str]] = {
    "documentation": _WHOLE % "docs?|documentation|manual|reference|api|wiki|developers?|learn|tutorials?|latest|stable|guide",
    "thread": _WHOLE % "forums?|threads?|topics?|viewtopic|showthread|discussions?|questions?|t|bbs|community|comments|boards?",
    "product": r"/(?:products?|p|dp|items?|pd|app|itm|shop/[^/]+/[^/]+)/",
    "collection": _WHOLE % "collections?|category|categories|c|shop|store|browse|cat|b",
    "listing": _WHOLE % "tags?|topics?|archive|search|latest|list|index|jobs|events|directory",
    "service": _WHOLE % "services?|solutions?|about|consulting|pricing|platform|features",
    "article": rf"{_WHOLE % 'blogs?|news|articles?|posts?|story|insights'}|/20\d\d/",
}
PRICE: Final = re.compile(r"[$€£¥￥]\s?\d|\d\s?(?:元|€|USD|EUR)")
WORDS: Final[dict[str, str]] = {
    "buy": r"add to (?:cart|bag|basket)|in stock|buy now|free shipping|加入购物车|立即购买|库存",
    "filter": r"s(?<=\bs)ort by|filter|results?\b|i(?<=\d i)tems|p(?<=\d p)roducts|排序|筛选",
    "reply": r"r(?<=\br)epl(?:y|ies)\b|j(?<=\bj)oined\b|q(?<=\bq)uote\b|p(?<=\bp)osts?:|u(?<=\bu)pvote|回复|楼主|发表于|發表於",
    "contact": r"contact us|get (?:started|a quote)|request a|book a|free consultation|our (?:team|clients|services)|联系我们|咨询",
    "read": r"read more|min read|continue reading|阅读全文|查看更多",
}  # Matched in lower case: ignoring case takes four times as long. Each alternative starts with a literal, which makes the search fast
_WORDS: Final = {name: re.compile(words) for name, words in WORDS.items()}
_ADDRESS: Final = {name: re.compile(words, re.IGNORECASE) for name, words in ADDRESS.items()}
_TYPES: Final = {name: re.compile(rf"(?:{words})$") for name, words in TYPES.items()}
MEANS: Final = tuple(
    "length linked bold sentences ends digits upper date controls repeated own_item near_comments near_author near_body around_comments"
    " around_related around_navigation around_body around_item in_table in_list in_article in_main in_blockquote kind_paragraph kind_part"
    " kind_cell kind_item kind_heading kind_quote kind_figure counted climb up1_lines up2_average up3_linked form_lines form_average"
    " records records_share records_dated records_linked record_lines alike alike_share alike_linked".split()
)  # Features of blocks whose mean, weighted by characters, is a feature of the page
NAMES: Final = (
    *(f"tag_{tag}" for tag in TAGS),
    *(f"type_{name}" for name in TYPES),
    *(f"og_{name}" for name in OG_TYPES),
    *(f"address_{name}" for name in ADDRESS),
    *("address_parts", "address_last", "address_hyphens", "address_digits", "address_query"),
    *(f"words_{name}" for name in WORDS),
    *("prices", "blocks", "characters", "linked_share", "core_share", "core_linked", "text", "text_share", "text_blocks", "likely"),
    *(f"mean_{name}" for name in MEANS),
)


def page_figures(document: dom.Document, meta: Metadata, page: Blocks, table: Table, likely: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the page's features, in the order of ``NAMES``. ``likely``: probability of each block to be text of an article."""
    counts = Counter(node.tag for node in document.root.iter(*TAGS))
    types = [found[1] for mark, pattern in TYPE for tail in document.html.split(mark)[1:] if (found := pattern.match(tail))]
    address = urlsplit(document.url)
    parts = [part for part in address.path.split("/") if part]
    last = parts[-1] if parts else ""
    place = f"{address.netloc}{address.path}/"
    text = "\n".join(page.texts)
    low = text.lower()
    length = table.length.astype(np.float64)
    total = max(float(length.sum()), 1.0)
    is_text = likely >= 0.5
    rows = dict(zip(table.names, table.values, strict=True))
    row: list[Any] = [np.log1p(counts[tag]) for tag in TAGS]
    row += [min(sum(pattern.match(declared) is not None for declared in types), 20) for pattern in _TYPES.values()]
    row += [meta.get("og:type") == name for name in OG_TYPES]
    row += [pattern.search(place) is not None for pattern in _ADDRESS.values()]
    row += [len(parts), len(last), last.count("-") + last.count("_"), sum(map(str.isdecimal, place)), len(address.query)]
    row += [np.log1p(len(pattern.findall(low))) for pattern in _WORDS.values()]
    row += [np.log1p(len(PRICE.findall(text))), np.log1p(len(length)), np.log1p(total)]
    row += [float((rows["linked"] * length).sum()) / total, rows["core_share"][0], rows["core_linked"][0]]
    row += [np.log1p(length[is_text].sum()), length[is_text].sum() / total, np.log1p(is_text.sum()), float((likely * length).sum()) / total]
    row += [float((rows[name] * length).sum()) / total for name in MEANS]
    return np.array(row, dtype=np.float32)


FILE: Final = "page_model.json"
KINDS: Final = ("article", "documentation", "thread", "product", "listing", "collection", "service")
NONE: Final = "none"
NO_CONTENT: Final = frozenset(("captcha", "login", "soft-404", "error-page", "no-body", "not-html"))
"""Kind of pages without content, and the reasons for rejecting them."""

COLUMNS: Final = tuple(f"page_is_{kind}" for kind in KINDS)  # Names of the kinds' probabilities among the features of a block


@cache
def places(names: tuple[str, ...]) -> NDArray[np.intp]:
    """Return the indices of ``names`` in :data:`NAMES`."""
    return np.array([NAMES.index(name) for name in names], dtype=np.intp)


@dataclass(frozen=True, slots=True, eq=False)
class PageModel:
    """``kinds``: a model for each of ``KINDS``; ``news``: whether the page is an article like those :func:`block_model` was fitted on;
    ``content``: which blocks are content on any kind of page."""

    kinds: tuple[BlockModel, ...]
    news: BlockModel
    content: BlockModel

    def kind(self, figures: NDArray[np.float32]) -> PageKind:
        """Classify a row of :func:`page_figures`."""
        *scores, news = (float(model.likely(figures[places(model.columns), None])[0]) for model in (*self.kinds, self.news))
        return PageKind(np.array(scores, dtype=np.float32) / sum(scores), news)


@dataclass(frozen=True, slots=True, eq=False)
class PageKind:
    """``shares``: probability of each of ``KINDS``; ``news``: probability that the page is an article of a news site."""

    shares: NDArray[np.float32]
    news: float

    @property
    def name(self) -> str:
        return KINDS[int(self.shares.argmax())]

    @property
    def probability(self) -> float:
        return float(self.shares.max())

    def of(self, name: str) -> float:
        return float(self.shares[KINDS.index(name)])


def content_likely(model: BlockModel, table: Table, kind: PageKind) -> NDArray[np.float32]:
    """Return the probability of each block to be content. The probabilities of the page's kinds are among the features of ``model``."""
    shares = np.repeat(kind.shares[:, None], len(table.length), axis=1)
    return model.likely(Table((*table.names, *COLUMNS), np.concatenate([table.values, shares]), table.length).of(model.columns))


def from_plain(plain: Mapping[str, Any]) -> PageModel:
    """Load the models written by ``training/page.py``. Raises ``ValueError`` for inconsistent tables."""
    return PageModel(tuple(from_dict(plain[kind]) for kind in KINDS), from_dict(plain["news"]), from_dict(plain["content"]))


@cache
def page_model() -> PageModel:
    return from_plain(json.loads((files(__package__) / FILE).read_text(encoding="utf-8")))


def kind_of(document: dom.Document, meta: Metadata, body: Body) -> PageKind | None:
    """Return the page's kind; ``None`` for a page without blocks."""
    return page_model().kind(page_figures(document, meta, body.page, body.table, body.likely)) if body.table is not None else None
