"""What the log of changes calls what was done, in the reader's language."""

from __future__ import annotations

from collections.abc import Mapping
from gettext import NullTranslations
from typing import Final

from newsportal.portal.language import _

ACTIONS: Final[Mapping[str, str]] = {
    "alert.again": _("an alert's messages sent again"),
    "alert.change": _("alert changed"),
    "alert.delete": _("alert deleted"),
    "alert.make": _("alert made"),
    "alert.off": _("alert switched off"),
    "alert.on": _("alert switched on"),
    "alert.test": _("alert tested"),
    "article.caption": _("caption corrected"),
    "article.category": _("category of an article"),
    "article.correct": _("article corrected"),
    "article.fold": _("article folded into a story"),
    "article.hide": _("article hidden"),
    "article.show": _("article shown again"),
    "article.topic": _("article put under a topic"),
    "article.topic-out": _("article taken out of a topic"),
    "article.unfold": _("article taken out of a story"),
    "article.withdraw": _("correction taken back"),
    "category.add": _("category added"),
    "category.change": _("category changed"),
    "category.delete": _("category deleted"),
    "corpus.delete": _("corpus deleted"),
    "corpus.label": _("document labelled"),
    "corpus.upload": _("corpus uploaded"),
    "feed.renew": _("address of a feed renewed"),
    "job.assign": _("stored articles follow the topics"),
    "job.cancel": _("job ended"),
    "job.gather": _("articles gathered"),
    "job.retrain": _("all models trained"),
    "job.train": _("model trained"),
    "model.back": _("former model in use again"),
    "model.delete": _("model deleted"),
    "model.use": _("model put to use"),
    "person.add": _("user added"),
    "person.disable": _("user switched off"),
    "person.enable": _("user switched on"),
    "person.first": _("first user"),
    "person.password": _("password changed"),
    "person.remove": _("user removed"),
    "person.role": _("role changed"),
    "publishing.again": _("published again"),
    "publishing.ask": _("article asked to be published"),
    "queue.again": _("requests that were set aside tried again"),
    "queue.drop": _("requests that were set aside forgotten"),
    "search.keep": _("search saved"),
    "search.remove": _("saved search removed"),
    "search.rename": _("saved search renamed"),
    "session.begin": _("signed in"),
    "session.end": _("signed out"),
    "source.add": _("source added"),
    "source.change": _("source changed"),
    "source.delete": _("source removed"),
    "source.disable": _("source switched off"),
    "source.enable": _("source switched on"),
    "source.look": _("address looked at"),
    "source.run": _("source visited at once"),
    "source.schedule": _("schedule of a source changed"),
    "source.test": _("source tried"),
    "sources.disable": _("several sources switched off"),
    "sources.enable": _("several sources switched on"),
    "sources.interval": _("interval of several sources changed"),
    "sources.remove": _("several sources removed"),
    "sources.restore": _("former sources.yaml restored"),
    "sources.rewrite": _("sources.yaml rewritten"),
    "sources.undo": _("change of sources.yaml undone"),
    "template.forget": _("template forgotten"),
    "template.learn": _("template learnt"),
    "token.add": _("token made"),
    "token.revoke": _("token revoked"),
    "topic.add": _("topic added"),
    "topic.change": _("topic changed"),
    "topic.delete": _("topic deleted"),
    "topic.move": _("topic moved"),
    "wrapper.change": _("reading rule changed"),
}
"""Action of the log → the same in words."""


def done(action: str, words: NullTranslations) -> str:
    """One without words stays as it is."""
    return words.gettext(ACTIONS[action]) if action in ACTIONS else action
