"""``newsportal gallery``: read photo stories from saved pages, or from a URL with its further pages."""

import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from newsportal.cli.extract import DELAY, PUBLIC_ONLY, RETRY_HINT, fetch_public
from newsportal.cli.output import pick, track_items, write_json_lines
from newsportal.cli.pages import UNKNOWN, WEB, PageSource, SavedFrom, describe, reject_url_of_folder, require_source, saved_pages
from newsportal.errors import EgressDenied, FetchFailed, NewsportalError, NotApplicable
from newsportal.extractors.gallery import Assembly, assemble, end_reason, guess_pattern, is_same_story_page, read, urls_left
from newsportal.extractors.gallery.further_pages import MAX_PAGES, parse_pattern
from newsportal.items import GalleryPage, Page
from newsportal.text import dom

GONE_STATUSES = frozenset((301, 302, 303, 307, 308, 400, 401, 403, 404, 410, 451))
"""Permanent statuses: the story ends there. After others it is incomplete."""

CAPTION_CHARS = 60


def gallery(
    source: PageSource,
    url: SavedFrom = None,
    pattern: Annotated[
        str | None, typer.Option("--pattern", "-p", help="Names of further pages, as in sources.yaml: {id}_{n}.html.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object per page or story.")] = False,
) -> None:
    """Read a photo story: its pictures, in order, with captions; a URL is read with all its pages. A page without one gives "error"."""
    reject_url_of_folder(url, source)
    if pattern is not None:
        try:
            parse_pattern(pattern)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--pattern") from error
    require_source(source)
    rows = answers(source, url, pattern)
    if json:
        write_json_lines(rows, None)
    else:
        for row in rows:
            _print(row)


def answers(source: str, url: str | None = None, pattern: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield an answer per page of a folder, or for the story at a URL. Raises ``NewsportalError`` for a URL that could not be fetched."""
    if source.startswith(WEB):
        yield _whole_story(source, pattern)
        return
    for saved in track_items(saved_pages(source), "reading photo stories"):
        page = Page(url or saved.url or UNKNOWN, saved.body, datetime.now(UTC))
        address = None if page.url == UNKNOWN else page.url
        if saved.error is not None:
            yield _failure(saved.id, saved.url or url, saved.error)
            continue
        try:
            found = read(dom.document(page), now=page.fetched)
        except Exception as error:  # noqa: BLE001  a page that breaks the reader must not end the run; its line has the error
            yield _failure(saved.id, address, describe(error))
            continue
        yield _plain(saved.id, address, assemble([found]), found.pages, found.next)


def _whole_story(url: str, pattern: str | None) -> dict[str, Any]:
    """Read the story at a URL over all its pages; failed pages are reported on standard error."""
    try:
        first = fetch_public(url)
    except EgressDenied as error:
        raise NewsportalError(f"not fetched: {error}; {PUBLIC_ONLY}") from error
    try:
        pages = [_read(first)]
    except NotApplicable as error:
        return _failure(url, first.url, str(error))
    ended: set[str] = set()
    failed: dict[str, str] = {}
    guessed = guess_pattern(pages[0]) if pattern is None else None  # the first page has no link that matches the guess
    pattern = pattern or guessed
    while urls := urls_left(pages, ended | failed.keys(), pattern):
        if len(pages) + len(ended) + len(failed) > MAX_PAGES:
            typer.echo(f"{url}: more than {MAX_PAGES} pages: the rest is left out", err=True)
            break
        time.sleep(DELAY)
        try:
            found = _read(fetch_public(urls[0]))
        except (NotApplicable, EgressDenied):
            ended.add(urls[0])
        except FetchFailed as error:
            if guessed is not None and len(pages) == 1:
                ended.add(urls[0])
            else:
                failed[urls[0]] = error.reason
        else:
            if end_reason(found, pages, requested=urls[0]) or (guessed is not None and not is_same_story_page(found, pages)):
                ended.add(urls[0])
            else:
                pages.append(found)
    for page_url, reason in failed.items():
        typer.echo(f"{url}: no page at {page_url}: {reason}; {RETRY_HINT}", err=True)
    return _plain(url, pages[0].url, assemble(pages, pattern=pattern, ended=ended), (), None)


def _read(page: Page) -> GalleryPage:
    """Raises ``NotApplicable``, and ``FetchFailed`` for a transient status."""
    if page.status in GONE_STATUSES:
        raise NotApplicable(f"http-{page.status}")
    if page.status != 200:
        raise FetchFailed(page.url, f"http-{page.status}")
    return read(dom.document(page), now=page.fetched)


def _plain(name: str, url: str | None, story: Assembly, pages: Iterable[str], following: str | None) -> dict[str, Any]:
    """Return a story as an answer. ``pages``: of a saved page those it links to, of a URL those that were read."""
    return {
        "id": name, "url": url, "title": story.title,
        "images": [pick(image, "url", "caption", "width", "height") for image in story.images], "text": story.text,
        "published": story.published.isoformat() if story.published else None, "author": story.author, "source": story.origin,
        "language": story.language, "pages": list(pages) or [page for page in story.pages if page != UNKNOWN], "next": following,
        "total": story.total, "missing": list(story.missing), "complete": story.complete,
    }  # fmt: skip


def _failure(name: str, url: str | None, msg: str) -> dict[str, Any]:
    return {"id": name, "url": url, "title": None, "images": [], "pages": [], "next": None, "total": None, "complete": False, "error": msg}


def _print(row: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(emoji=False, highlight=False)
    if "error" in row:
        console.print(Text(f"{row['id']}: no photo story: {row['error']}"), style="yellow")
        return
    missing = ", ".join(map(str, row["missing"]))
    state = "complete" if row["complete"] else f"incomplete; pages missing: {missing}" if missing else "incomplete; it goes on"
    console.print(Text(f"{row['title'] or row['url'] or row['id']}  ({len(row['images'])} pictures, {state})"), style="bold")
    table = Table(box=None, padding=(0, 1), show_header=False)
    for number, image in enumerate(row["images"], start=1):
        size = f"{image['width']}x{image['height']}" if image["width"] and image["height"] else ""
        table.add_row(str(number), Text((image["caption"] or "")[:CAPTION_CHARS]), size, Text(image["url"], overflow="fold"))
    console.print(table)
