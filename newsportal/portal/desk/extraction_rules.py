"""``/templates``: what sites' pages taught; ``/wrappers``: rules by which sources' pages are read, each tried before it counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import ValidationError

from newsportal.errors import LibraryError, NewsportalError, SourcesError
from newsportal.extractors.article.rule import ArticleRule
from newsportal.extractors.article.site import unpacked
from newsportal.extractors.papers.url_library import Library
from newsportal.items import Page
from newsportal.portal.access import log, needs
from newsportal.portal.context import Here, Portal, Visit
from newsportal.portal.desk.sources_yaml import Fields, entry, failure_of, known_of, one, path_of, write
from newsportal.portal.language import _
from newsportal.portal.notices import notify, redirect_with
from newsportal.portal.render import render
from newsportal.portal.wording import worded
from newsportal.services.accounts import Right
from newsportal.services.trying.crosscheck import CrossCheck, cross_check
from newsportal.services.trying.saved import archive_of, saved_pages, sites_of
from newsportal.services.trying.templates import file_of, library_at, looks, readings, teach
from newsportal.services.trying.templates import forget as forgotten
from newsportal.services.trying.trial import Unread, fetcher, page_of
from newsportal.sources import Feed, Region, Sitemap, Source, Sources, edit, mask
from newsportal.sources.changing import NoEntry, set_entry
from newsportal.sources.editing import EditConflict
from newsportal.sources.places import ArticleSelectors, Reading
from newsportal.store.results import StoryFilter

router = APIRouter(dependencies=[needs(Right.EDIT)])

LATELY: Final = 300  # newest stories whose sites are listed, besides those of sources
SITES: Final = 500  # sites of the list


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
def tried(request: Request, visit: Here, fields: Fields) -> Response:
    """What the template-free reader and the site's template make of a page."""
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
def site(request: Request, visit: Here) -> Response:
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
    return pasted(portal, url, html) if html.strip() else page_of(url, fetcher(known))


def pasted(portal: Portal, url: str, html: str) -> Page:
    return Page(url or "about:blank", html.encode(), portal.now(), 200, "text/html; charset=utf-8")


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
    places = [address for source in (portal.known.all() if portal.known else ()) for address in _addresses(source)]
    places += [story.head.url for story in portal.store.stories(StoryFilter(limit=LATELY)).stories]
    return sorted(sites_of(iter(places)))


def row_of(portal: Portal, library: Library, site: str) -> Row:
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


PARTS: Final = ("body", "title", "date", "author", "remove")

NEWEST: Final = 3
"""Stored articles of a source whose pages are fetched where there is no archive: somebody waits, and a site is asked no more than that."""


@router.get("/wrappers")
def wrappers(request: Request) -> Response:
    known = Visit(request).portal.known
    places = places_of(known) if known else []
    return render(request, "wrappers.html", known=known, places=places, archive=archive_of(known) if known else None)


@router.get("/wrappers/{key}")
def wrapper(request: Request, key: str) -> Response:
    source = place_of(request, key)
    return _form(request, source, _texts(source))


@router.post("/wrappers/{key}/try")
def try_rule(request: Request, visit: Here, key: str, fields: Fields) -> Response:
    """Lay the rule over one page (an address, or pasted HTML), or over the saved pages of the site."""
    source, texts = place_of(request, key), _typed(fields)
    rule, fault = rule_of(texts)
    if rule is None:
        return _form(request, source, texts, {"fault": fault}, 422)
    url, html = one(fields, "url").strip(), one(fields, "html")
    more: dict[str, Any] = {"url": url, "html": html}
    try:
        pages, whence = pages_of(visit.portal, source, url, html)
    except NewsportalError as error:
        text = mask(visit.clock.says(error.message))
        return _form(request, source, texts, {**more, "trouble": text}, 422)
    found: CrossCheck = cross_check(rule, pages)
    return _form(request, source, texts, {**more, "check": found, "whence": whence, "asked": len(pages)})


@router.post("/wrappers/{key}/save")
def save_rule(request: Request, visit: Here, key: str, fields: Fields) -> Response:
    source, texts = place_of(request, key), _typed(fields)
    said = visit.clock.words.gettext
    rule, fault = rule_of(texts)
    if rule is None:
        return _form(request, source, texts, {"fault": fault}, 422)
    article: dict[str, Any] = {name: getattr(rule, name) or None for name in PARTS}
    article["remove"] = list(rule.remove) or None
    change = set_entry(entry(request, key).kind, source.name, {"article": article})
    try:
        done = write(request, lambda file: edit(file, change), "wrapper.change", key, {name: texts[name] for name in PARTS})
    except SourcesError as error:
        fault = " ".join(worded(problem, visit.clock.words) for problem in error.problems)
        return _form(request, source, texts, {"fault": fault}, 422)
    except NoEntry:
        raise HTTPException(404) from None
    except EditConflict:
        return _form(request, source, texts, {"fault": said("sources.yaml was changed meanwhile; nothing was written.")}, 409)
    except OSError as error:
        return _form(request, source, texts, {"fault": failure_of(request, error)}, 503)
    return notify(request, "/wrappers", _("The rule of %(name)s was saved."), name=source.name, undo=done.undo)


def pages_of(portal: Portal, source: Source, url: str, html: str) -> tuple[list[Page], str]:
    """The pages that are asked for, and whence they are (a slug). Raises ``Unread`` and what reading an archive raises."""
    known = portal.known
    assert known is not None
    if html.strip():
        return [pasted(portal, url, html)], "pasted"
    fetch = fetcher(known, verify=getattr(source, "verify_certificate", True), render=getattr(source, "render", False))
    if url:
        return [page_of(url, fetch)], "fetched"
    newest = portal.store.stories(StoryFilter(source=source.key, limit=20)).stories
    addresses = [story.head.url for story in newest if story.head.source == source.key]
    archive = archive_of(known)
    if archive is not None:
        saved_ones = saved_pages(archive, sites_of(iter([*addresses, *_addresses(source)])), portal.now())
        if saved_ones:
            return saved_ones, "archive"
    return [page for address in addresses[:NEWEST] if (page := _fetched(address, fetch)) is not None], "newest"


def _fetched(address: str, fetch: Any) -> Page | None:
    try:
        return page_of(address, fetch)
    except Unread:
        return None  # the others tell enough


def _addresses(source: Source) -> list[str]:
    if isinstance(source, Region):
        return [source.prefix, *source.seeds]
    return [source.url] if isinstance(source, Feed | Sitemap) else []


def places_of(known: Sources) -> list[Reading]:
    """The sources whose pages are articles: those with a rule first."""
    places: list[Reading] = [*known.feeds, *known.sitemaps, *known.regions]
    return sorted(places, key=lambda place: place.article is None)


def place_of(request: Request, key: str) -> Reading:
    """The source whose article pages are read. Raises 404."""
    found = next((one for one in places_of(known_of(request)) if one.key == key), None)
    if found is None:
        raise HTTPException(404)
    path_of(request)
    return found


def _texts(source: Reading) -> dict[str, str]:
    rule = source.article or ArticleRule()
    return {**{name: getattr(rule, name) or "" for name in PARTS}, "remove": "\n".join(rule.remove)}


def _typed(fields: Fields) -> dict[str, str]:
    return {name: one(fields, name).strip() for name in PARTS}


def rule_of(texts: dict[str, str]) -> tuple[ArticleRule | None, str]:
    """What was typed as a rule; ``None`` with the reason for a selector that is none."""
    remove = tuple(line.strip() for line in texts["remove"].splitlines() if line.strip())
    single = {name: texts[name] or None for name in PARTS if name != "remove"}
    try:
        ArticleSelectors.model_validate({**single, "remove": list(remove)})
    except ValidationError as error:
        return None, str(error.errors()[0]["msg"])
    return ArticleRule(remove=remove, **single), ""


def _form(request: Request, source: Reading, texts: dict[str, str], more: dict[str, Any] | None = None, status: int = 200) -> Response:
    known = known_of(request)
    values = {"fault": "", "trouble": "", "check": None, "whence": "", "asked": 0, "url": "", "html": "", **(more or {})}
    return render(request, "wrapper.html", status, source=source, texts=texts, archive=archive_of(known), **values)
