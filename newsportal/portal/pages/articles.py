"""``/articles``: editors look through articles by what may want a hand, hide many at once, give many a category; and for one article the
same from its page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlencode

from fastapi import APIRouter, HTTPException, Request, Response
from starlette.concurrency import run_in_threadpool

from newsportal.accounts import Right
from newsportal.portal.access import needs
from newsportal.portal.articles import hide_all, judge, show_all
from newsportal.portal.context import Visit
from newsportal.portal.language import _
from newsportal.portal.many import WAYS, change, take_back
from newsportal.portal.notices import told
from newsportal.portal.preferences import safe_next
from newsportal.portal.render import address, render
from newsportal.portal.sent import form
from newsportal.portal.sent import many as every_field
from newsportal.portal.source_names import all_called, calling, key_of
from newsportal.portal.versions import said_in, version_of
from newsportal.store.article_rows import EDITOR
from newsportal.store.lists import ArticleFilter
from newsportal.store.results import StoredArticle

router = APIRouter(dependencies=[needs(Right.EDIT)])

PAGE: Final = 50
MOST_NAMES: Final = 500
"""Sources that the field offers while one types: some 20 kB."""

SHORT: Final = 100
"""Characters; a shorter text is a flash, or an extraction that went wrong."""

UNSURE: Final = 0.6
"""Scores of classifiers below this are worth a look. Chosen."""


FILTERS: Final[Mapping[str, tuple[str, ArticleFilter]]] = {
    "all": (_("All"), ArticleFilter()),
    "hidden": (_("Hidden"), ArticleFilter(hidden=True)),
    "corrected": (_("Corrected"), ArticleFilter(corrected=True)),
    "judged": (_("Category by an editor"), ArticleFilter(judged=True)),
    "unsure": (_("Doubtful category"), ArticleFilter(unsure=UNSURE, hidden=False)),
    "short": (_("Short text"), ArticleFilter(shorter=SHORT, hidden=False)),
    "undated": (_("Without a date"), ArticleFilter(undated=True, hidden=False)),
}
"""``?show=`` -> name and filter."""

ASSIGNERS: Final = ("source", "lexicon", "model ")
"""Whose category an editor may put back in place of his own."""


@router.get("/articles")
def articles(request: Request) -> Response:
    return _page(request)


@router.get("/corrections")
def corrections(request: Request) -> Response:
    """The categories that editors chose: what classifiers are trained anew from."""
    return _page(request, "judged")


@router.post("/articles")
async def many(request: Request) -> Response:
    """``article`` (each), ``do`` (hide, show, category, topic), ``category``, ``topic``, ``reason``, ``next``."""
    told = await every_field(request)
    sent, ids = {name: values[-1] for name, values in told.items()}, dict.fromkeys(told.get("article", ()))
    return await run_in_threadpool(_many, request, sent, list(ids)[:PAGE])


@router.post("/articles/undo/{key}")
async def undone(request: Request, key: str) -> Response:
    """Take back what was done to many; ``next``: where to go then."""
    return await run_in_threadpool(_undone, request, key, {**request.query_params, **await form(request)})


@router.post("/story/{story_id}/{article_id}/hide")
async def hide(request: Request, story_id: str, article_id: str) -> Response:
    """``reason``; ``whole``: all versions of the story."""
    return await run_in_threadpool(_hide, request, story_id, article_id, await form(request))


@router.post("/story/{story_id}/{article_id}/show")
async def show(request: Request, story_id: str, article_id: str) -> Response:
    """``whole``: all versions of the story."""
    return await run_in_threadpool(_show, request, story_id, article_id, {**await form(request), **request.query_params})


@router.post("/story/{story_id}/{article_id}/category")
async def category(request: Request, story_id: str, article_id: str) -> Response:
    """``category``, empty for none. In the address also ``by``: an editor takes his word back."""
    return await run_in_threadpool(_category, request, story_id, article_id, {**request.query_params, **await form(request)})


def _hide(request: Request, story_id: str, article_id: str, sent: Mapping[str, str]) -> Response:
    article = version_of(request, story_id, article_id)
    if isinstance(article, Response):
        return article
    visit, whole = Visit(request), bool(sent.get("whole"))
    hidden = hide_all(request, _meant(visit, article, whole), sent.get("reason", ""))
    here = f"/story/{article.story_id}/{article.id}"
    undo = f"{here}/show?whole=1" if whole else f"{here}/show"
    message = _("The story is hidden from readers now.") if whole else _("The article is hidden from readers now.")
    return told(request, here, said_in(visit, message), undo=undo if hidden else None)


def _show(request: Request, story_id: str, article_id: str, sent: Mapping[str, str]) -> Response:
    article = version_of(request, story_id, article_id)
    if isinstance(article, Response):
        return article
    visit = Visit(request)
    show_all(request, _meant(visit, article, bool(sent.get("whole"))))
    return told(request, f"/story/{article.story_id}/{article.id}", said_in(visit, _("Readers see it again.")))


def _category(request: Request, story_id: str, article_id: str, sent: Mapping[str, str]) -> Response:
    article = version_of(request, story_id, article_id)
    if isinstance(article, Response):
        return article
    visit, by = Visit(request), sent.get("by", EDITOR)
    if by != EDITOR and not by.startswith(ASSIGNERS):
        raise HTTPException(422)
    judge(request, [article], sent.get("category", "").strip() or None, by)
    undo = urlencode({"category": article.category or "", "by": article.category_by or "lexicon"})
    here = f"/story/{article.story_id}/{article.id}"
    return told(request, here, said_in(visit, _("The category was changed.")), undo=f"{here}/category?{undo}" if by == EDITOR else None)


def _many(request: Request, sent: Mapping[str, str], ids: list[str]) -> Response:
    visit, do = Visit(request), sent.get("do", "")
    back = safe_next(sent.get("next")) if sent.get("next") else "/articles"
    if not ids:
        return told(request, back, said_in(visit, _("No article was chosen.")))
    if do not in WAYS:
        raise HTTPException(422)
    if do == "topic" and sent.get("topic") not in visit.portal.topics():
        return told(request, back, said_in(visit, _("Choose a topic that there is.")))
    done = change(request, do, ids, sent)
    words = visit.clock.words.ngettext("%(num)d article was changed.", "%(num)d articles were changed.", done.number)
    return told(request, back, words % {"num": done.number}, undo=_way_back(done.undo, back) if done.undo else None)


def _way_back(key: str, back: str) -> str:
    return address(f"/articles/undo/{key}", next=back)


def _undone(request: Request, key: str, sent: Mapping[str, str]) -> Response:
    visit, number = Visit(request), take_back(request, key)
    if number is None:
        raise HTTPException(404)
    words = visit.clock.words.ngettext("%(num)d article is as it was.", "%(num)d articles are as they were.", number)
    return told(request, safe_next(sent.get("next")) if sent.get("next") else "/articles", words % {"num": number})


def _meant(visit: Visit, article: StoredArticle, whole: bool) -> list[str]:
    story = visit.portal.store.story(article.story_id, hidden=True) if whole else None
    return [version.id for version in story.versions] if story is not None else [article.id]


def _page(request: Request, chosen: str | None = None) -> Response:
    visit = Visit(request)
    asked = visit.asked.get("show", "all")
    show = chosen or (asked if asked in FILTERS else "all")
    which = FILTERS[show][1]
    names = all_called(visit.portal, visit.clock.words)
    values: dict[str, Any] = {"source": key_of(visit.text("source"), names), "category": visit.text("category")}
    page = visit.portal.store.pick(_narrowed(which, values, visit.text("before")))
    path = "/corrections" if chosen else "/articles"
    more = address(path, show=None if chosen else show, **values, before=page.next) if page.next else None
    links = [(said_in(visit, name), address("/articles", show=key), key == show) for key, (name, _which) in FILTERS.items()]
    return render(
        request, "articles.html", articles=page.articles, more=more, links=links, show=show, asked=values,
        called=calling(visit.portal, visit.clock.words), names=list(names.values())[:MOST_NAMES],
        categories=visit.categories(), topics=visit.portal.topics(), here=visit.here, judged=bool(chosen),
    )  # fmt: skip


def _narrowed(which: ArticleFilter, values: Mapping[str, Any], before: str | None) -> ArticleFilter:
    return replace(which, source=values["source"], category=values["category"], before=before, limit=PAGE)
