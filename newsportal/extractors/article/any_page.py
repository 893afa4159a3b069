"""Extract the main content of any kind of page: articles as :mod:`best`, threads post by post, else the blocks that are content.

Articles are still read by the news model, which was trained on many languages; the second model is for other kinds of pages.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from html import escape
from typing import Final
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from newsportal.errors import NotApplicable
from newsportal.extractors.article import best
from newsportal.extractors.article.blocks import Blocks
from newsportal.extractors.article.body import Body, choose_body, drop_copies
from newsportal.extractors.article.hints import MEANINGS
from newsportal.extractors.article.page_kind import PageKind, PageModel, content_probability, full_table, kind_of, log_odds, page_model
from newsportal.extractors.article.sanitise import sanitise
from newsportal.extractors.forum.best import extract as read_posts
from newsportal.items import Extraction, Link, Post
from newsportal.text import dom

ARTICLE, THREAD, DOCUMENTATION = "article", "thread", "documentation"
MIN_ARTICLE_PROBABILITY: Final = 0.3  # of a page that counts as news; 0 to 0.3 measure alike (0.2 points)
MIN_THREAD_PROBABILITY: Final = 0.5  # for trying posts. With 0.3, threads gain 1.3 points, but lists of Chinese news are taken for threads
LIST_KINDS: Final = frozenset(("listing", "collection", "service"))
MIN_STORY_IMAGES, MAX_CHARS_PER_IMAGE = 5, 60  # an article with at least this many images and fewer characters per image is a photo story
NOSCRIPT: Final = "noscript"
MIN_NEWS_PROBABILITY: Final = 0.5  # From this probability of news on, blocks are chosen by the rules measured on news
MIN_BLOCK_PROBABILITY: Final = 0.2  # 0 to 0.25 measure alike over all kinds (within 0.3 points of F1); products and listings gain most
CORRELATED: Final = ("listing", "collection", "documentation", "service")
NETWORK_WEIGHT: Final = 0.4  # of the networks, on pages that are neither articles (news sets would lose up to 0.3) nor documentation
DAMPING: Final = 0.5
"""They are content or not many at once (teasers, sections), so errors do not cancel out as :func:`maximise_expected_f1` assumes. By site,
listings gain 2.4 points of F1, collections 1.4, documentation and services 0.8. 0.3 to 0.6 measure alike over all kinds (0.2 points)."""

SIDE_MASK: Final = 1 << list(MEANINGS).index("side")
DIALOG: Final = re.compile(r"(?:^|\s)modal(?:-(?:body|content|dialog|header|footer))?(?:\s|$)")  # class of Bootstrap's dialogs, a ``side``
FACT: Final = re.compile(
    r"^[^，。：:]{0,8}?([时時][间間]|日期|展期|[地場场][点點地]|[费費]用|票[价價]|[主承協协][办辦]|活[动動][单單]位|[对對]象|名[额額]|[报報]名|[讲講][师師]"
    r"|\b(?:dates?|when|time|venue|where|location|price|fee|tickets|admission|organi[sz]ers?|speakers?)\b)[^，。：:]{0,12}(?:$|[:：/|｜])",
    re.IGNORECASE,
)  # a line that states or announces when, where, for whom … an event is
MAX_FACTS_CHARS: Final = 400


class AnyPage(best.Best):
    """Like :class:`~newsportal.extractors.article.best.Best`, for any kind of page."""

    def __call__(self, document: dom.Document, link: Link | None, fetched: datetime) -> Extraction:
        """Return the content and its kind. Raises ``NotApplicable`` if the page has no content."""
        reading = best.read_page(document, link, self.knowledge)
        if _length(reading) < best.MAX_CHARS_TO_SEARCH_SCRIPTS and f"<{NOSCRIPT}" in document.html:
            plain = without_scripts(document)
            other = best.read_page(plain, link, self.knowledge)
            if _length(other) > best.EMBEDDED_LENGTH_FACTOR * _length(reading):
                document, reading = plain, other
        body = reading.body
        kind = kind_of(document, reading.meta, body) if body is not None else None
        if kind is None or body is None:  # without a kind, data in the page's scripts are an article's
            found = best.fill_fields(document, link, fetched, reading)
            return replace(found, kind=ARTICLE, kind_probability=found.confidence)
        content = choose_content(body, kind)
        if kind.name == ARTICLE:
            content = add_facts(best.drop_boilerplate(content, document, reading.heading, self.knowledge))
        found = best.fill_fields(document, link, fetched, replace(reading, body=content), any_page=True)
        if kind.probability_of(THREAD) >= MIN_THREAD_PROBABILITY and (posts := posts_of(document, fetched)):
            return replace(_with_posts(found, posts, document.base), kind=THREAD, kind_probability=round(kind.probability_of(THREAD), 3))
        return replace(found, kind=_name(kind, document.url, found), kind_probability=round(kind.probability, 3))


def _name(kind: PageKind, url: str, found: Extraction) -> str:
    """Return the kind, refined by URL and images where the models have no class of their own."""
    if kind.name in LIST_KINDS and urlsplit(url).path in ("", "/"):
        return "front page"
    pictures = len(found.images)
    story = kind.name == ARTICLE and pictures >= MIN_STORY_IMAGES and len(found.text or "") < MAX_CHARS_PER_IMAGE * pictures
    return "photo story" if story else kind.name


def _length(reading: best.PageParts) -> int:
    """Return the number of visible characters on the page."""
    return sum(block.length for block in reading.body.page.blocks) if reading.body is not None else 0


def without_scripts(document: dom.Document) -> dom.Document:
    """Return the page as displayed without scripts: some pages have their content in ``noscript`` only."""
    return replace(document, html=document.html.replace(f"<{NOSCRIPT}", "<div").replace(f"</{NOSCRIPT}", "</div"))


def choose_content(body: Body, kind: PageKind, model: PageModel | None = None) -> Body:
    """Return ``body`` with the blocks that are content, from the models for news and any page (``model``), weighted by the page's kind."""
    table = body.table
    if table is None:
        return body
    model = model or page_model()
    weight = kind.news * min(1.0, kind.probability_of(ARTICLE) / MIN_ARTICLE_PROBABILITY)
    full = full_table(body.page, table, body.probability, kind)
    probs = drop_dialogs(mix_probabilities(body.probability, content_probability(model, full, kind), weight), body.page)
    if weight >= MIN_NEWS_PROBABILITY:
        return choose_body(body.page, probs, table)
    probs = damp_correlated(probs, kind)
    if model.network is not None:
        weight = NETWORK_WEIGHT * (1 - kind.probability_of(ARTICLE) - kind.probability_of(DOCUMENTATION))
        probs = mix_probabilities(model.network.predict(full, body.page), probs, weight)
    if kind.name != DOCUMENTATION:
        probs = drop_duplicates(probs, body.page)
    return Body(body.page, drop_copies(maximise_expected_f1(probs, table.length), body.page), probs, table)


def drop_dialogs(probs: NDArray[np.float32], page: Blocks) -> NDArray[np.float32]:
    """Return ``probs`` with 0 in dialogs, which hold notices and forms, unless nothing else is content."""
    result = probs.copy()
    for box in np.flatnonzero(np.array(page.mask) & SIDE_MASK).tolist():
        if DIALOG.search(page.nodes[box].get("class") or ""):
            result[page.start[box] : page.end[box]] = 0
    return result if result.max() >= MIN_BLOCK_PROBABILITY else probs


def add_facts(body: Body) -> Body:
    """Return ``body`` with an event's facts between heading and text: from the first to after the last label, if two labels differ."""
    after, linked = body.table.select(("after_heading", "linked")) if body.table else np.zeros((2, len(body.chosen)))
    lines = enumerate(body.page.texts[: body.chosen.argmax()])
    labels = {at: found[1] for at, line in lines if after[at] > 0 and (found := FACT.search(line))}
    if len({*labels.values()}) > 1:
        facts = slice(min(labels), max(labels) + 2)
        body.chosen[facts] |= (linked[facts] < 0.5) & (len("".join(body.page.texts[facts])) <= MAX_FACTS_CHARS)
    return body


def drop_duplicates(probs: NDArray[np.float32], page: Blocks) -> NDArray[np.float32]:
    """Return ``probs`` with 0 for lines that repeat a likelier line from a box with another path: cards, menus and tabs are duplicated for
    phones. Cross-validated by site, products gain 0.7 points of F1, collections 0.6, listings 1.0. On the same path it may be intended."""
    result, forms = probs.copy(), dict[str, int]()
    for number in np.argsort(-probs, kind="stable").tolist():
        block = page.blocks[number]
        result[number] *= forms.setdefault(block.text, form := page.path[block.box]) == form
    return result


def damp_correlated(probs: NDArray[np.float32], kind: PageKind) -> NDArray[np.float32]:
    """Return ``probs``, less certain on pages of a kind in ``CORRELATED``: logit p' = (1 − DAMPING · P(CORRELATED)) · logit p."""
    return mix_probabilities(probs, np.full_like(probs, 0.5), 1 - DAMPING * sum(map(kind.probability_of, CORRELATED)))


def mix_probabilities(news: NDArray[np.float32], content: NDArray[np.float32], weight: float) -> NDArray[np.float32]:
    score = weight * log_odds(news) + (1 - weight) * log_odds(content)
    result: NDArray[np.float32] = (1 / (1 + np.exp(-score))).astype(np.float32)
    return result


def maximise_expected_f1(probs: NDArray[np.float32], length: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Choose the likeliest blocks, as many as maximise the expected F1. This lowers the threshold if the model is uncertain everywhere
    (Lipton, Elkan and Naryanaswamy, ECML 2014: the best is half the F1 it gives), but not below ``MIN_BLOCK_PROBABILITY``."""
    order = np.argsort(-probs, kind="stable")
    size, right = length[order].astype(np.float64), (probs * length)[order].astype(np.float64)
    expected = 2 * right.cumsum() / np.maximum(size.cumsum() + right.sum(), 1)
    chosen = np.zeros(len(probs), dtype=np.bool_)
    chosen[order[: int(expected.argmax()) + 1]] = True
    return chosen & (probs >= MIN_BLOCK_PROBABILITY)


def posts_of(document: dom.Document, fetched: datetime) -> tuple[Post, ...]:
    """Return the posts with text found by the thread extractor; empty if the page is not a thread."""
    try:
        return tuple(post for post in read_posts(document, fetched) if post.text)
    except NotApplicable:
        return ()


def _with_posts(found: Extraction, posts: tuple[Post, ...], base: str) -> Extraction:
    """Return the thread as the text of its posts, with the author and date of its opening post; in the HTML of each post."""
    html = ""
    for post in posts:
        head = " · ".join(filter(None, (post.author, post.date_text)))
        html += (f"<h3>{escape(head)}</h3>" if head else "") + "".join(f"<p>{escape(line)}</p>" for line in (post.text or "").split("\n"))
    text, author = "\n".join(post.text or "" for post in posts), posts[0].author or found.author
    started = min(filter(None, (post.published for post in posts)), default=found.published)  # the first post's date may be its last edit
    return replace(found, text=text, html=sanitise(html, base), author=author, published=started)
