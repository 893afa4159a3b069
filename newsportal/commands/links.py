"""``newsportal links``: the links of saved list pages as JSON lines, sorted as the hub spider would sort them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from newsportal.commands import jsonl
from newsportal.commands.pages import SavedPage, saved_pages, web_address
from newsportal.dom import document
from newsportal.extractors import hub
from newsportal.items import Page


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("links")(links)


def links(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="A saved page, a folder of <id>.html or <id>.html.gz, or - for standard input.")
    ],
    url: Annotated[
        str | None, typer.Option("--url", "-u", callback=web_address, help="The page's address, where no <id>.json beside it says so.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Where to write the JSON lines; standard output by default.")] = None,
) -> None:
    """Sort the links of saved list pages into article, hub and other: one JSON line a page, its links in page order.

    A page that cannot be read gives a line with "error", and the run goes on.
    """
    jsonl.write(answers(path, url), out)


def answers(path: str, url: str | None = None) -> Iterator[dict[str, Any]]:
    """An answer line for each page, as a plain dict."""
    now = datetime.now(UTC)
    for page in saved_pages(path):
        yield {"id": page.id, **_answer(page, url, now)}


def _answer(page: SavedPage, url: str | None, now: datetime) -> dict[str, Any]:
    if page.error is not None:
        return {"links": [], "error": page.error}
    try:
        parsed = document(Page(url=page.url or url or "about:blank", body=page.body, fetched=now))
        found = hub.links(parsed, now=now, base=page.base)
        return {"links": [{"url": link.url, "text": link.text, "kind": link.kind} for link in found]}
    except Exception as error:  # noqa: BLE001  one page that breaks the reader must not end the run; the line says so
        return {"links": [], "error": f"{type(error).__name__}: {error}"}
