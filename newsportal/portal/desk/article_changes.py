"""What editors do to articles, for pages and API: each change is made under the name of who asks, logged, and can be taken back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from secrets import token_hex
from typing import Annotated, Any, Final

from fastapi import Depends, HTTPException, Request

from newsportal.items import TopicMark
from newsportal.portal.access import log, or_404
from newsportal.portal.context import Visit
from newsportal.services.editing.drafts import LOGGED_CHARS, Editor
from newsportal.store.article_rows import EDITOR
from newsportal.store.results import Marking, StoredArticle

MOST_CAPTION: Final = 2000  # characters of a caption; more is a text that was put into the wrong field


def editor(visit: Visit) -> Editor:
    """Who asks, as services know him."""
    return Editor(visit.portal.store, **by_editor(visit))


def by_editor(visit: Visit) -> dict[str, Any]:
    """Under whose name a service makes a change, when, and how it is written down."""
    name = visit.signed_in.person.name if visit.signed_in is not None else ""
    return {"by": name, "now": visit.portal.now(), "log": partial(log, visit.request)}


def caption(visit: Visit, id: str, captions: Mapping[str, str | None]) -> int:
    """Captions of a photo story by the addresses of its pictures (``None``: again what its page says); answers how many are others now."""
    rooms = visit.portal.store.galleries
    before = {one.image.url: one.image.caption for one in rooms.pictures(id)}
    number = rooms.caption(id, captions, now=visit.portal.now())
    after = [(str(one.place), before.get(one.image.url), one.image.caption) for one in rooms.pictures(id)]
    changed = {place: [(was or "")[:LOGGED_CHARS], (now or "")[:LOGGED_CHARS]] for place, was, now in after if was != now}
    if number:
        log(visit.request, "article.caption", id, {"captions": changed})
    return number


def judge(visit: Visit, found: Collection[StoredArticle], wanted: str | None, by: str) -> list[str]:
    """Give these a category; answers those that had another. ``by`` other than ``editor``: an editor takes his word back."""
    changed = [article for article in found if (article.category, article.category_by) != (wanted, by)]
    for article in changed:
        visit.portal.store.set_category(article.id, wanted, by=by, now=visit.portal.now(), over=True)
        log(visit.request, "article.category", article.id, {"category": [article.category, wanted], "by": [article.category_by, by]})
    return [article.id for article in changed]


def put_under(visit: Visit, ids: Collection[str], topic: str) -> list[str]:
    """Put these under a topic, by an editor's word; answers those that were not under it."""
    return _marked(visit, ids, topic, "article.topic", lambda one: Marking(one.id, (TopicMark(topic, EDITOR),)), there=False)


def out_of_topic(visit: Visit, ids: Collection[str], topic: str) -> list[str]:
    """Take out of a topic what editors or its words put there; answers those that are out of it now. What a source, a search or a model
    brought stays."""
    return _marked(visit, ids, topic, "article.topic-out", lambda one: Marking(one.id, drop=(topic,)), there=True)


def _marked(
    visit: Visit, ids: Collection[str], topic: str, action: str, mark: Callable[[StoredArticle], Marking], *, there: bool
) -> list[str]:
    store = visit.portal.store
    meant = [one for one in store.articles(list(dict.fromkeys(ids))) if (topic in one.topics) == there]
    store.mark_topics([mark(one) for one in meant], now=visit.portal.now())
    changed = [one.id for one in store.articles([one.id for one in meant]) if (topic in one.topics) != there]
    for id in changed:
        log(visit.request, action, id, {"topic": topic})
    return changed


ACTION: Final = "article.many"
LOOKED_AT: Final = 200  # of the latest changes of many articles, so many can be taken back

Details = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Done:
    """How many articles were changed; ``undo``: the name under which that can be taken back."""

    number: int
    undo: str | None


def _show(visit: Visit, ids: Sequence[str], _sent: Mapping[str, str]) -> Details:
    reasons = {one.id: one.hidden_reason for one in visit.portal.store.articles(ids)}
    return {"before": {id: reasons.get(id) or "" for id in editor(visit).show(ids)}}


def _category(visit: Visit, ids: Sequence[str], sent: Mapping[str, str]) -> Details:
    wanted = sent.get("category", "").strip() or None
    before = {one.id: one for one in visit.portal.store.articles(ids)}
    changed = judge(visit, before.values(), wanted, EDITOR)
    return {"before": {id: [before[id].category, before[id].category_by] for id in changed}, "category": wanted}


WAYS: Final[Mapping[str, Callable[[Visit, Sequence[str], Mapping[str, str]], Details]]] = {
    "hide": lambda visit, ids, sent: {"before": dict.fromkeys(editor(visit).hide(ids, sent.get("reason", "")))},
    "show": _show,
    "category": _category,
    "topic": lambda visit, ids, sent: {"before": dict.fromkeys(put_under(visit, ids, topic := sent.get("topic", ""))), "topic": topic},
}  # what may be done to many


def change(visit: Visit, do: str, ids: Sequence[str], sent: Mapping[str, str]) -> Done:
    """Do one of :data:`WAYS`; ``sent``: ``reason``, ``category``, ``topic``."""
    details = WAYS[do](visit, ids, sent)
    if not details["before"]:
        return Done(0, None)
    key = token_hex(8)
    log(visit.request, ACTION, do, {"key": key, **details})
    return Done(len(details["before"]), key)


def take_back(visit: Visit, key: str) -> int | None:
    """Undo a change as far as nobody changed the articles since; answers of how many. ``None``: nobody knows it any more."""
    latest = visit.portal.accounts.trail.entries(action=ACTION, limit=LOOKED_AT)
    entry = next((one for one in latest if one.details.get("key") == key), None)
    return None if entry is None else BACK[entry.thing](visit, entry.details)


def _hidden_again(visit: Visit, told: Mapping[str, Any]) -> int:
    by_reason: dict[str, list[str]] = {}
    for id, reason in told["before"].items():
        by_reason.setdefault(reason, []).append(id)
    return sum(len(editor(visit).hide(ids, reason)) for reason, ids in by_reason.items())


def _judged_back(visit: Visit, told: Mapping[str, Any]) -> int:
    before: Mapping[str, Sequence[str | None]] = told["before"]
    found = visit.portal.store.articles(list(before))
    same = [one for one in found if (one.category, one.category_by) == (told["category"], EDITOR)]
    return sum(len(judge(visit, [one], before[one.id][0], before[one.id][1] or "lexicon")) for one in same)


BACK: Final[Mapping[str, Callable[[Visit, Mapping[str, Any]], int]]] = {
    "hide": lambda visit, told: len(editor(visit).show(list(told["before"]))),
    "show": _hidden_again,
    "category": _judged_back,
    "topic": lambda visit, told: len(out_of_topic(visit, list(told["before"]), told["topic"])),
}  # how each of :data:`WAYS` is taken back


class MovedVersion(HTTPException):
    """Raised for a version that was moved to another story; the error handler redirects to ``location``."""

    def __init__(self, location: str) -> None:
        super().__init__(303)
        self.location = location


def version_of(request: Request, story_id: str, article_id: str) -> StoredArticle:
    """The article; raises 404, and ``MovedVersion`` for a reader of a page that is in another story now."""
    article = or_404(Visit(request).portal.store.article(article_id))
    if article.story_id != story_id and request.method == "GET":
        rest, asked = request.url.path.removeprefix(f"/story/{story_id}/{article_id}"), request.url.query
        raise MovedVersion(f"/story/{article.story_id}/{article.id}{rest}{'?' if asked else ''}{asked}")
    return article


Version = Annotated[StoredArticle, Depends(version_of)]


def page_of(article: StoredArticle) -> str:
    return f"/story/{article.story_id}/{article.id}"
