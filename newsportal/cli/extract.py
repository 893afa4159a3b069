"""``newsportal extract``: the content of saved pages, or of a URL with its further pages, as JSON lines, Markdown, text or HTML."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from newsportal.cli.output import pick, track_items, write_json_lines
from newsportal.cli.pages import (
    UNKNOWN,
    WEB,
    PageSource,
    SavedFrom,
    SavedPage,
    describe,
    page_urls,
    reject_url_of_folder,
    require_source,
    saved_pages,
)
from newsportal.dedup.canonical import identity
from newsportal.errors import EgressDenied, FetchFailed, LibraryError, NewsportalError, NotApplicable
from newsportal.extractors import EXTRACTORS, Extract, Learner, PersistentLearner, extractor
from newsportal.extractors.article.markdown import markdown_of
from newsportal.extractors.article.page_kind import NO_CONTENT, NONE
from newsportal.extractors.article.site import site_of
from newsportal.extractors.lists.page_turns import BASE_URL
from newsportal.extractors.lists.pagination import EXPECTED_ENDS, MAX_FETCHED, MultiPage, PageRead, find_pager, is_thread
from newsportal.items import Extraction, Link, Page
from newsportal.services.trying import templates
from newsportal.text import clean, dom

Rows = Iterable[dict[str, Any]]
Format = Annotated[str, typer.Option("--format", "-f", help="json: one line per page; markdown, text, html: only the bodies.")]
Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="The file to write, or a folder for the bodies of a folder; default: standard output.")
]
BODY_FORMATS: Final[dict[str, tuple[str, Callable[[dict[str, Any]], str]]]] = {
    "markdown": (".md", lambda row: markdown_of(row["html"] or "", row["title"])),
    "text": (".txt", lambda row: row["text"] or ""),
    "html": (".html", lambda row: row["html"] or ""),
}  # Format → file ending, and the function that formats an answer

DELAY = 1.0  # seconds between two requests to one host, as in the crawl
PUBLIC_ONLY = "this command fetches only public http(s) URLs; save the page with a browser and name the file"
RETRY_HINT = "try again later"
REMEDIES = {
    "egress-denied": PUBLIC_ONLY,
    "too-many": f"an article may have at most {MAX_FETCHED} pages",
    **dict.fromkeys(("connection", "dns", "timeout", "http-429", "http-500", "http-502", "http-503", "http-504"), RETRY_HINT),
}  # advice for a missing page, if any

MULTIPAGE_KINDS = (None, "article", "photo story", "documentation")
"""Kinds of pages whose further pages continue the text; those of a thread or a list have texts of their own."""


def read_one(run: Extract, page: Page, link: Link | None) -> Extraction:
    """Return the article of one page; ``pages`` if its pager links to further ones. Raises ``NotApplicable``."""
    read = _read(page, link, run)
    return replace(read.found, pages=tuple(url.removeprefix(BASE_URL) for url in read.pager.several_pages))


def read_all(run: Extract, fetch: Callable[[str], Page], page: Page, link: Link | None) -> Extraction:
    """Return the article with all available pages; failures are reported on standard error. Raises ``NotApplicable`` without an article."""
    current = _read(page, link, run)
    if is_thread(page.url) or current.found.kind not in MULTIPAGE_KINDS:
        return current.found
    first, earlier = current, current.pager.first
    if earlier is not None and identity(earlier) != identity(current.url):  # a later page: the first one, if it can be had, as in the crawl
        try:
            before = _next_page(run, fetch, earlier)
            first = before if before.pager.next is not None else current
        except Exception as error:  # noqa: BLE001  the requested page is an article
            _warn(current.url, f"without its first page, {earlier}", _reason_of(error))
    pages, last = MultiPage(first, identity), first.url
    while urls := pages.next_urls():
        last = urls[0]
        try:
            pages.add_page(current if identity(last) == identity(current.url) else _next_page(run, fetch, last, pages.is_stray), last)
        except Exception as error:  # noqa: BLE001  on any error the article consists of the pages so far
            pages.reject(last, _reason_of(error))
    for reason in pages.ends:
        if reason not in EXPECTED_ENDS:
            _warn(first.url, f"pages after {last} are left out" if reason == "too-many" else f"no pages from {last} on", reason)
    found = pages.result()
    return found if first is current else replace(found, canonical=found.canonical or first.url)


def _next_page(
    run: Extract, fetch: Callable[[str], Page], url: str, strays: Callable[[str, str], bool] = lambda url, requested: False
) -> PageRead:
    """Return the page at ``url``. Raises the errors of ``fetch`` and ``run``, and ``NotApplicable`` for other statuses and pages."""
    time.sleep(DELAY)
    page = fetch(url)
    if page.status != 200:
        raise NotApplicable(f"http-{page.status}")
    if strays(page.url, url):
        raise NotApplicable("elsewhere")
    return _read(page, None, run)


def _reason_of(error: Exception) -> str:
    """Return a slug of the error, the crawl's if there is one."""
    if isinstance(error, EgressDenied):
        return "egress-denied"
    return error.reason if isinstance(error, FetchFailed | NotApplicable) else f"error: {type(error).__name__}"


def _warn(article: str, problem: str, reason: str) -> None:
    remedy = REMEDIES.get(reason)
    typer.echo(clean(f"{article}: {problem}: {reason}" + (f"; {remedy}" if remedy else "")), err=True)


def _read(page: Page, link: Link | None, run: Extract) -> PageRead:
    document = dom.document(page)
    return PageRead(page.url, run(document, link, page.fetched), find_pager(document))


def extract(
    source: PageSource,
    url: SavedFrom = None,
    algorithm: Annotated[str, typer.Option("--algorithm", "-a", help=f"{', '.join(EXTRACTORS)}.")] = "best",
    form: Format = "json",
    out: Out = None,
    library: Annotated[
        Path | None, typer.Option("--library", help="The file in which best or url_tree saves what it learns about sites.")
    ] = None,
    render: Annotated[bool, typer.Option("--render", help="Render the URL in a browser.")] = False,
) -> None:
    """Read the main content of pages, one JSON line each; a URL is read with all its pages. A page without content gives "error"."""
    write = writer(form, source, out)
    try:
        run = extractor(algorithm, any_page=True)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--algorithm") from error
    reject_url_of_folder(url, source)
    require_source(source)
    if render and not source.startswith(WEB):
        raise typer.BadParameter("saved pages are not rendered; name a URL", param_hint="--render")
    fetch: Callable[[str], Page] = fetch_public
    if render:
        from newsportal.net import egress
        from newsportal.net.rendering import Limits, standalone
        from newsportal.net.rendering.chromium import Setup

        fetch = partial(standalone.fetch, policy=egress.PUBLIC, setup=Setup(Limits()))
    if library is None:
        write(answers(source, url, algorithm, run, fetch=fetch))
        return
    if not isinstance(run, PersistentLearner):
        raise typer.BadParameter(f"{algorithm} saves nothing between runs", param_hint="--library")
    if not library.parent.is_dir():
        raise typer.BadParameter(f"there is no folder {library.parent}; create it first", param_hint="--library")
    if library.exists():
        text = templates.read(library)
        try:
            run.restore(text)
        except LibraryError as error:
            raise LibraryError(f"{library}: {error}; name another file: each algorithm has its own") from error
    write(answers(source, url, algorithm, run, keeping=True, fetch=fetch))
    templates.save(run.dump(), library)


def fetch_public(url: str) -> Page:
    from newsportal.net import egress

    return egress.fetch(url, egress.PUBLIC)


def answers(
    source: str, url: str | None, algorithm: str, run: Extract, keeping: bool = False, fetch: Callable[[str], Page] = fetch_public
) -> Iterator[dict[str, Any]]:
    """Yield an answer per page, as a plain dict. Raises ``NewsportalError`` for a URL, ``FileNotFoundError``.

    A learning algorithm reads the sites in a folder first. ``keeping``: its state is saved for the next call,
    so that it also learns from single pages as they are read.
    """
    now = datetime.now(UTC)
    if keeping and isinstance(run, Learner) and not Path(source).is_dir():
        run = partial(_extract_and_learn, run)
    if source.startswith(WEB):
        try:
            page = fetch(source)
        except EgressDenied as error:  # sources.yaml, which could allow it, is not read
            raise NewsportalError(f"not fetched: {error}; {PUBLIC_ONLY}") from error
        yield {"id": source, **_answer(page, None, algorithm, partial(read_all, run, fetch))}
        return
    if isinstance(run, Learner) and Path(source).is_dir():
        learn(source, run, now, 1 if keeping else 2)
    for saved in track_items(saved_pages(source), "extracting"):
        if saved.error is not None:
            yield _failure(saved.id, saved.url or url, algorithm, saved.error)
            continue
        yield {"id": saved.id, **_answer(*_page(saved, url, now), algorithm, partial(read_one, run))}


def _extract_and_learn(run: Learner, document: dom.Document, link: Link | None, fetched: datetime) -> Extraction:
    found = run(document, link, fetched)
    run.learn(document, link, fetched, found)
    return found


def learn(folder: str, run: Learner, now: datetime, min_pages: int = 2) -> None:
    """Let ``run`` learn from sites with at least ``min_pages`` pages in the folder, page by page: two suffice to learn from each other."""
    counts = Counter(site for address in page_urls(folder) if (site := site_of(address)))
    for saved in track_items(saved_pages(folder, lambda address: counts[site_of(address or "") or ""] >= min_pages), "learning"):
        if saved.error is None:
            page, link = _page(saved, None, now)
            try:
                run.learn(dom.document(page), link, now)
            except Exception:  # noqa: BLE001, S112  a page that breaks the reader gets an error line with its answer
                continue


def _page(saved: SavedPage, url: str | None, now: datetime) -> tuple[Page, Link | None]:
    address = url or saved.url or UNKNOWN
    return Page(address, saved.body, now), Link(address, "command", summary=saved.summary) if saved.summary else None


def _answer(page: Page, link: Link | None, algorithm: str, read: Callable[[Page, Link | None], Extraction]) -> dict[str, Any]:
    url = None if page.url == UNKNOWN else page.url
    try:
        found = read(page, link)
    except Exception as error:  # noqa: BLE001  a page that breaks the reader must not end the run; its line has the error
        return _failure(None, url, algorithm, describe(error))
    return _plain(found, url, algorithm)


def _failure(name: str | None, url: str | None, algorithm: str, error: str) -> dict[str, Any]:
    kind = NONE if error.partition(":")[0] in NO_CONTENT else None
    empty = _plain(Extraction(kind=kind), url, algorithm) | {"error": error}
    return {"id": name, **empty} if name is not None else empty


def _plain(found: Extraction, url: str | None, algorithm: str) -> dict[str, Any]:
    return {
        "url": found.canonical or url, **pick(found, "title", "text", "kind", "kind_probability"),
        "published": found.published.isoformat() if found.published else None, "author": found.author, "source": found.origin,
        "language": found.language, "images": [image.url for image in found.images], "algorithm": found.algorithm or algorithm,
        "pages": list(found.pages), "confidence": found.confidence, "html": found.html,
    }  # fmt: skip


def writer(form: str, source: str, out: Path | None) -> Callable[[Rows], None]:
    """Return a function that writes all answers. Raises ``typer.BadParameter`` for an unknown format, or an unsuitable ``out``."""
    if form == "json":
        return lambda rows: write_json_lines(({name: value for name, value in row.items() if name != "html"} for row in rows), out)
    if form not in BODY_FORMATS:
        raise typer.BadParameter(f"no format is called {form!r}; there are: json, {', '.join(BODY_FORMATS)}", param_hint="--format")
    (ending, body), folder = BODY_FORMATS[form], Path(source).is_dir()
    if folder and (out is None or (out.exists() and not out.is_dir())):
        raise typer.BadParameter(f"{source} is a folder: name a folder with --out for its bodies", param_hint="--format")

    def write(rows: Rows) -> None:
        if folder and out is not None:
            out.mkdir(parents=True, exist_ok=True)
        for row in rows:
            if "error" in row:  # a page without a body does not end the run
                typer.echo(clean(f"{row['id']}: {row['error']}"), err=True)
            elif out is None:
                typer.echo(body(row))
            else:
                (out / f"{row['id']}{ending}" if folder else out).write_text(body(row) + "\n", "utf-8")

    return write
