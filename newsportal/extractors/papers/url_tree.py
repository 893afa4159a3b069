"""Templates learned from a site's own pages (Zhang, Kang, Wu 2009, section 1.3, figure 2): the URL tree as an extractor, and its library.

A page is read with a template found on its path through the tree of URLs that has the same structure; the template's contentTagSeq locates
the text (:mod:`newsportal.extractors.article.template`). A page without a template waits in the tree until a sibling arrives. Published: 97
% of 300 pages exactly right, 3 % with noise. The paper takes title and date from elsewhere; so do we (link, thesis).

    directory      the segments of the path but the last; a script with a query is a directory too (``view.jsp?Id=187``)
    leaf           a page: the last segment of the path, or the query string
    lifting        when sibling directories have templates that agree, the template moves to their parent; they and their waiting pages go
    lookup         from the host down to the page's directory: the first template whose structure is the page's

A site is a host; nothing is lifted above it. All sizes are bounded: dropped first are the least recently used site, the page waiting
longest, and the template learned from the fewest pages.
"""

import json
from array import array
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import takewhile
from threading import Lock
from typing import Any, Final
from urllib.parse import urlsplit

from newsportal.errors import LibraryError, NotApplicable
from newsportal.extractors.article.site import put_newest, read_saved, site_of
from newsportal.extractors.article.template import MAX_TEXTS, Layout, Survey, Template, compare, content_of, path_to, read_structure, survey
from newsportal.extractors.papers.common import make_extraction_from_link
from newsportal.items import Extraction, Link
from newsportal.text import dom

REACH: Final = 1  # the paper's siblings share their directory. A larger value makes more pages agree; see docs/algorithms/url_tree.md
Directory = tuple[str, ...]
MAX_SITES: Final = 1000
MAX_DIRECTORIES: Final = 200  # of a site that have templates
MAX_TEMPLATES: Final = 8  # of a directory
MAX_WAITING: Final = 16  # pages of a site; a usual one takes 4 kB, the largest 300 kB (see ``MAX_BYTES``)
MAX_DEPTH: Final = 16  # deeper directories are merged into the one at this depth: traps build endless paths


@dataclass(frozen=True, slots=True)
class Address:
    site: str
    directory: Directory
    leaf: str


@dataclass(slots=True)
class SiteBranch:
    templates: dict[Directory, list[Template]] = field(default_factory=dict)
    waiting: OrderedDict[tuple[Directory, str], Layout] = field(default_factory=OrderedDict)


def address_of(url: str) -> Address | None:
    """Return the page's position in the tree; ``None`` if the URL is not http(s)."""
    site = site_of(url)
    if site is None:
        return None
    parts = urlsplit(url)
    segments = [segment for segment in parts.path.split("/") if segment]
    leaf = parts.query or (segments.pop() if segments else "")
    return Address(site, tuple(segments[:MAX_DEPTH]), leaf)


class Library:
    """The templates of all sites. Not thread-safe by itself: :class:`UrlTree` locks it."""

    def __init__(self, sites: int = MAX_SITES) -> None:
        self._most = sites
        self.sites: OrderedDict[str, SiteBranch] = OrderedDict()

    def template_for(self, address: Address, structure: str) -> Template | None:
        """Return the first template on the path to the page that has the page's structure."""
        branch = self.sites.get(address.site)
        if branch is None:
            return None
        self.sites.move_to_end(address.site)
        path = (address.directory[:depth] for depth in range(len(address.directory) + 1))
        return next((template for place in path for template in branch.templates.get(place, ()) if template.structure == structure), None)

    def add_page(self, address: Address, layout: Layout, reach: int = 1) -> Template | None:
        """Queue a page, or return the template that it makes with a waiting sibling. ``reach`` 1: pages of the same directory are siblings;
        2: those of sibling directories too, and so on."""
        branch = self.branch(address.site)
        branch.waiting.pop((address.directory, address.leaf), None)
        for (directory, leaf), other in reversed(branch.waiting.items()):
            same = takewhile(lambda pair: pair[0] == pair[1], zip(address.directory, directory, strict=False))
            above = tuple(name for name, _ in same)  # at most ``reach - 1`` levels above the deeper of both
            near = len(above) > max(len(address.directory), len(directory)) - reach
            if near and (template := compare(layout, other)) is not None:
                del branch.waiting[directory, leaf]
                self.add_template(address.site, above, template)
                return template
        put_newest(branch.waiting, (address.directory, address.leaf), layout, MAX_WAITING)
        return None

    def add_template(self, site: str, directory: Directory, template: Template) -> None:
        """Add a template to a directory, and lift it as far as sibling directories agree."""
        branch = self.branch(site)
        template = _put(branch, directory, template)
        while directory:
            parent = directory[:-1]
            agreeing = [other for other in branch.templates if other[:-1] == parent and other and _agreeing(branch, other, template)]
            if len(agreeing) < 2:
                break
            for below in [other for other in branch.templates if other[: len(parent)] == parent]:
                for found in _agreeing(branch, below, template):
                    branch.templates[below].remove(found)
                    if not branch.templates[below]:
                        del branch.templates[below]
                    template = template.merge(found) if below != directory else template
            template, directory = _put(branch, parent, template), parent
        for place, layout in list(branch.waiting.items()):
            if place[0][: len(directory)] == directory and layout.structure == template.structure:
                del branch.waiting[place]

    def branch(self, site: str) -> SiteBranch:
        """Return the site's branch, creating it if needed; the least recently used site is dropped."""
        return self.put(site, self.sites.get(site) or SiteBranch())

    def put(self, site: str, branch: SiteBranch) -> SiteBranch:
        put_newest(self.sites, site, branch, self._most)
        return branch

    def forget(self, site: str, directory: Directory | None = None) -> int:
        """Remove a site, or the templates and pages below a directory; return the number of templates removed."""
        branch = self.sites.get(site)
        if branch is None:
            return 0
        top = directory or ()
        dropped = [below for below in branch.templates if below[: len(top)] == top]
        count = sum(len(branch.templates.pop(below)) for below in dropped)
        for place in [place for place in branch.waiting if place[0][: len(top)] == top]:
            del branch.waiting[place]
        if not branch.templates and not branch.waiting:
            del self.sites[site]
        return count

    def __iter__(self) -> Iterator[tuple[str, Directory, Template]]:
        return ((site, place, item) for site, branch in self.sites.items() for place, group in branch.templates.items() for item in group)


def _agreeing(branch: SiteBranch, directory: Directory, template: Template) -> list[Template]:
    return [other for other in branch.templates[directory] if other.matches(template)]


def _put(branch: SiteBranch, directory: Directory, template: Template) -> Template:
    """Store a template, merged with one that it agrees with; return the stored template."""
    templates = branch.templates.setdefault(directory, [])
    for place, stored in enumerate(templates):
        if stored.matches(template):
            templates[place] = template = stored.merge(template)
            return template
    templates.append(template)
    if len(templates) > MAX_TEMPLATES:
        templates.remove(min(templates[:-1], key=lambda other: other.pages))
    if len(branch.templates) > MAX_DIRECTORIES:
        del branch.templates[next(other for other in branch.templates if other != directory)]
    return template


class UrlTree:
    """The extractor; it learns from every page it reads. Thread-safe."""

    def __init__(self, library: Library | None = None, reach: int = REACH) -> None:
        self.library = Library() if library is None else library
        self._reach = reach
        self._seen_sites: set[str] = set()
        self._lock = Lock()

    def __call__(self, document: dom.Document, link: Link | None, fetched: datetime) -> Extraction:
        """Extract the article. Raises ``NotApplicable``: ``no-url``, ``no-layout``, ``waits-for-sibling``, ``no-body`` (empty content)."""
        address, page = _read(document)
        template = self._template(address, page)
        if template is None:
            raise NotApplicable("waits-for-sibling", f"no page of {address.site} with the same layout was seen")
        found = make_extraction_from_link(document, link, "url_tree", content_of(template, page))
        if not found.text:
            raise NotApplicable("no-body", "the template's place is empty")
        return found

    def learn(self, document: dom.Document, link: Link | None, fetched: datetime, found: Extraction | None = None) -> None:
        with suppress(NotApplicable):  # :meth:`__call__` reports the reason
            self._template(*_read(document))

    def dump(self) -> str:
        with self._lock:
            return write_library(self.library)

    def restore(self, text: str) -> None:
        """Load a state written by :meth:`dump`, but keep the sites of pages read by this instance. Raises ``LibraryError`` for any other
        text, without changing the state."""
        library = read_library(text)
        with self._lock:
            for site, branch in self.library.sites.items():
                if site in self._seen_sites:
                    library.put(site, branch)
            self.library = library

    def _template(self, address: Address, page: Survey) -> Template | None:
        with self._lock:
            self._seen_sites.add(address.site)
            found = self.library.template_for(address, page.layout.structure)
            return found or self.library.add_page(address, page.layout, self._reach)


def _read(document: dom.Document) -> tuple[Address, Survey]:
    address = address_of(document.url)
    if address is None:
        raise NotApplicable("no-url", "a page without a URL has no place in the tree")
    body = next(iter(document.root.iter("body")), None)
    page = survey(body) if body is not None else None
    if page is None:
        raise NotApplicable("no-layout")
    return address, page


# The template library as JSON: versioned, and fully validated on reading (the file is untrusted).

VERSION: Final = 1
FORMAT: Final = "newsportal-templates"
MAX_BYTES: Final = 256 * 1024 * 1024  # of a library's text; one of a thousand usual sites has a few megabytes


def write_library(library: Library, max_bytes: int = MAX_BYTES) -> str:
    """Return the library as JSON, the most recently used site last.

    If it exceeds ``max_bytes``, waiting pages are left out first, those of the least recently used sites before others, then such sites.
    """
    top, end = f'{{"format":{_json(FORMAT)},"version":{VERSION},"sites":[', "]}"
    left = max_bytes - len(top) - len(end)
    heads: dict[str, str] = {}
    for site, branch in reversed(library.sites.items()):
        templates = [to_dict(directory, template) for directory, group in branch.templates.items() for template in group]
        head = f'{{"site":{_json(site)},"templates":{_json(templates)},"waiting":['
        if (size := _size(head) + len("]},")) > left:
            left = 0
            break
        heads[site], left = head, left - size
    waiting: dict[str, list[str]] = {site: [] for site in heads}
    pages = ((name, *page) for name in heads for page in reversed(library.sites[name].waiting.items()))
    for site, (directory, leaf), layout in pages:
        texts = [list(block) for block in layout.texts]
        row = _json({"directory": directory, "leaf": leaf, "structure": layout.structure, "texts": texts})
        if (size := _size(row) + len(",")) > left:
            break
        waiting[site].append(row)
        left -= size
    sites = [f"{head}{','.join(reversed(waiting[site]))}]}}" for site, head in reversed(heads.items())]
    return f"{top}{','.join(sites)}{end}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def to_dict(directory: Directory, template: Template) -> dict[str, Any]:
    return {
        "directory": list(directory),
        "pages": template.pages,
        "content": list(template.content),
        "shared": [f"{number:016x}" for number in sorted(template.shared)],
        "structure": template.structure,
    }


def read_library(text: str) -> Library:
    """Load the library from ``text``. Raises ``LibraryError`` with the reason."""
    found, library = read_saved(text, FORMAT, VERSION, "template library"), Library()
    try:
        for site in _list(found, "sites", MAX_SITES):
            library.sites[_text(site, "site")] = _read_branch(site)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise LibraryError(f"a damaged template library: site {len(library.sites) + 1}: {error}") from error
    return library


def _read_branch(site: dict[str, Any]) -> SiteBranch:
    branch = SiteBranch()
    for row in _list(site, "templates", MAX_DIRECTORIES * MAX_TEMPLATES):
        tags, parents = read_structure(_text(row, "structure"))
        content = tuple(_number(place, len(tags)) for place in _list(row, "content", len(tags)))
        if not content:
            raise ValueError("a template without content")
        shared = frozenset(_number(int(written, 16), 1 << 64) for written in _list(row, "shared", MAX_TEXTS))
        template = Template(row["structure"], path_to(content[0], tags, parents), content, shared, _number(row["pages"], 1 << 40))
        branch.templates.setdefault(_directory(row), []).append(template)
    for row in _list(site, "waiting", MAX_WAITING):
        tags, parents = read_structure(_text(row, "structure"))
        texts = tuple(array("Q", (_number(mark, 1 << 64) for mark in block)) for block in _list(row, "texts", len(tags)))
        if len(texts) != len(tags):
            raise ValueError("texts and structure are inconsistent")
        branch.waiting[_directory(row), _text(row, "leaf")] = Layout(tags, parents, texts)
    return branch


def _directory(row: dict[str, Any]) -> Directory:
    segments = _list(row, "directory", MAX_DEPTH)
    if not all(isinstance(segment, str) for segment in segments):
        raise ValueError("a directory must be a list of names")
    return tuple(segments)


def _list(row: dict[str, Any], key: str, limit: int) -> list[Any]:
    found = row[key]
    if not isinstance(found, list) or len(found) > limit:
        raise ValueError(f"{key!r} is not a list of at most {limit}")
    return found


def _text(row: dict[str, Any], key: str) -> str:
    if not isinstance(found := row[key], str):
        raise TypeError(f"{key!r} is no text")
    return found


def _number(value: object, below: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < below:
        raise ValueError(f"{value!r} is not a number from 0 to {below - 1}")
    return value
