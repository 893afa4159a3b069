"""Classify a page: article, thread, documentation, product, listing, collection or service. See docs/algorithms/page_kinds.md."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from newsportal.extractors.article.block_features import Table, shift_rows
from newsportal.extractors.article.blocks import Blocks
from newsportal.extractors.article.body import BlockModel, Body, from_dict
from newsportal.extractors.article.core import sum_below
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
URL_PATTERNS: Final[dict[str, str]] = {
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
_ADDRESS: Final = {name: re.compile(words, re.IGNORECASE) for name, words in URL_PATTERNS.items()}
_TYPES: Final = {name: re.compile(rf"(?:{words})$") for name, words in TYPES.items()}
MEAN_FEATURES: Final = tuple(
    "length linked bold sentences ends digits upper date controls repeated own_item near_comments near_author near_body around_comments"
    " around_related around_navigation around_body around_item in_table in_list in_article in_main in_blockquote kind_paragraph kind_part"
    " kind_cell kind_item kind_heading kind_quote kind_figure counted climb up1_lines up2_average up3_linked form_lines form_average"
    " records records_share records_dated records_linked record_lines alike alike_share alike_linked".split()
)  # Features of blocks whose mean, weighted by characters, is a feature of the page
FEATURE_NAMES: Final = (
    *(f"tag_{tag}" for tag in TAGS),
    *(f"type_{name}" for name in TYPES),
    *(f"og_{name}" for name in OG_TYPES),
    *(f"address_{name}" for name in URL_PATTERNS),
    *("address_parts", "address_last", "address_hyphens", "address_digits", "address_query"),
    *(f"words_{name}" for name in WORDS),
    *("prices", "blocks", "characters", "linked_share", "core_share", "core_linked", "text", "text_share", "text_blocks", "likely"),
    *(f"mean_{name}" for name in MEAN_FEATURES),
)


def page_features(document: dom.Document, meta: Metadata, page: Blocks, table: Table, probs: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the page's features, in the order of ``FEATURE_NAMES``. ``probs``: probability of each block to be text of an article."""
    counts = Counter([node.tag for node in document.root.iter(*TAGS)])
    types = [found[1] for mark, pattern in TYPE for tail in document.html.split(mark)[1:] if (found := pattern.match(tail))]
    address = urlsplit(document.url)
    parts = [part for part in address.path.split("/") if part]
    last = parts[-1] if parts else ""
    place = f"{address.netloc}{address.path}/"
    text = "\n".join(page.texts)
    low = text.lower()
    length = table.length.astype(np.float64)
    total = max(float(length.sum()), 1.0)
    is_text = probs >= 0.5
    rows = dict(zip(table.names, table.values, strict=True))
    row: list[Any] = [np.log1p(counts[tag]) for tag in TAGS]
    row += [min(sum(pattern.match(declared) is not None for declared in types), 20) for pattern in _TYPES.values()]
    row += [meta.get("og:type") == name for name in OG_TYPES]
    row += [pattern.search(place) is not None for pattern in _ADDRESS.values()]
    row += [len(parts), len(last), last.count("-") + last.count("_"), sum(map(str.isdecimal, place)), len(address.query)]
    row += [np.log1p(len(pattern.findall(low))) for pattern in _WORDS.values()]
    row += [np.log1p(len(PRICE.findall(text))), np.log1p(len(length)), np.log1p(total)]
    row += [float((rows["linked"] * length).sum()) / total, rows["core_share"][0], rows["core_linked"][0]]
    row += [np.log1p(length[is_text].sum()), length[is_text].sum() / total, np.log1p(is_text.sum()), float((probs * length).sum()) / total]
    row += ((table.select(MEAN_FEATURES) * length).sum(axis=1) / total).tolist()
    return np.array(row, dtype=np.float32)


FILE: Final = "page_model.json"
EPSILON: Final = 1e-5
KINDS: Final = ("article", "documentation", "thread", "product", "listing", "collection", "service")
NONE: Final = "none"  # kind of pages without content
NO_CONTENT: Final = frozenset(("captcha", "login", "soft-404", "error-page", "no-body", "not-html"))  # reasons for rejecting them
COLUMNS: Final = tuple(f"page_is_{kind}" for kind in KINDS)  # Names of the kinds' probabilities among the features of a block


@cache
def feature_indices(names: tuple[str, ...]) -> NDArray[np.intp]:
    """Return the indices of ``names`` in :data:`FEATURE_NAMES`."""
    return np.array([FEATURE_NAMES.index(name) for name in names], dtype=np.intp)


Rows = NDArray[np.float32]
STEPS: Final = (1, 3, 9)  # distances of the neighbours that the layers of a network read
LIMIT: Final = 4.0  # features count up to so many standard deviations


@dataclass(frozen=True, slots=True, eq=False)
class BlockNetwork:
    """``fits``: matrices of each network: the first, two of each layer, the last; their last column is for a constant 1."""

    columns: tuple[str, ...]
    centre: Rows
    scale: Rows
    fits: tuple[tuple[Rows, ...], ...]

    def predict(self, table: Table, page: Blocks) -> Rows:
        """Return the probability of each block to be content, by the networks' mean log odds."""
        groups = groups_of(page)
        rows = np.clip((table.select(self.columns) - self.centre) / self.scale, -LIMIT, LIMIT)
        result: Rows = 1 / (1 + np.exp(-np.mean([logits_of(matrices, rows, groups) for matrices in self.fits], axis=0)))
        return result


def logits_of(matrices: Sequence[Rows], rows: Rows, groups: Sequence[NDArray[np.intp]]) -> Any:
    first, *layers, last = matrices
    state: Rows = np.tanh(_times(first, rows))
    for step, inner, outer in zip(STEPS, layers[::2], layers[1::2], strict=True):
        unit = _unit(state)
        overall = [np.broadcast_to(row[:, None], unit.shape) for row in (unit.mean(axis=1), unit.max(axis=1))]
        around = [shift_rows(unit, step, 0), unit, shift_rows(unit, -step, 0), *overall, *(means_of(unit, group) for group in groups)]
        state = state + _times(outer, np.maximum(_times(inner, np.concatenate(around)), 0))
    return _times(last, _unit(state))[0]


def _times(matrix: Rows, rows: Rows) -> Any:
    return matrix[:, :-1] @ rows + matrix[:, -1:]


def _unit(state: Rows) -> Any:
    return state / np.sqrt((state * state).mean(axis=0) + EPSILON)


def means_of(rows: Rows, group: NDArray[np.intp]) -> Any:
    """Return the mean of each block's group; groups are numbered from 0."""
    size = np.bincount(group)
    sums = np.add.reduceat(rows[:, np.argsort(group, kind="stable")], np.cumsum(size) - size, axis=1)
    return (sums / size)[:, group].astype(np.float32)


def groups_of(page: Blocks) -> tuple[NDArray[np.intp], ...]:
    """Return two groupings of the blocks, numbered from 0: by the form of their boxes, and by the box two levels up."""
    box, parent = np.array([block.box for block in page.blocks]), np.array(page.parent)
    columns = np.array(page.path)[box], parent[np.maximum(parent[box], 0)]
    return tuple(np.unique(column, return_inverse=True)[1] for column in columns)


@dataclass(frozen=True, slots=True, eq=False)
class PageModel:
    """``kinds``: a model for each of ``KINDS``; ``news``: whether the page is an article like those :func:`block_model` was fitted on;
    ``content``: which blocks are content; ``product``: its correction for products; ``network``: a second opinion."""

    kinds: tuple[BlockModel, ...]
    news: BlockModel
    content: BlockModel
    product: BlockModel
    network: BlockNetwork | None = None

    def classify(self, figures: NDArray[np.float32]) -> PageKind:
        """Classify a row of :func:`page_features`."""
        *scores, news = (float(model.predict(figures[feature_indices(model.columns), None])[0]) for model in (*self.kinds, self.news))
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

    def probability_of(self, name: str) -> float:
        return float(self.shares[KINDS.index(name)])


PRODUCT, PRODUCT_BLOCKS, MIN_PRODUCT_PROBABILITY, NETWORK = "product", "product blocks", 0.1, "network"
MIN_CHARS, MAX_LEVELS, MAX_NAME_CHARS = 20, 9, 1_000
SECTIONS: Final = {
    "reviews": "review|rating|testimonial|feedback|opinion",
    "others": "relat|recommend|similar|also|upsell|cross|recent|carousel|slider|bundle",
    "details": "spec|feature|attribut|detail|descri|ingredient|overview|about|accordion|tab",
    "questions": "faq|question|answer|q-?a(?![a-z])",
    "delivery": "ship|deliver|return|payment|cart|warrant|stock|price|variant|option|swatch|size",
}  # sections of a product's page, by names of boxes
PRONOUNS: Final = {"first": r"\b(?:i|i'm|i've|my|me|we've|our)\b|我", "second": r"\byou(?:r|'re)?\b|[你您]"}  # reviewers; sellers
_SECTIONS, _PERSONS = ([re.compile(words) for words in table.values()] for table in (SECTIONS, PRONOUNS))
PRODUCT_COLUMNS: Final = (*SECTIONS, *(f"{person}_person_{scope}" for scope in ("own", "form", "around") for person in PRONOUNS))


def product_features(page: Blocks, length: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return ``PRODUCT_COLUMNS`` of the blocks of a product's page: levels up to the nearest box named like each section; pronouns per
    character in the block, in all blocks of its form, and three boxes up."""
    levels = [[MAX_LEVELS] * len(_SECTIONS)]
    names = [f"{node.get('class')} {node.get('id')}"[:MAX_NAME_CHARS].lower() for node in page.nodes[1:]]
    matches = {name: [words.search(name) for words in _SECTIONS] for name in {*names}}
    for name, parent in zip(names, page.parent[1:], strict=True):
        levels.append([0 if match else min(level + 1, MAX_LEVELS) for match, level in zip(matches[name], levels[parent], strict=True)])
    box, parents = np.array([block.box for block in page.blocks]), np.maximum(np.array(page.parent), 0)
    form, around = np.array(page.path)[box], parents[parents[parents[box]]]
    rows = np.array([*([len(words.findall(text.lower())) for text in page.texts] for words in _PERSONS), length], dtype=np.float64)
    forms = np.stack([np.bincount(form, row)[form] for row in rows])
    persons = [sums[:-1] / np.maximum(sums[-1], MIN_CHARS) for sums in (rows, forms, sum_below(page, rows)[:, around])]
    return np.concatenate([np.array(levels)[box].T, *persons]).astype(np.float32)


def log_odds(probs: NDArray[np.float32]) -> Any:
    clipped = np.clip(probs.astype(np.float64), EPSILON, 1 - EPSILON)
    return np.log(clipped / (1 - clipped))


def full_table(page: Blocks, table: Table, probs: NDArray[np.float32], kind: PageKind) -> Table:
    """Return the features of blocks with probabilities of the page's kinds, figures of products (of another page 0) and the log odds of
    the news model (``probs``)."""
    count = len(probs)
    is_product = kind.probability_of(PRODUCT) >= MIN_PRODUCT_PROBABILITY
    product = product_features(page, table.length) if is_product else np.zeros((len(PRODUCT_COLUMNS), count))
    page_wide = np.repeat(np.append(kind.shares, kind.news)[:, None], count, axis=1)
    values = np.concatenate([table.values, page_wide, product, log_odds(probs)[None]]).astype(np.float32)
    return Table((*table.names, *COLUMNS, "page_is_news", *PRODUCT_COLUMNS, "article"), values, table.length)


def content_probability(model: PageModel, table: Table, kind: PageKind) -> NDArray[np.float32]:
    """Return the probability of each block to be content, from :func:`full_table`."""
    probs = model.content.predict(table.select(model.content.columns))
    if (share := kind.probability_of(PRODUCT)) < MIN_PRODUCT_PROBABILITY:
        return probs
    product = model.product.predict(table.select(model.product.columns))
    odds = probs / np.maximum(1 - probs, EPSILON) * (product / (1 - product)) ** share
    result: NDArray[np.float32] = odds / (1 + odds)
    return result


def network_from(plain: Mapping[str, Any]) -> BlockNetwork:
    """Load the table written by ``training/network.py``, in which matrices are whole numbers times a unit."""
    fits = tuple(tuple(np.array(rows, dtype=np.float32) * np.float32(unit) for unit, rows in fit) for fit in plain["fits"])
    centre, scale = (np.array(plain[name], dtype=np.float32)[:, None] for name in ("centre", "scale"))
    return BlockNetwork(tuple(plain["columns"]), centre, scale, fits)


def load_page_model(plain: Mapping[str, Any]) -> PageModel:
    """Load the models written by ``training/page.py``. Raises ``ValueError`` for inconsistent tables."""
    news, content, product = (from_dict(plain[name]) for name in ("news", "content", PRODUCT_BLOCKS))
    return PageModel(tuple(from_dict(plain[kind]) for kind in KINDS), news, content, product, network_from(plain[NETWORK]))


@cache
def page_model() -> PageModel:
    return load_page_model(json.loads((files(__package__) / FILE).read_text(encoding="utf-8")))


def kind_of(document: dom.Document, meta: Metadata, body: Body) -> PageKind | None:
    """Return the page's kind; ``None`` for a page without blocks."""
    return page_model().classify(page_features(document, meta, body.page, body.table, body.probability)) if body.table is not None else None
