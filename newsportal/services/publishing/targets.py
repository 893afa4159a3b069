"""Targets as named in ``sources.yaml``: which articles each receives, what to do with an entry, and opening them.

The driver of a database is imported when its target is opened.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from importlib import import_module
from typing import Final, Literal
from zoneinfo import ZoneInfo

from newsportal.errors import DependencyMissing
from newsportal.net import egress
from newsportal.services.publishing.base import Target, UnknownTarget
from newsportal.services.publishing.fields import MissingDriver, kind_of
from newsportal.sources import Sources
from newsportal.sources.publishing import Only, Way
from newsportal.sources.publishing import Target as Settings
from newsportal.store.outbox import ACTIONS, OutboxEntry
from newsportal.store.results import StoredArticle
from newsportal.store.store import Store

Action = Literal["put", "keep", "remove", "skip", "wait"]
"""Write the current state; leave as it is; withdraw; not for this target; check again later."""


def is_selected(article: StoredArticle, only: Only) -> bool:
    """Return whether an article is selected, whatever version of its story it is."""
    return (
        article.hidden is None
        and kind_of(article) in only.kinds
        and (not only.topics or not set(only.topics).isdisjoint(article.topics))
        and (not only.categories or article.category in only.categories)
        and (not only.sources or bool({article.source, article.source.partition(":")[2]}.intersection(only.sources)))
        and len(article.text) >= only.min_chars
        and (only.since is None or article.first_seen >= only.since)
    )


def decide(target: Settings, entry: OutboxEntry, article: StoredArticle | None, head: str | None, others: Iterable[OutboxEntry]) -> Action:
    """Return what to do with a leased entry. ``head``: id of its story's original; ``others``: entries of the other versions. A story is
    published once per target: the version that was the original when published stays, even if another one becomes the original. A published
    article that is no longer selected (an editor changed its category) stays and is updated."""
    if entry.action == "withdraw" or article is None:
        return "remove"
    if article.hidden is not None:
        return "remove" if entry.published else "skip"
    if entry.published:
        return "put" if target.revisions == "update" else "keep"
    if not is_selected(article, target.only):
        return "skip"
    if target.only.versions == "heads":
        siblings = [other for other in others if other.article_id != entry.article_id]
        if any(other.published and other.state != "withdrawn" for other in siblings):
            return "skip"
        if any(other.state == "under-way" for other in siblings):
            return "wait"
        if head != article.id:
            return "skip"
    return "put"


def candidates(target: Settings, articles: Iterable[StoredArticle], heads: Mapping[str, str], with_entry: Collection[str]) -> list[str]:
    """Return which of the changed articles to check. ``heads``: story → id of its original; ``with_entry``: articles with an entry."""
    found: list[str] = []
    for article in articles:
        head = heads.get(article.story_id)
        if article.id in with_entry or (is_selected(article, target.only) and (target.only.versions == "all" or head == article.id)):
            found.append(article.id)
        elif target.only.versions == "heads" and head is not None:
            found.append(head)  # it joined or left a story, whose original may have changed
    return list(dict.fromkeys(found))


WAYS: Final[Mapping[Way, str]] = {
    "database": "tables:TableTarget",
    "folder": "folder:FolderTarget",
    "webhook": "webhook:WebhookTarget",
    "mongodb": "mongodb:MongoTarget",
    "elasticsearch": "elasticsearch:ElasticsearchTarget",
}
DRIVERS: Final[Mapping[Way, str]] = {"mongodb": "MongoDB", "elasticsearch": "Elasticsearch"}
"""Targets of documents; their drivers are extras of the same name."""


def open_target(target: Settings, sources: Sources) -> Target:
    module, _, name = WAYS[target.way].partition(":")
    try:
        target_class: Callable[..., Target] = getattr(import_module(f"newsportal.services.publishing.{module}"), name)
    except ModuleNotFoundError:
        return MissingDriver(DependencyMissing(f"publishing into {DRIVERS[target.way]}", target.way))
    if target.way in DRIVERS:
        return target_class(target)
    zone = ZoneInfo(sources.portal.timezone)
    if target.way == "webhook":
        return target_class(target, zone, egress.Policy(tuple(sources.politeness.allow_private)), sources.user_agent)
    return target_class(target, zone)


def request_publication(store: Store, targets: Collection[str], target: str, article_id: str, action: str, now: datetime) -> str:
    """Request to ``publish`` or ``withdraw`` an article; return the previous action, by default ``withdraw``. Raises ``UnknownTarget``."""
    before = store.outbox.of(target, [article_id]).get(article_id)
    valid = target in targets or before is not None
    if not valid or action not in ACTIONS or (before is None and (action == "withdraw" or store.article(article_id) is None)):
        raise UnknownTarget(target)
    store.outbox.request(target, [article_id], "publish" if action == "publish" else "withdraw", now=now)
    return before.action if before else "withdraw"
