"""Changes of articles by editors, for pages and API: each is made under the editor's name, logged, and can be undone."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from secrets import token_hex
from typing import Annotated, Any, Final

from fastapi import Depends, HTTPException, Request

from newsportal.items import TopicMark
from newsportal.portal.access import log_change, or_404
from newsportal.portal.context import Visit
from newsportal.services.editing.drafts import LOGGED_CHARS, Editor
from newsportal.store.article_rows import EDITOR
from newsportal.store.results import StoredArticle, TopicChange

MAX_CAPTION: Final = 2000  # characters of a caption; more is a text pasted into the wrong field


def editor(visit: Visit) -> Editor:
    return Editor(visit.portal.store, **editor_arguments(visit))


def editor_arguments(visit: Visit) -> dict[str, Any]:
    """Return the editor's name, the time and the log function of a change, as arguments of a service."""
    name = visit.signed_in.person.name if visit.signed_in is not None else ""
    return {"by": name, "now": visit.portal.now(), "log": partial(log_change, visit.request)}


def set_captions(visit: Visit, id: str, captions: Mapping[str, str | None]) -> int:
    """Set captions of a photo story by the URLs of its pictures (``None``: reset to the page's); return how many changed."""
    galleries = visit.portal.store.galleries
    before = {picture.image.url: picture.image.caption for picture in galleries.pictures(id)}
    number = galleries.set_captions(id, captions, now=visit.portal.now())
    after = [(str(picture.place), before.get(picture.image.url), picture.image.caption) for picture in galleries.pictures(id)]
    changed = {place: [(old or "")[:LOGGED_CHARS], (new or "")[:LOGGED_CHARS]] for place, old, new in after if old != new}
    if number:
        log_change(visit.request, "article.caption", id, {"captions": changed})
    return number


def set_category(visit: Visit, articles: Collection[StoredArticle], category: str | None, by: str) -> list[str]:
    """Set the category of articles; return the ids of those that had another. ``by`` other than ``editor`` undoes an editor's choice."""
    changed = [article for article in articles if (article.category, article.category_by) != (category, by)]
    for article in changed:
        visit.portal.store.set_category(article.id, category, by=by, now=visit.portal.now(), over=True)
        details = {"category": [article.category, category], "by": [article.category_by, by]}
        log_change(visit.request, "article.category", article.id, details)
    return [article.id for article in changed]


def add_topic(visit: Visit, ids: Collection[str], topic: str) -> list[str]:
    """Assign a topic to articles as an editor's choice; return the ids of those that did not have it."""
    mark = TopicMark(topic, EDITOR)
    return _mark_topic(visit, ids, topic, "article.topic", lambda article: TopicChange(article.id, (mark,)), assigned=False)


def remove_topic(visit: Visit, ids: Collection[str], topic: str) -> list[str]:
    """Remove a topic that an editor or its words assigned, not one from a source, a search or a model; return the ids that lost it."""
    return _mark_topic(visit, ids, topic, "article.topic-out", lambda article: TopicChange(article.id, drop=(topic,)), assigned=True)


def _mark_topic(
    visit: Visit, ids: Collection[str], topic: str, action: str, mark: Callable[[StoredArticle], TopicChange], *, assigned: bool
) -> list[str]:
    store = visit.portal.store
    selected = [article for article in store.articles(list(dict.fromkeys(ids))) if (topic in article.topics) == assigned]
    store.mark_topics([mark(article) for article in selected], now=visit.portal.now())
    changed = [article.id for article in store.articles([article.id for article in selected]) if (topic in article.topics) != assigned]
    for id in changed:
        log_change(visit.request, action, id, {"topic": topic})
    return changed


ACTION: Final = "article.many"
CHANGES_SEARCHED: Final = 200  # how many of the latest changes of many articles can be undone

Details = dict[str, Any]


def _show(visit: Visit, ids: Sequence[str], _sent: Mapping[str, str]) -> Details:
    reasons = {article.id: article.hidden_reason for article in visit.portal.store.articles(ids)}
    return {"before": {id: reasons.get(id) or "" for id in editor(visit).show(ids)}}


def _category(visit: Visit, ids: Sequence[str], fields: Mapping[str, str]) -> Details:
    category = fields.get("category", "").strip() or None
    before = {article.id: article for article in visit.portal.store.articles(ids)}
    changed = set_category(visit, before.values(), category, EDITOR)
    return {"before": {id: [before[id].category, before[id].category_by] for id in changed}, "category": category}


BULK_CHANGES: Final[Mapping[str, Callable[[Visit, Sequence[str], Mapping[str, str]], Details]]] = {
    "hide": lambda visit, ids, fields: {"before": dict.fromkeys(editor(visit).hide(ids, fields.get("reason", "")))},
    "show": _show,
    "category": _category,
    "topic": lambda visit, ids, fields: {"before": dict.fromkeys(add_topic(visit, ids, topic := fields.get("topic", ""))), "topic": topic},
}  # changes of many articles at once, by name


def change_many(visit: Visit, do: str, ids: Sequence[str], fields: Mapping[str, str]) -> tuple[int, str | None]:
    """Make one of :data:`BULK_CHANGES`; ``fields``: ``reason``, ``category``, ``topic``. Return the number of changed articles, and the key
    by which to undo the change."""
    details = BULK_CHANGES[do](visit, ids, fields)
    if not details["before"]:
        return 0, None
    key = token_hex(8)
    log_change(visit.request, ACTION, do, {"key": key, **details})
    return len(details["before"]), key


def undo_change(visit: Visit, key: str) -> int | None:
    """Undo a change, except of articles changed since; return the number of articles. ``None``: the change is unknown or too old."""
    latest = visit.portal.accounts.audit_log.entries(action=ACTION, limit=CHANGES_SEARCHED)
    entry = next((entry for entry in latest if entry.details.get("key") == key), None)
    return None if entry is None else UNDO[entry.subject](visit, entry.details)


def _hide_again(visit: Visit, details: Mapping[str, Any]) -> int:
    by_reason: dict[str, list[str]] = {}
    for id, reason in details["before"].items():
        by_reason.setdefault(reason, []).append(id)
    return sum(len(editor(visit).hide(ids, reason)) for reason, ids in by_reason.items())


def _restore_categories(visit: Visit, details: Mapping[str, Any]) -> int:
    before: Mapping[str, Sequence[str | None]] = details["before"]
    articles = visit.portal.store.articles(list(before))
    unchanged = [article for article in articles if (article.category, article.category_by) == (details["category"], EDITOR)]
    return sum(len(set_category(visit, [article], before[article.id][0], before[article.id][1] or "lexicon")) for article in unchanged)


UNDO: Final[Mapping[str, Callable[[Visit, Mapping[str, Any]], int]]] = {
    "hide": lambda visit, details: len(editor(visit).show(list(details["before"]))),
    "show": _hide_again,
    "category": _restore_categories,
    "topic": lambda visit, details: len(remove_topic(visit, list(details["before"]), details["topic"])),
}  # how to undo each of :data:`BULK_CHANGES`


class MovedVersion(HTTPException):
    """Raised for a version that was moved to another story; the error handler redirects to ``location``."""

    def __init__(self, location: str) -> None:
        super().__init__(303)
        self.location = location


def version_of(request: Request, story_id: str, article_id: str) -> StoredArticle:
    """Return the article; raises 404, and ``MovedVersion`` if a GET names a story that it no longer belongs to."""
    article = or_404(Visit(request).portal.store.article(article_id))
    if article.story_id != story_id and request.method == "GET":
        rest, query = request.url.path.removeprefix(f"/story/{story_id}/{article_id}"), request.url.query
        raise MovedVersion(f"/story/{article.story_id}/{article.id}{rest}{'?' if query else ''}{query}")
    return article


Version = Annotated[StoredArticle, Depends(version_of)]


def article_path(article: StoredArticle) -> str:
    return f"/story/{article.story_id}/{article.id}"
