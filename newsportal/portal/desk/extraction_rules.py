"""``/templates``: templates learned from sites' pages; ``/wrappers``: rules for extracting articles, tried before they are saved."""

from typing import Any

from fastapi import APIRouter, Request, Response

from newsportal.errors import LibraryError, NewsportalError
from newsportal.extractors.article.rule import ArticleRule
from newsportal.portal.access import EDIT, log_change, or_404, require
from newsportal.portal.context import PortalDep, Visit, VisitDep
from newsportal.portal.desk.source_trials import start_trial
from newsportal.portal.desk.sources_yaml import WRITE_ERRORS, config_of, failure_of, path_of, source_entry, status_of, write
from newsportal.portal.language import _
from newsportal.portal.render import notify, redirect_with, render
from newsportal.portal.request_body import Form
from newsportal.services.trying.crosscheck import PARTS, cross_check, places_of, rule_of
from newsportal.services.trying.saved import archive_of, page_at, pages_of
from newsportal.services.trying.templates import compare_results, forget_site, learn_saved, library_of, row_of, rows_of, site_templates
from newsportal.sources import edit, mask
from newsportal.sources.changing import set_entry
from newsportal.sources.places import ArticlePlace

router = APIRouter(dependencies=EDIT)


@router.get("/templates")
def templates(request: Request) -> Response:
    return _list(request)


def _list(request: Request, status: int = 200, **more: Any) -> Response:
    visit = Visit(request)
    sources = visit.portal.config
    library, trouble = library_of(visit.portal.store)
    rows = rows_of(visit.portal.store, sources, library)
    values = {"url": "", "html": "", "readings": (), "error": "", "failure": trouble, **more}
    return render(request, "templates.html", status, rows=rows, archive=archive_of(sources), **values)


@router.post("/templates/try")
def try_page(request: Request, visit: VisitDep, fields: Form) -> Response:
    """Show what the extractor without templates and the site's template read from a page."""
    url, html = fields.get("url", "").strip(), fields.get("html", "")
    try:
        page = page_at(config_of(request), url, html, visit.portal.now())
    except NewsportalError as error:
        return _list(request, 422, url=url, html=html, error=mask(visit.clock.says(error.message)))
    return _list(request, url=url, html=html, readings=compare_results(library_of(visit.portal.store)[0], page))


@router.post("/templates/learn")
def learn_templates(request: Request, portal: PortalDep) -> Response:
    """Learn templates from the saved pages of the sources' sites."""
    try:
        pages, more = or_404(learn_saved(portal.store, config_of(request), portal.now()))
    except NewsportalError as error:
        return redirect_with(request, "/templates", str(error))
    log_change(request, "template.learn", "", {"pages": pages, "templates": more})
    return notify(request, "/templates", _("%(pages)s saved {page|pages} read; %(more)s new {template|templates}."), pages=pages, more=more)


@router.get("/templates/site")
def show_site(request: Request, visit: VisitDep) -> Response:
    name = visit.text("name") or ""
    row = row_of(visit.portal.store, library_of(visit.portal.store)[0], name)
    require(row.templates or row.waiting or row.read_pages)
    addresses = list(visit.portal.store.site_lines(name))
    views = site_templates(library_of(visit.portal.store)[0], name)
    return render(request, "template_site.html", row=row, views=views, urls=addresses)


@router.post("/templates/forget")
def forget_templates(request: Request, fields: Form) -> Response:
    """Delete what was learned about a site: its templates or its lines. Later pages are learned from again."""
    name, part, portal = fields.get("site", ""), fields.get("kind", ""), Visit(request).portal
    try:
        deleted = forget_site(portal.store, name, part, portal.now())
    except LibraryError as error:
        return redirect_with(request, "/templates", str(error))
    require(deleted)
    log_change(request, "template.forget", name, {"what": part or "templates"})
    return notify(request, "/templates", _("What was learned about %(site)s was deleted."), site=name)


@router.get("/wrappers")
def wrappers(request: Request, portal: PortalDep) -> Response:
    sources = portal.config
    return render(request, "wrappers.html", places=places_of(sources))


@router.get("/wrappers/{key}")
def wrapper(request: Request, key: str) -> Response:
    source = article_source(request, key)
    rule = source.article or ArticleRule()
    return _form(request, source, {**{name: getattr(rule, name) or "" for name in PARTS}, "remove": "\n".join(rule.remove)})


@router.post("/wrappers/{key}/try")
def try_rule(request: Request, visit: VisitDep, key: str, fields: Form) -> Response:
    """Apply the rule to one page (a URL or pasted HTML), or to the saved pages of the site."""
    source, texts = article_source(request, key), _typed_rule(fields)
    rule, fault = rule_of(texts)
    if rule is None:
        return _form(request, source, texts, 422, error=fault)
    url, html = fields.get("url", "").strip(), fields.get("html", "")
    try:
        pages, origin = pages_of(visit.portal.store, config_of(request), source, url, html, visit.portal.now())
    except NewsportalError as error:
        return _form(request, source, texts, 422, url=url, html=html, failure=mask(visit.clock.says(error.message)))
    check = cross_check(rule, pages)
    return _form(request, source, texts, url=url, html=html, check=check, origin=origin, page_count=len(pages))


@router.post("/wrappers/{key}/save")
def save_rule(request: Request, key: str, fields: Form) -> Response:
    source, texts = article_source(request, key), _typed_rule(fields)
    rule, fault = rule_of(texts)
    if rule is None:
        return _form(request, source, texts, 422, error=fault)
    article: dict[str, Any] = {name: getattr(rule, name) or None for name in PARTS}
    article["remove"] = list(rule.remove) or None
    change = set_entry(source_entry(request, key).kind, source.name, {"article": article})
    try:
        undo = write(request, lambda file: edit(file, change), "wrapper.change", key, {name: texts[name] for name in PARTS})
    except WRITE_ERRORS as error:
        return _form(request, source, texts, status_of(error), error=failure_of(request, error))
    return notify(request, start_trial(request, key, "/wrappers"), _("The rule of %(name)s was saved."), name=source.name, undo=undo)


def article_source(request: Request, key: str) -> ArticlePlace:
    """Return the source whose articles the rule extracts. Raises 404."""
    place = or_404(next((place for place in places_of(config_of(request)) if place.key == key), None))
    path_of(request)
    return place


def _typed_rule(fields: Form) -> dict[str, str]:
    return {name: fields.get(name, "").strip() for name in PARTS}


def _form(request: Request, source: ArticlePlace, texts: dict[str, str], status: int = 200, **more: Any) -> Response:
    values = {"error": "", "failure": "", "check": None, "origin": "", "page_count": 0, "url": "", "html": "", **more}
    return render(request, "wrapper.html", status, source=source, texts=texts, archive=archive_of(config_of(request)), **values)
