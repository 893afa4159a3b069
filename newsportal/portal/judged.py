"""Who gave an article its category, and which of its topics are doubtful, in words."""

from __future__ import annotations

from gettext import NullTranslations

from newsportal.classify.topics import is_doubtful
from newsportal.portal.language import _
from newsportal.store.results import StoredArticle
from newsportal.text import clean

BY_MODEL = "model "

WAYS = {
    "source": _("the category of its source"),
    "editor": _("chosen by an editor"),
    "lexicon": _("chosen by its words"),
    "model": _("chosen by a trained model"),
}
"""Who chose a category, by ``StoredArticle.category_by``."""


def chosen(article: StoredArticle, words: NullTranslations) -> str | None:
    """Why an article has its category: who chose it, how sure, and by which words. ``None`` where that is not known."""
    by = article.category_by or ""
    way = WAYS.get("model" if by.startswith(BY_MODEL) else by)
    if not article.category or way is None:
        return None
    said = words.gettext(way)
    if article.category_score is not None:
        said += f" ({article.category_score:.0%})"
    return f"{said}: {clean(article.category_reason)}" if article.category_reason else said


def doubtful(article: StoredArticle) -> tuple[str, ...]:
    """The topics that keywords brought the article into, and whose model takes it for foreign."""
    return tuple(mark.topic for mark in article.topic_marks if is_doubtful(mark))
