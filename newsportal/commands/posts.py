"""``newsportal posts``: the posts of saved forum threads as JSON lines, one page a line."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from newsportal.commands import jsonl
from newsportal.commands.pages import SavedPage, refuse_for_folder, saved_pages, web_address
from newsportal.dom import document
from newsportal.errors import NotApplicable
from newsportal.extractors.forum import POSTERS, Extract, poster
from newsportal.items import Page, Post

NOWHERE = "about:blank"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("posts")(posts)


def posts(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="A saved thread, a folder of <id>.html or <id>.html.gz, or - for standard input.")
    ],
    url: Annotated[
        str | None, typer.Option("--url", "-u", callback=web_address, help="The page's address, where no <id>.json beside it says so.")
    ] = None,
    algorithm: Annotated[str, typer.Option("--algorithm", "-a", help=f"One of: {', '.join(POSTERS)}.")] = "best",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Where to write the JSON lines; standard output by default.")] = None,
) -> None:
    """Read the posts of forum threads: author, time, floor, text, quotations, pictures. One JSON line a page, its posts in page order.

    A page without posts has a line with "error", and the run goes on.
    """
    try:
        read = poster(algorithm)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--algorithm") from error
    refuse_for_folder(url, path)
    jsonl.write(answers(path, read, url), out)


def answers(path: str, read: Extract, url: str | None = None) -> Iterator[dict[str, Any]]:
    """An answer line for each page, as a plain dict."""
    now = datetime.now(UTC)
    for page in _watched(saved_pages(path)):
        yield {"id": page.id, **_answer(page, read, url, now)}


def _answer(page: SavedPage, read: Extract, url: str | None, now: datetime) -> dict[str, Any]:
    if page.error is not None:
        return {"posts": [], "error": page.error}
    try:
        found = read(document(Page(url=url or page.url or NOWHERE, body=page.body, fetched=now)), now)
    except NotApplicable as reason:
        return {"posts": [], "error": str(reason)}
    except Exception as error:  # noqa: BLE001  one page that breaks the reader must not end the run; the line says so
        return {"posts": [], "error": f"{type(error).__name__}: {error}"}
    return {"posts": [plain(post) for post in found]}


def plain(post: Post) -> dict[str, Any]:
    """A post as a line has it: ``text`` as the page shows it, quotations in their place; ``own_text`` without them."""
    return {
        "author": post.author,
        "date": post.published.isoformat() if post.published else None,
        "date_text": post.date_text,
        "text": post.full_text if post.full_text is not None else post.text,
        "block_text": post.block_text,
        "floor": post.floor,
        "xpath": post.xpath,
        "own_text": post.text,
        "quoted": post.quoted,
        "images": [image.url for image in post.images],
        "opening": post.opening,
        "post_id": post.id,
    }


def _watched(pages: Iterable[SavedPage]) -> Iterable[SavedPage]:
    """A progress line on a terminal, when the answers go elsewhere."""
    if not sys.stderr.isatty() or sys.stdout.isatty():
        return pages
    from rich.console import Console
    from rich.progress import track

    return track(pages, description="reading threads", console=Console(stderr=True), transient=True)
