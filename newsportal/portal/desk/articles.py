"""``/articles``: editors filter articles that may need work and change many at once; or one: its visibility, category and story."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import Any, Final
from urllib.parse import urlencode

from fastapi import APIRouter, HTTPException, Request, Response

from newsportal.errors import StoreError
from newsportal.portal.access import EDIT, or_404
from newsportal.portal.context import Visit, VisitDep
from newsportal.portal.desk.article_changes import BULK_CHANGES, Version, article_path, change_many, editor, set_category, undo_change
from newsportal.portal.language import _
from newsportal.portal.preferences import safe_next
from newsportal.portal.reading.search_query import valid_day
from newsportal.portal.render import address, notify, redirect_with, render
from newsportal.portal.request_body import Form
from newsportal.portal.wording import display_name_function, display_names, find_key
from newsportal.search.base import Query
from newsportal.services.editing.drafts import candidates, story_id_of
from newsportal.store.article_rows import EDITOR
from newsportal.store.lists import ArticleFilter
from newsportal.store.results import StoredArticle

router = APIRouter(dependencies=EDIT)

PAGE: Final = 50
MAX_NAMES: Final = 500  # sources that the field suggests: some 20 kB
MAX_HITS: Final = 500  # articles found by words; older ones are found by date
SHORT: Final = 100  # characters; a shorter text is a news flash, or a failed extraction
UNSURE: Final = 0.6  # scores of classifiers below this deserve a check; chosen without measurement

FILTERS: Final[Mapping[str, tuple[str, ArticleFilter]]] = {
    "all": (_("All"), ArticleFilter()),
    "hidden": (_("Hidden"), ArticleFilter(hidden=True)),
    "corrected": (_("Corrected"), ArticleFilter(corrected=True)),
    "judged": (_("Category by an editor"), ArticleFilter(judged=True)),
    "unsure": (_("Doubtful category"), ArticleFilter(unsure=UNSURE, hidden=False)),
    "short": (_("Short text"), ArticleFilter(shorter=SHORT, hidden=False)),
    "undated": (_("Without a date"), ArticleFilter(undated=True, hidden=False)),
}  # ``?show=`` -> name and filter

ASSIGNERS: Final = ("source", "lexicon", "model ")  # category assigners to which an editor may reset a category


@router.get("/articles")
def article_list(visit: VisitDep) -> Response:
    return _page(visit)


@router.get("/corrections")
def corrections(visit: VisitDep) -> Response:
    """The categories that editors chose: classifiers are retrained on them."""
    return _page(visit, "judged")


@router.post("/articles")
def change_articles(request: Request, visit: VisitDep, fields: Form) -> Response:
    """Fields: ``article`` (several), ``action`` (hide, show, category, topic), ``category``, ``topic``, ``reason``, ``next``."""
    ids = list(dict.fromkeys(fields.getlist("article")))[:PAGE]
    action, back = fields.get("action", ""), safe_next(fields.get("next")) if fields.get("next") else "/articles"
    if not ids:
        return notify(request, back, _("No article was chosen."))
    if action not in BULK_CHANGES:
        raise HTTPException(422)
    if action == "topic" and fields.get("topic") not in visit.portal.topics():
        return notify(request, back, _("Choose an existing topic."))
    number, key = change_many(visit, action, ids, fields)
    text = visit.say("%(num)s {article was|articles were} changed.", num=number)
    undo = address(f"/articles/undo/{key}", next=back) if key else None
    return redirect_with(request, back, text, undo=undo)


@router.post("/articles/undo/{key}")
def undo_articles(request: Request, visit: VisitDep, key: str, fields: Form) -> Response:
    """Undo a change of many; ``next``: the path to return to."""
    back, number = {**request.query_params, **fields}.get("next"), or_404(undo_change(visit, key))
    text = visit.say("Undone: %(num)s {article was|articles were} restored.", num=number)
    return redirect_with(request, safe_next(back) if back else "/articles", text)


@router.post("/story/{story_id}/{article_id}/hide")
def hide_article(request: Request, visit: VisitDep, article: Version, fields: Form) -> Response:
    """Fields: ``reason``; ``all_versions``: all versions of the story."""
    all_versions, path = bool(fields.get("all_versions")), article_path(article)
    hidden = editor(visit).hide(_version_ids(visit, article, all_versions), fields.get("reason", ""))
    message = _("The story is now hidden from readers.") if all_versions else _("The article is now hidden from readers.")
    return notify(request, path, message, undo=f"{path}/show{'?all_versions=1' if all_versions else ''}" if hidden else None)


@router.post("/story/{story_id}/{article_id}/show")
def show_article(request: Request, visit: VisitDep, article: Version, fields: Form) -> Response:
    """``all_versions``: all versions of the story."""
    editor(visit).show(_version_ids(visit, article, bool({**fields, **request.query_params}.get("all_versions"))))
    return notify(request, article_path(article), _("Readers can see it again."))


@router.post("/story/{story_id}/{article_id}/category")
def change_category(request: Request, visit: VisitDep, article: Version, fields: Form) -> Response:
    """Fields: ``category``, empty for none. In the query also ``by``: undoes an editor's choice."""
    params, path = {**request.query_params, **fields}, article_path(article)
    by = params.get("by", EDITOR)
    if by != EDITOR and not by.startswith(ASSIGNERS):
        raise HTTPException(422)
    set_category(visit, [article], params.get("category", "").strip() or None, by)
    undo = urlencode({"category": article.category or "", "by": article.category_by or "lexicon"})
    return notify(request, path, _("The category was changed."), undo=f"{path}/category?{undo}" if by == EDITOR else None)


def _version_ids(visit: Visit, article: StoredArticle, all_versions: bool) -> list[str]:
    story = visit.portal.store.story(article.story_id, hidden=True) if all_versions else None
    return [version.id for version in story.versions] if story is not None else [article.id]


def _page(visit: Visit, preset: str | None = None) -> Response:
    requested = visit.params.get("show", "all")
    show = preset or (requested if requested in FILTERS else "all")
    names = display_names(visit.portal, visit.clock.words)
    values: dict[str, Any] = {name: visit.text(name) for name in ("category", "topic", "since", "until")}
    values |= {"source": find_key(visit.text("source"), names), "words": visit.text("words")}
    page = visit.portal.store.select_articles(_filtered(visit, FILTERS[show][1], values))
    path = "/corrections" if preset else "/articles"
    more = address(path, show=None if preset else show, **values, before=page.next) if page.next else None
    links = [(visit.say(name), address("/articles", show=key), key == show) for key, (name, _filter) in FILTERS.items()]
    return render(
        visit.request, "articles.html", articles=page.articles, more=more, links=links, show=show, filters=values,
        display_name=display_name_function(visit.portal, visit.clock.words), names=list(names.values())[:MAX_NAMES],
        categories=visit.categories(), topics=visit.portal.topics(), current_url=visit.current_url, corrections=bool(preset),
    )  # fmt: skip


def _filtered(visit: Visit, base: ArticleFilter, values: Mapping[str, str | None]) -> ArticleFilter:
    """Narrow ``base`` by the editor's filters. Words are searched in the index, or without one as a substring of the title."""
    zone, index, words = visit.portal.site.zone, visit.portal.index, values["words"]
    days = (valid_day(values[name]) for name in ("since", "until"))
    since, until = (datetime.combine(date.fromisoformat(day), time(), zone) if day else None for day in days)
    matching: dict[str, Any] = {"title": words}
    if words and index is not None:
        hits = index.search(Query(words, since=since, until=until, sort="time", collapse=False, limit=MAX_HITS, zone=zone)).hits
        matching = {"ids": tuple(hit.id for hit in hits)}
    until = until + timedelta(days=1) if until else None
    filters: dict[str, Any] = {name: values[name] for name in ("source", "category", "topic")}
    return replace(base, **filters, **matching, since=since, until=until, before=visit.text("before"), limit=PAGE)


@router.get("/story/{story_id}/{article_id}/fold")
def fold_candidates(visit: VisitDep, article: Version) -> Response:
    """Show stories for ``?q=`` (words of the story, its URL or its id); without it, the most similar ones."""
    return _fold_page(visit, article)


@router.post("/story/{story_id}/{article_id}/fold")
def fold_article(request: Request, visit: VisitDep, article: Version, fields: Form) -> Response:
    """``story`` is a field of the form, or in the query of an undo link."""
    try:
        moved = editor(visit).fold(article.id, story_id_of(fields.get("story") or request.query_params.get("story", "")))
    except StoreError:
        wrong = _("There is no such story, or the article is in it already: choose another one.")
        return _fold_page(visit, article, visit.say(wrong))
    back = f"/story/{moved.story}/{article.id}"
    undo = f"{back}/fold?story={moved.undo_story}" if moved.undo_story else f"{back}/unfold"
    return notify(request, f"/story/{moved.story}#versions", _("The article was folded into this story."), undo=undo)


@router.post("/story/{story_id}/{article_id}/unfold")
def unfold_article(request: Request, visit: VisitDep, article: Version) -> Response:
    try:
        moved = editor(visit).unfold(article.id)
    except StoreError:
        return notify(request, article_path(article), _("The article already is a separate story."))
    undo = f"/story/{moved.story}/{article.id}/fold?story={moved.previous_story}"
    return notify(request, f"/story/{moved.story}", _("The article is now a separate story."), undo=undo)


def _fold_page(visit: Visit, article: StoredArticle, wrong: str | None = None) -> Response:
    query, portal = visit.text("q") or "", visit.portal
    return render(
        visit.request, "fold.html", 422 if wrong else 200, article=article, article_path=article_path(article), query=query,
        candidates=candidates(portal.store, portal.index, article, query or None), has_search=portal.index is not None,
        error=wrong,
    )  # fmt: skip
