"""``/wrappers``: the rules by which sources' article pages are read; each tried on a page, and checked on saved pages before it counts."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import ValidationError

from newsportal.accounts import Right
from newsportal.errors import NewsportalError, SourcesError
from newsportal.extractors.rule import ArticleRule
from newsportal.items import Page
from newsportal.portal.access import needs
from newsportal.portal.context import Portal, Visit
from newsportal.portal.language import _
from newsportal.portal.notices import notify
from newsportal.portal.render import render
from newsportal.portal.source_file import Fields, entry, failure_of, known_of, one, path_of, write
from newsportal.portal.wording import worded
from newsportal.sources import Feed, Region, Sitemap, Source, Sources, edit, mask
from newsportal.sources.changing import NoEntry, set_entry
from newsportal.sources.editing import EditConflict
from newsportal.sources.places import ArticleSelectors, Reading
from newsportal.store.results import StoryFilter
from newsportal.trying.crosscheck import CrossCheck, cross_check
from newsportal.trying.saved import archive_of, saved_pages, sites_of
from newsportal.trying.trial import Unread, fetcher, page_of

router = APIRouter(dependencies=[needs(Right.EDIT)])

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
def tried(request: Request, key: str, fields: Fields) -> Response:
    """Lay the rule over one page (an address, or pasted HTML), or over the saved pages of the site."""
    source, texts = place_of(request, key), _typed(fields)
    visit = Visit(request)
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
def saved(request: Request, key: str, fields: Fields) -> Response:
    source, texts = place_of(request, key), _typed(fields)
    visit = Visit(request)
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
        return [Page(url or "about:blank", html.encode(), portal.now(), 200, "text/html; charset=utf-8")], "pasted"
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
