"""Stage 5, classify: the category (of the source, or chosen if the source has none), the topics, keywords and language.

A category is chosen by the active model of the corpus ``categories`` if it is good enough, else by the lexicon; the article stores who
chose it and the deciding words. Topics come from the source, the search, keywords, and the topic's own model if there is one.
"""

import logging
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import Final

from newsportal.classify import lexicon, topics
from newsportal.classify.base import Classifier
from newsportal.classify.keywords import keywords
from newsportal.classify.topics import EDITOR, KEYWORDS, SEARCH, SOURCE
from newsportal.crawl.record import LoadedModel
from newsportal.errors import NotApplicable
from newsportal.items import Article
from newsportal.messages import Message
from newsportal.pipelines.base import Stage
from newsportal.services.exchange.form import UNNAMED
from newsportal.sources import Gallery, Sources
from newsportal.sources.places import ArticlePlace
from newsportal.store.labels import CATEGORIES

logger = logging.getLogger(__name__)

LEXICON: Final = lexicon.NAME
PLAIN: Final = 0.5
"""From this score on the lexicon overrides a model that was not trained on the category, and so assigns only other labels."""

VERY_SURE: Final = 0.95  # Minimum score of a model to override a lexicon's weaker choice of such a category
MAX_WORDS: Final = 5  # Number of reasons requested from a classifier: as many as are displayed


@dataclass(frozen=True, slots=True)
class Choice:
    """A category and the classifier that chose it."""

    category: str | None = None
    by: str | None = None
    score: float | None = None
    reason: str | None = None


class ClassifyPipeline(Stage):
    def setup(self) -> None:
        sources = self.tracker.sources
        self._least = sources.classifier.good_enough
        self._rules = tuple(topic.rule for topic in sources.topics if topic.enabled)
        places = [source for source in sources.all() if isinstance(source, ArticlePlace | Gallery)]
        self._languages = {feed.key: feed.language for feed in sources.feeds if feed.language}
        self._of_source = {place.key: place.topics for place in places}
        self._chosen_for = {place.key for place in places if place.auto_classify} | {
            topic.key for topic in sources.topics if topic.auto_classify
        }
        self._chosen_for.add(UNNAMED)  # pages of an archive without a source
        self._lexicon = words_of(sources)
        self._counts: dict[str, Counter[str]] = defaultdict(Counter)

    async def process(self, article: Article) -> Article:
        classified: Article = await self.tracker.readers.run(self.classified, article)
        if self._is_chosen(classified):
            self._counts[classified.source][classified.category_by or "nobody"] += 1
        for mark in classified.topic_marks:
            if topics.is_doubtful(mark):
                self.tracker.note(classified.source, Message("note.topic-doubtful", topic=mark.topic))
            elif mark.by not in (SOURCE, SEARCH, KEYWORDS, EDITOR):
                self.tracker.note(classified.source, Message("note.topic-by-model", topic=mark.topic))
        return classified

    def classified(self, article: Article) -> Article:
        """Return the article with category, topics, keywords (most of the work: in a reader) and language. Blocking; thread-safe."""
        try:
            words = self.tracker.readers.call(keywords, article.title or "", article.text or "")
        except NotApplicable as error:  # the article is stored without them
            logger.warning("%s has no keywords: %s", article.url, error, extra={"url": article.url})
            words = ()
        choice = self._category(article)
        link = article.link
        marked_by = dict.fromkeys(self._of_source.get(link.source, ()), SOURCE)
        if link.topic:
            marked_by.setdefault(link.topic, SEARCH)
        for name in topics.match(self._rules, article.title, article.text, link.summary):
            marked_by.setdefault(name, KEYWORDS)
        marks = []
        for name in dict.fromkeys((*marked_by, *(rule.name for rule in self._rules))):
            loaded = self._model(topics.corpus_of(name), article)
            score = loaded.classifier.classify(article.title or "", article.text or "").scores.get(topics.IN) if loaded else None
            if mark := topics.topic_mark(name, marked_by.get(name), score, loaded.name if loaded else ""):
                marks.append(mark)
        return replace(
            article,
            topics=tuple(dict.fromkeys((*article.topics, *(mark.topic for mark in marks)))),
            topic_marks=tuple(marks),
            keywords=tuple(word.word for word in words),
            category=choice.category,
            category_by=choice.by,
            category_score=choice.score,
            category_reason=choice.reason,
            language=self._languages.get(article.link.source, article.language),
        )

    async def close_spider(self) -> None:
        """Report how many articles were classified by each classifier."""
        for source, counts in self._counts.items():
            text = ", ".join(f"{by}: {number}" for by, number in sorted(counts.items()))
            self.tracker.note(source, Message("note.category-by", counts=text))

    # category

    def _category(self, article: Article) -> Choice:
        category = article.category or article.link.category
        default = Choice(category, SOURCE) if category else Choice()
        if not self._is_chosen(article):
            return default
        choice, classifier = self._chosen(article)
        return explained(choice, classifier, article) if choice is not None else default

    def _chosen(self, article: Article) -> tuple[Choice | None, Classifier]:
        """Return the choice, and the classifier to explain it."""
        by_lexicon = chosen_by(self._lexicon, LEXICON, article)
        loaded = self._model(CATEGORIES, article)
        if loaded is None:
            return by_lexicon, self._lexicon
        if by_lexicon is not None and by_lexicon.category in loaded.classifier.labels:
            by_lexicon = None  # the model knows the category and is more accurate
        if by_lexicon is not None and (by_lexicon.score or 0.0) >= PLAIN:
            return by_lexicon, self._lexicon
        by_model = chosen_by(loaded.classifier, loaded.name, article)
        if by_model is None or (by_lexicon is not None and (by_model.score or 0.0) < VERY_SURE):
            return by_lexicon, self._lexicon
        return by_model, loaded.classifier

    def _is_chosen(self, article: Article) -> bool:
        link = article.link
        return link.source in self._chosen_for or (link.topic is not None and f"topic:{link.topic}" in self._chosen_for)

    def _model(self, corpus: str, article: Article) -> LoadedModel | None:
        """Return the corpus's model if it may be used; otherwise note the reason in the report."""
        loaded = self.tracker.models.active(corpus)
        if loaded is None:
            if trouble := self.tracker.models.load_error(corpus):
                self.tracker.note(article.source, trouble)
            return None
        if loaded.macro_f1 is not None and loaded.macro_f1 >= self._least:
            return loaded
        code = "note.model-unmeasured" if loaded.macro_f1 is None else "note.model-weak"
        figure = None if loaded.macro_f1 is None else f"{loaded.macro_f1:.2f}"
        self.tracker.note(article.source, Message(code, version=loaded.version, corpus=corpus, figure=figure, least=float(self._least)))
        return None


def chosen_by(classifier: Classifier, name: str, article: Article) -> Choice | None:
    """Return a classifier's choice for an article; ``None`` if no category fits."""
    answer = classifier.classify(article.title or "", article.text or "")
    return None if answer.label is None else Choice(answer.label, name, round(answer.scores.get(answer.label, 0.0), 4))


def explained(choice: Choice, classifier: Classifier, article: Article) -> Choice:
    """Return the choice with the deciding words. They cost four times the classification, so only the final choice is explained."""
    reasons = classifier.explain(article.title or "", article.text or "", choice.category, MAX_WORDS)
    return replace(choice, reason=lexicon.explain(reasons))


def words_of(sources: Sources) -> lexicon.Lexicon:
    """Return the lexicon extended by ``sources.yaml``."""
    extra = [lexicon.Category(category.name, {3: category.words, 1: category.hints}) for category in sources.categories if category.enabled]
    return lexicon.lexicon(extra, without=[category.name for category in sources.categories if not category.enabled])
