"""``newsportal pager``: the pages of saved articles as JSON lines, as the crawl would turn them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from newsportal.commands import jsonl
from newsportal.commands.pages import SavedPage, refuse_for_folder, saved_pages, web_address
from newsportal.dom import document
from newsportal.errors import NotApplicable
from newsportal.extractors.page_turns import NOWHERE
from newsportal.extractors.pagination import find_pager
from newsportal.extractors.refusal import refuse_bytes
from newsportal.items import Page

UNKNOWN = "about:blank"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("pager")(pager)


def pager(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="A saved page, a folder of <id>.html or <id>.html.gz, or - for standard input.")
    ],
    url: Annotated[
        str | None,
        typer.Option(
            "--url", "-u", callback=web_address, help="The page's address, where no <id>.json beside it says so; not for a folder."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Where to write the JSON lines; standard output by default.")] = None,
) -> None:
    """Find the further pages of saved articles: one JSON line a page, its own address first, then those that follow, in order.

    A page that cannot be read gives a line with "error", and the run goes on.
    """
    refuse_for_folder(url, path)
    jsonl.write(answers(path, url), out)


def answers(path: str, url: str | None = None) -> Iterator[dict[str, Any]]:
    """An answer line for each page, as a plain dict. Addresses are relative where the page's own is not known."""
    now = datetime.now(UTC)
    for page in saved_pages(path):
        yield {"id": page.id, **_answer(page, url, now)}


def _answer(page: SavedPage, url: str | None, now: datetime) -> dict[str, Any]:
    if page.error is not None:
        return {"pages": [], "error": page.error}
    try:
        read = document(Page(url=page.url or url or UNKNOWN, body=page.body, fetched=now))
        refuse_bytes(read)
        found = find_pager(read)
        return {"pages": [address.removeprefix(NOWHERE) for address in found.pages if address != UNKNOWN]}
    except NotApplicable as error:
        return {"pages": [], "error": str(error)}
    except Exception as error:  # noqa: BLE001  one page that breaks the reader must not end the run; the line says so
        return {"pages": [], "error": f"{type(error).__name__}: {error}"}
