"""``/templates``: what sites' own pages taught: templates of their layouts, and lines that are the site's and no article's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from fastapi import APIRouter, HTTPException, Request, Response

from newsportal.accounts import Right
from newsportal.errors import LibraryError, NewsportalError
from newsportal.extractors.site import unpacked
from newsportal.extractors.url_library import Library
from newsportal.items import Page
from newsportal.portal.access import log, needs
from newsportal.portal.context import Portal, Visit
from newsportal.portal.language import _
from newsportal.portal.notices import notify, redirect_with
from newsportal.portal.render import render
from newsportal.portal.source_file import Fields, known_of, one
from newsportal.sources import Feed, Region, Sitemap, Sources, mask
from newsportal.store.results import StoryFilter
from newsportal.trying.saved import archive_of, saved_pages, sites_of
from newsportal.trying.templates import file_of, library_at, looks, readings, teach
from newsportal.trying.templates import forget as forgotten
from newsportal.trying.trial import fetcher, page_of

router = APIRouter(dependencies=[needs(Right.EDIT)])

LATELY: Final = 300
"""Newest stories whose sites are listed, besides those of sources."""

SITES: Final = 500
"""Sites of the list."""


@dataclass(frozen=True, slots=True)
class Row:
    """A site: its templates, the pages these stand for, pages that wait for a sibling; pages and lines that are known of it."""

    site: str
    templates: int
    pages: int
    waiting: int
    known_pages: int
    lines: int


@router.get("/templates")
def templates(request: Request) -> Response:
    return _list(request)


def _list(request: Request, more: dict[str, Any] | None = None, status: int = 200) -> Response:
    visit = Visit(request)
    known = visit.portal.known
    library, trouble = library_of(known)
    rows = rows_of(visit.portal, library)
    values = {"url": "", "html": "", "read": (), "fault": "", "trouble": trouble, **(more or {})}
    return render(request, "templates.html", status, rows=rows, archive=archive_of(known) if known else None, **values)


@router.post("/templates/try")
def tried(request: Request, fields: Fields) -> Response:
    """What the template-free reader and the site's template make of a page."""
    visit = Visit(request)
    url, html = one(fields, "url").strip(), one(fields, "html")
    known = known_of(request)
    more: dict[str, Any] = {"url": url, "html": html}
    try:
        page = page_at(visit.portal, known, url, html)
    except NewsportalError as error:
        text = mask(visit.clock.says(error.message))
        return _list(request, {**more, "fault": text}, 422)
    return _list(request, {**more, "read": readings(library_of(known)[0], page)})


@router.post("/templates/learn")
def learn(request: Request) -> Response:
    """Let the library learn from the saved pages of the sources' sites."""
    try:
        done = learn_saved(Visit(request).portal, known_of(request))
    except NewsportalError as error:
        return redirect_with(request, "/templates", str(error))
    if done is None:
        raise HTTPException(404)
    pages, more = done
    log(request, "template.learn", "", {"pages": pages, "templates": more})
    return notify(request, "/templates", _("%(pages)s saved pages were read; %(more)s templates more."), pages=pages, more=more)


@router.get("/templates/site")
def site(request: Request) -> Response:
    """How the templates of a site look."""
    visit = Visit(request)
    name = visit.text("name") or ""
    row = row_of(visit.portal, library_of(visit.portal.known)[0], name)
    if not (row.templates or row.waiting or row.known_pages):
        raise HTTPException(404)
    addresses = list(visit.portal.store.site_lines(name))
    return render(request, "template_site.html", row=row, looks=looks(library_of(visit.portal.known)[0], name), addresses=addresses)


@router.post("/templates/forget")
def forget(request: Request, fields: Fields) -> Response:
    """Drop what is known of a site: its templates, or its lines. What comes later is learnt anew."""
    name, what = one(fields, "site"), one(fields, "what")
    try:
        there = forget_site(Visit(request).portal, known_of(request), name, what)
    except LibraryError as error:
        return redirect_with(request, "/templates", str(error))
    if not there:
        raise HTTPException(404)
    log(request, "template.forget", name, {"what": what or "templates"})
    return notify(request, "/templates", _("What was known of %(site)s is forgotten."), site=name)


def page_at(portal: Portal, known: Sources, url: str, html: str) -> Page:
    """A page as it was pasted, else fetched. Raises ``Unread``, and what fetching raises."""
    if html.strip():
        return Page(url or "about:blank", html.encode(), portal.now(), 200, "text/html; charset=utf-8")
    return page_of(url, fetcher(known))


def learn_saved(portal: Portal, known: Sources) -> tuple[int, int] | None:
    """Let the library learn from saved pages: how many, and how many templates more. ``None`` without an archive or a place for the
    library. Raises what reading and writing them raises."""
    archive, file = archive_of(known), file_of(known)
    if archive is None or file is None:
        return None
    pages = saved_pages(archive, frozenset(met(portal)), portal.now(), 200)
    return len(pages), teach(file, pages)


def forget_site(portal: Portal, known: Sources, site: str, what: str) -> bool:
    """Drop a site's templates, or its ``lines``; False if there were none. Raises ``LibraryError``."""
    if what == "lines":
        if not portal.store.site_lines(site):
            return False
        portal.store.save_site_lines({site: {}}, now=portal.now(), most=SITES * 2)
        return True
    file = file_of(known)
    return file is not None and forgotten(file, site)


def library_of(known: Sources | None) -> tuple[Library, str]:
    """The desk's library, and why it cannot be read."""
    file = file_of(known) if known else None
    try:
        return (library_at(file) if file else Library()), ""
    except LibraryError as error:
        return Library(), str(error)


def rows_of(portal: Portal, library: Library) -> list[Row]:
    """The sites of which something is known."""
    sites = list(dict.fromkeys((*library.sites, *met(portal))))[:SITES]
    return [row for row in (row_of(portal, library, site) for site in sites) if row.templates or row.waiting or row.known_pages]


def met(portal: Portal) -> list[str]:
    """The sites of sources, and of the newest stories."""
    known = portal.known
    places: list[str] = []
    for source in known.all() if known else ():
        if isinstance(source, Region):
            places += (source.prefix, *source.seeds)
        elif isinstance(source, Feed | Sitemap):
            places.append(source.url)
    places += [story.head.url for story in portal.store.stories(StoryFilter(limit=LATELY)).stories]
    return sorted(sites_of(iter(places)))


def row_of(portal: Portal, library: Library, site: str) -> Row:
    """What is known of a site."""
    branch = library.sites.get(site)
    held = [template for here in branch.templates.values() for template in here] if branch else []
    lines = []
    for packed in portal.store.site_lines(site).values():
        try:
            lines.append(len(unpacked(packed).lines))
        except ValueError:
            lines.append(0)  # what nobody can read is learnt anew
    waiting = len(branch.waiting) if branch else 0
    return Row(site, len(held), sum(template.pages for template in held), waiting, len(lines), sum(lines))
