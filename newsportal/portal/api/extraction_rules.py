"""Extraction of articles: learned site templates, and trials of rules on pages before they are saved."""

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from newsportal.errors import LibraryError, NewsportalError
from newsportal.extractors import extractor
from newsportal.extractors.article.markdown import markdown_of
from newsportal.extractors.article.page_kind import KINDS
from newsportal.extractors.article.rule import ArticleRule
from newsportal.portal.access import EDIT, ApiError, api_error_for, describe, log_change, or_404, require
from newsportal.portal.api.paging import fill
from newsportal.portal.context import PortalDep, Visit
from newsportal.portal.desk.extraction_rules import article_source
from newsportal.portal.desk.sources_yaml import config_of
from newsportal.services.trying.crosscheck import cross_check, places_of, rule_of
from newsportal.services.trying.saved import page_at, pages_of
from newsportal.services.trying.templates import SiteTemplates, compare_results, forget_site, learn_saved, library_of, rows_of
from newsportal.text import dom

router = APIRouter(tags=["Reading rules"], dependencies=EDIT)

Selector = Annotated[str, Field(max_length=500)]


class TrainingResult(BaseModel):
    pages: int = Field(description="Saved pages read.")
    templates: int = Field(description="New templates.")


class PageIn(BaseModel):
    url: str = Field("", max_length=2000)
    html: str = Field("", max_length=1_000_000, description="The page itself; empty: fetch it.")


class ExtractionOut(BaseModel):
    by: str = Field(description="best: the extractor without templates; url_tree: the site's template.")
    title: str | None
    text: str | None
    reason: str | None = Field(description="Why nothing was extracted.")


class Content(BaseModel):
    """The main content of a page of any kind."""

    url: str
    kind: str | None = Field(description=f"What kind of page it is: {', '.join(KINDS)}.")
    kind_probability: float | None
    title: str | None
    author: str | None
    published: datetime | None
    language: str | None
    text: str | None
    html: str | None = Field(description="The body, sanitised.")
    markdown: str = Field(description="CommonMark with tables; the title first.")
    confidence: float | None


class ForgetIn(BaseModel):
    site: str = Field(min_length=1, max_length=300)
    kind: Literal["templates", "lines"] = "templates"


class Rule(BaseModel):
    """Rules: CSS, XPath or re:; fields without a rule are found automatically."""

    body: Selector | None = None
    title: Selector | None = None
    date: Selector | None = None
    author: Selector | None = None
    remove: list[Selector] = Field([], max_length=50)


class RuleOut(Rule):
    key: str


class RuleIn(Rule):
    url: str = Field("", max_length=2000, description="A page to try it on; without it and html: saved or newest pages of the source.")
    html: str = Field("", max_length=1_000_000, description="The page itself.")


class PageCheck(BaseModel):
    url: str
    read: bool = Field(description="Whether the rule finds a body.")
    similarity: float = Field(description="Share of the text that the extractor without rules finds, too: 0 to 1.")
    same_title: bool
    same_date: bool


class RuleCheck(BaseModel):
    origin: str = Field(description="pasted, fetched, archive or newest.")
    read: int
    similar: int
    titles: int
    dates: int
    pages: list[PageCheck] = Field(description="Most different first.")


@router.get("/templates", summary="Learned site templates")
def list_templates(portal: PortalDep) -> list[SiteTemplates]:
    library, trouble = library_of(portal.store)
    require(not trouble, 503, "unreadable", trouble)
    return rows_of(portal.store, portal.config, library)


@router.post("/templates/learn", summary="Learn templates from the saved pages of the sources' sites", responses=describe(404))
def learn_templates(request: Request, portal: PortalDep) -> TrainingResult:
    """404 without an archive (`archive` in sources.yaml)."""
    with api_error_for(NewsportalError, status=503, code="unreadable"):
        done = learn_saved(portal.store, config_of(request), portal.now())
    pages, more = or_404(done, "no-archive", "There are no saved pages.", "Name an archive in sources.yaml.")
    log_change(request, "template.learn", "", {"pages": pages, "templates": more})
    return TrainingResult(pages=pages, templates=more)


@router.post("/templates/try", summary="What is extracted from a page, without and with templates")
def try_templates(request: Request, portal: PortalDep, body: PageIn) -> list[ExtractionOut]:
    """Nothing is learned from the page."""
    sources = config_of(request)
    with api_error_for(NewsportalError, status=422, code="no-page", remedy="Name another page, or send its html."):
        page = page_at(sources, body.url.strip(), body.html, portal.now())
    rows = compare_results(library_of(portal.store)[0], page)
    found = [(row, row.found.title if row.found else None, row.found.text if row.found else None) for row in rows]
    return [ExtractionOut(by=row.by, title=title, text=text, reason=row.reason) for row, title, text in found]


@router.post("/extract", summary="The main content of a page")
def extract_page(request: Request, portal: PortalDep, body: PageIn) -> Content:
    """As `newsportal extract`: a page of any kind, without following pages. Nothing is stored."""
    with api_error_for(NewsportalError, status=422, code="no-page", remedy="Name another page, or send its html."):
        page = page_at(config_of(request), body.url.strip(), body.html, portal.now())
        content = extractor("best", any_page=True)(dom.document(page), None, page.fetched)
    return fill(Content, content, url=content.canonical or page.url, markdown=markdown_of(content.html or "", content.title))


@router.post("/templates/forget", summary="Delete what was learned about a site", status_code=204, responses=describe(404))
def delete_learned_templates(request: Request, portal: PortalDep, body: ForgetIn) -> None:
    """Later pages are learned from again."""
    with api_error_for(LibraryError, status=503, code="unreadable"):
        deleted = forget_site(portal.store, body.site, body.kind, portal.now())
    require(deleted)
    log_change(request, "template.forget", body.site, {"what": body.kind})


@router.get("/wrappers", summary="The rules of sources whose pages are articles")
def list_wrappers(request: Request) -> list[RuleOut]:
    """Change one with `PATCH /sources/{key}`: `{"values": {"article": {"body": "…"}}}`."""
    return [fill(RuleOut, place.article or ArticleRule(), key=place.key) for place in places_of(config_of(request))]


@router.post("/wrappers/{key}/try", summary="Try a rule on pages", responses=describe(404))
def try_rule(request: Request, key: str, body: RuleIn) -> RuleCheck:
    """Nothing is saved. Fetching a page, as the desk does, may take some seconds."""
    source, portal = article_source(request, key), Visit(request).portal
    texts = {name: getattr(body, name) or "" for name in ("body", "title", "date", "author")}
    rule, fault = rule_of({**texts, "remove": "\n".join(body.remove)})
    if rule is None:
        raise ApiError(422, "no-rule", fault)
    with api_error_for(NewsportalError, status=422, code="no-page", remedy="Name another page, or send its html."):
        pages, origin = pages_of(portal.store, config_of(request), source, body.url.strip(), body.html, portal.now())
    check = cross_check(rule, pages)
    return fill(RuleCheck, check, origin=origin, pages=[fill(PageCheck, page, read=page.ruled is not None) for page in check.pages])
