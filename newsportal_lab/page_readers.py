"""``newsportal links``, ``pager``, ``posts`` and ``results``: read saved pages as the crawl would, one JSON line per page."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from newsportal.cli.options import OutFile
from newsportal.cli.output import pick, track_items, write_json_lines
from newsportal.cli.pages import UNKNOWN, SavedPage, check_web_url, describe, reject_url_of_folder, saved_pages
from newsportal.extractors.forum import POST_EXTRACTORS, post_extractor
from newsportal.items import Page
from newsportal.text.dom import Document, document

AUTO = "auto"

Pages = Annotated[str, typer.Argument(metavar="PATH", help="A saved page, a folder of <id>.html(.gz), or -: standard input.")]
Address = Annotated[str | None, typer.Option("--url", "-u", callback=check_web_url, help="The page's address, unless <id>.json has it.")]


def _parse(page: SavedPage, url: str | None) -> Document:
    return document(Page(url=url or UNKNOWN, body=page.body, fetched=datetime.now(UTC)))


def answer_pages(
    path: str, read: Callable[[SavedPage], dict[str, Any]], empty: dict[str, Any], description: str = "reading pages"
) -> Iterator[dict[str, Any]]:
    """Yield the result of ``read`` for each page, with its id; for an unreadable page ``empty`` and the error."""
    for page in track_items(saved_pages(path), description) if description else saved_pages(path):
        if page.error is not None:
            yield {"id": page.id, **empty, "error": page.error}
            continue
        try:
            yield {"id": page.id, **read(page)}
        except Exception as error:  # noqa: BLE001  a page that breaks the reader must not end the run; its line has the error
            yield {"id": page.id, **empty, "error": describe(error)}


def links(path: Pages, url: Address = None, out: OutFile = None) -> None:
    """Sort the links of saved list pages into article, hub and other, one JSON line a page."""
    from newsportal.extractors.lists import hub

    now = datetime.now(UTC)

    def read(page: SavedPage) -> dict[str, Any]:
        found = hub.links(_parse(page, page.url or url), now=now, base=page.base)
        return {"links": [pick(link, "url", "text", "kind") for link in found]}

    write_json_lines(answer_pages(path, read, {"links": []}), out)


def pager(
    path: Pages,
    url: Annotated[
        str | None,
        typer.Option("--url", "-u", callback=check_web_url, help="The page's address, unless <id>.json has it; not for a folder."),
    ] = None,
    out: OutFile = None,
) -> None:
    """Find the further pages of saved articles, one JSON line each, its own address first."""
    from newsportal.extractors.article.refusal import reject_binary
    from newsportal.extractors.lists.page_turns import BASE_URL
    from newsportal.extractors.lists.pagination import find_pager

    def read(page: SavedPage) -> dict[str, Any]:
        parsed = _parse(page, page.url or url)
        reject_binary(parsed)
        return {"pages": [address.removeprefix(BASE_URL) for address in find_pager(parsed).pages if address != UNKNOWN]}

    reject_url_of_folder(url, path)
    write_json_lines(answer_pages(path, read, {"pages": []}), out)


def posts(
    path: Annotated[str, typer.Argument(metavar="PATH", help="A saved page, a folder of <id>.html(.gz), or -: standard input.")],
    url: Address = None,
    algorithm: Annotated[str, typer.Option("--algorithm", "-a", help=f"{', '.join(POST_EXTRACTORS)}.")] = "best",
    out: OutFile = None,
) -> None:
    """Read the posts of forum threads. A page without posts gives "error"."""
    try:
        extract = post_extractor(algorithm)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--algorithm") from error
    now = datetime.now(UTC)

    def read(page: SavedPage) -> dict[str, Any]:
        return {
            "posts": [  # ``text`` as displayed, with quotations; ``own_text`` without them
                pick(post, "author")
                | {"date": post.published, "date_text": post.date_text, "text": post.text if post.full_text is None else post.full_text}
                | pick(post, "block_text", "floor", "xpath")
                | {"own_text": post.text, "quoted": post.quoted, "images": [image.url for image in post.images]}
                | {"opening": post.opening, "post_id": post.id}
                for post in extract(_parse(page, url or page.url), now)
            ]
        }

    reject_url_of_folder(url, path)
    write_json_lines(answer_pages(path, read, {"posts": []}, "reading threads"), out)


def results(
    path: Pages,
    engine: Annotated[str, typer.Option("--engine", "-e", help="Whose pages; auto: by the page.")] = AUTO,
    out: OutFile = None,
) -> None:
    """Read saved result pages of search engines. A captcha or broken file gives "error"."""
    from newsportal.extractors.lists import engines, result_pages

    if engine != AUTO and engine not in engines.engine_names():
        raise typer.BadParameter(f"{engine!r} is not one of: {', '.join((AUTO, *engines.engine_names()))}", param_hint="--engine")
    now = datetime.now(UTC)

    def read(page: SavedPage) -> dict[str, Any]:
        parsed = _parse(page, page.url)
        selected = result_pages.guess_engine(parsed) if engine == AUTO else engines.load_engine(engine)
        found = result_pages.read_results(selected, parsed, now)
        rows = [pick(row, "title", "link", "site", "summary", "date") for row in found.results]
        return {"engine": selected.name, "by": found.by, "results": rows}

    write_json_lines(answer_pages(path, read, {"results": []}), out)
