"""Libraries of page templates learnt from sites (``extractors.papers.url_tree``): files of the command line, and that of the store, which
crawls by ``url_tree`` fill, and the desk shows, tries, trains and deletes from; and what the store knows of each site."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

from newsportal.errors import LibraryError, NotApplicable
from newsportal.extractors.article import best
from newsportal.extractors.article.site import unpack_page
from newsportal.extractors.article.template import Template, read_structure
from newsportal.extractors.papers.url_tree import MAX_BYTES, Library, UrlTree, read_library, write_library
from newsportal.items import Extraction, Page
from newsportal.services.trying.saved import addresses_of, archive_of, saved_pages, sites_of
from newsportal.sources import Sources
from newsportal.sources.editing import replace_file
from newsportal.store.results import StoryFilter
from newsportal.store.store import Store
from newsportal.text import dom

METHOD: Final = "url_tree"
RECENT_STORIES: Final = 300  # newest stories whose sites are listed, besides those of sources
SITES: Final = 500  # sites in the list
PAGES: Final = 200  # saved pages to learn from at once


@dataclass(frozen=True, slots=True)
class ExtractionResult:
    """The result of an extractor on a page, or the reason why there is none."""

    by: str
    found: Extraction | None
    reason: str | None = None


def load(file: Path) -> Library:
    """Read the library in ``file``. Raises ``LibraryError`` that names the file."""
    text = read(file)
    try:
        return read_library(text)
    except LibraryError as error:
        raise LibraryError(f"{file}: {error}; libraries are written by extract --algorithm url_tree --library FILE") from error


def read(file: Path) -> str:
    """Return the text of ``file``. Raises ``LibraryError``."""
    with _translated_errors(file):
        if file.stat().st_size > MAX_BYTES:
            raise LibraryError(f"{file}: larger than {MAX_BYTES} bytes")
        try:
            return file.read_text("utf-8")
        except UnicodeDecodeError as error:
            raise LibraryError(f"{file}: not a template library: it is not text") from error


def save(text: str, file: Path) -> None:
    """Replace ``file`` atomically. Raises ``LibraryError``."""
    with _translated_errors(file, "cannot be written: "):
        replace_file(file, text.encode())


@contextmanager
def _translated_errors(file: Path, prefix: str = "") -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise LibraryError(f"{file}: {prefix}{error.strerror or error}") from error


def library_of(store: Store) -> tuple[Library, str]:
    """Return the library of the store, and the reason if it cannot be read."""
    try:
        return _library_from(store.learned_state(METHOD)), ""
    except LibraryError as error:
        return Library(), str(error)


def _library_from(text: str | None) -> Library:
    return Library() if text is None else read_library(text)


def learn_pages(store: Store, pages: Iterable[Page], now: datetime) -> int:
    """Train the store's library on pages; return the number of new templates. Raises ``LibraryError``."""
    more = 0

    def learnt(text: str | None) -> str:
        nonlocal more
        tree = UrlTree(_library_from(text))
        before = len(list(tree.library))
        for page in pages:
            tree.learn(dom.document(page), None, page.fetched)
        more = len(list(tree.library)) - before
        return tree.dump()

    store.change_learned_state(METHOD, learnt, now=now)
    return more


def compare_results(library: Library, page: Page) -> tuple[ExtractionResult, ...]:
    """Return the results of the template-free extractor and of the library on a page, without learning from it."""
    tree = UrlTree(read_library(write_library(library)))
    found = []
    for name, extract in (("best", best.extract), ("url_tree", tree)):
        try:
            found.append(ExtractionResult(name, extract(dom.document(page), None, page.fetched)))
        except NotApplicable as error:
            found.append(ExtractionResult(name, None, error.reason))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class TemplateView:
    """A template for display: its boxes with depth, tag, and whether the text is in it."""

    directory: str
    template: Template
    boxes: tuple[tuple[int, str, bool], ...]


def site_templates(library: Library, site: str) -> list[TemplateView]:
    found = []
    for directory, templates in sorted(library.sites[site].templates.items()) if site in library.sites else ():
        for template in templates:
            tags, parents = read_structure(template.structure)
            depths: list[int] = []
            for parent in parents:
                depths.append(depths[parent] + 1 if parent >= 0 else 0)
            boxes = tuple((depth, tag, place in template.content) for place, (depth, tag) in enumerate(zip(depths, tags, strict=True)))
            found.append(TemplateView("/" + "/".join(directory), template, boxes))
    return found


@dataclass(frozen=True, slots=True)
class SiteTemplates:
    """What was learnt from a site."""

    site: str
    templates: int
    pages: int = field(metadata={"description": "Pages from which the templates were learned."})
    waiting: int = field(metadata={"description": "Pages waiting for a similar one."})
    read_pages: int = field(metadata={"description": "Pages whose lines are stored."})
    lines: int = field(metadata={"description": "Lines found to be boilerplate."})


def learn_saved(store: Store, sources: Sources, now: datetime) -> tuple[int, int] | None:
    """Train the library on saved pages; return the numbers of pages and new templates. ``None`` without an archive. Raises their errors."""
    archive = archive_of(sources)
    if archive is None:
        return None
    pages = saved_pages(archive, frozenset(recent_sites(store, sources)), now, PAGES)
    return len(pages), learn_pages(store, pages, now)


def forget_site(store: Store, site: str, kind: str, now: datetime) -> bool:
    """Delete a site's templates, or its ``lines``; return False if there were none. Raises ``LibraryError``."""
    if kind == "lines":
        if not store.site_lines(site):
            return False
        store.save_site_lines({site: {}}, now=now, max_sites=SITES * 2)
        return True
    if site not in _library_from(store.learned_state(METHOD)).sites:
        return False

    def forgotten(text: str | None) -> str:
        library = _library_from(text)
        library.forget(site)
        return write_library(library)

    store.change_learned_state(METHOD, forgotten, now=now)
    return True


def rows_of(store: Store, sources: Sources | None, library: Library) -> list[SiteTemplates]:
    """Return the sites with learnt data."""
    sites = list(dict.fromkeys((*library.sites, *recent_sites(store, sources))))[:SITES]
    return [row for row in (row_of(store, library, site) for site in sites) if row.templates or row.waiting or row.read_pages]


def recent_sites(store: Store, sources: Sources | None) -> list[str]:
    """Return the sites of sources, and of the newest stories."""
    places = [address for source in (sources.all() if sources else ()) for address in addresses_of(source)]
    places += [story.head.url for story in store.stories(StoryFilter(limit=RECENT_STORIES)).stories]
    return sorted(sites_of(iter(places)))


def row_of(store: Store, library: Library, site: str) -> SiteTemplates:
    branch = library.sites.get(site)
    templates = [template for group in branch.templates.values() for template in group] if branch else []
    lines = []
    for packed in store.site_lines(site).values():
        try:
            lines.append(len(unpack_page(packed).lines))
        except ValueError:
            lines.append(0)  # unreadable lines are learnt again
    waiting = len(branch.waiting) if branch else 0
    return SiteTemplates(site, len(templates), sum(template.pages for template in templates), waiting, len(lines), sum(lines))
