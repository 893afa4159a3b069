"""Documents of every index: displayed fields, filters and words. An index built with another segmenter is rebuilt."""

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from newsportal.errors import SearchError
from newsportal.items import content_id
from newsportal.search.base import Index
from newsportal.search.counting import TOPIC_SEPARATOR
from newsportal.search.match import Place, label
from newsportal.search.suggesting import Suggestion, suggestions_of
from newsportal.search.words import grams, index_words, runs
from newsportal.store.columns import EPOCH, MICROSECOND
from newsportal.store.results import StoredArticle, is_gallery, is_thread
from newsportal.store.store import Store
from newsportal.text.words import signature


@dataclass(frozen=True, slots=True)
class Doc:
    """An article to be indexed; its segmentation is done before any lock is taken."""

    id: str
    signature: str
    story_id: str
    url: str
    title: str
    site: str | None
    author: str | None
    category: str | None
    topics: str
    kind: str
    published: int | None
    moment: int
    text: str


@dataclass(frozen=True, slots=True)
class DocTerms:
    """Words of an article. ``title``, ``text``: in order, with repetitions. ``name_grams``: of each name. ``labels``: exact values."""

    title: tuple[str, ...]
    text: tuple[str, ...]
    name_grams: dict[Place, frozenset[str]]
    labels: tuple[str, ...]
    grams: frozenset[str]
    title_grams: frozenset[str]
    suggestions: frozenset[Suggestion]


def visible_articles(articles: Iterable[StoredArticle]) -> Iterator[StoredArticle]:
    """Return the articles that are not hidden by editors."""
    return (article for article in articles if article.hidden is None)


def doc_of(article: StoredArticle) -> Doc:
    """Return the fields indexed of ``article``. ``signature`` changes if its words must be indexed again."""
    moment = (article.moment - EPOCH) // MICROSECOND
    published = (article.published - EPOCH) // MICROSECOND if article.published else None
    topics = TOPIC_SEPARATOR.join(article.topics)
    kind = "thread" if is_thread(article.source) else "gallery" if is_gallery(article.source) else "article"
    values = (article.url, article.title, article.site, article.author, article.category, topics, kind, published, moment, article.text)
    return Doc(article.id, content_id(repr(values)), article.story_id, *values)


def segment_doc(doc: Doc) -> DocTerms:
    """Segment an article: the expensive part (jieba), done once per article."""
    topics = [topic for topic in doc.topics.split(TOPIC_SEPARATOR) if topic]
    labels = [label("topic", topic) for topic in topics]
    labels += [label(kind, value) for kind, value in (("site", doc.site), ("category", doc.category)) if value]
    names: dict[Place, str | None] = {"site": doc.site, "author": doc.author, "topic": doc.topics, "category": doc.category}
    title, text = list(runs(doc.title)), list(runs(doc.text))
    in_title = frozenset(grams(title))
    return DocTerms(
        title=tuple(index_words(title)),
        text=tuple(index_words(text)),
        name_grams={place: frozenset(grams(runs(name or ""))) for place, name in names.items()},
        labels=(*labels, label("kind", doc.kind)),
        grams=in_title | grams(text),
        title_grams=in_title,
        suggestions=frozenset(suggestions_of(doc.title, topics)),
    )


def segmenter_number() -> int:
    """Return the number of the current segmenter, dictionary and user words."""
    return int(content_id(signature())[:15], 16)  # 60 bits: databases' integers are signed


log = logging.getLogger(__name__)


def rebuild_if_needed(index: Index, store: Store) -> None:
    """Rebuild ``index`` if necessary. If another process finishes a rebuild first, its result is used."""
    if not index.needs_rebuild() and index.position() <= store.last_seq():  # else an older backup was restored
        return
    reason = "the segmenter or the custom words have changed, most of its entries are of deleted articles, or the store is older"
    log.warning("the search index is rebuilt: %s; searches continue meanwhile", reason)
    try:
        index.rebuild(store)
    except SearchError:
        if index.needs_rebuild():
            raise
