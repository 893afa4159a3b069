"""``newsportal results``: saved result pages as JSON lines, read as the crawl would read them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from newsportal import engines
from newsportal.commands import jsonl
from newsportal.commands.pages import SavedPage, saved_pages
from newsportal.dom import Document, document
from newsportal.engines.base import Engine, ResultPage
from newsportal.engines.reading import guess, read
from newsportal.errors import NewsportalError
from newsportal.items import Page

AUTO = "auto"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("results")(results)


def results(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="A saved page, a folder of <id>.html or <id>.html.gz, or - for standard input.")
    ],
    engine: Annotated[str, typer.Option("--engine", "-e", help="Whose result pages these are; auto looks at each page.")] = AUTO,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Where to write the JSON lines; standard output by default.")] = None,
) -> None:
    """Read saved pages of search engines: title, link, site, summary and date of every result, one JSON line a page.

    A page that cannot be read (captcha, broken file) gives a line with "error", and the run goes on.
    """
    if engine != AUTO and engine not in engines.ENGINES:
        raise typer.BadParameter(f"{engine!r} is not one of: {', '.join((AUTO, *engines.names()))}", param_hint="--engine")
    jsonl.write(answers(path, engine), out)


def answers(path: str, engine: str) -> Iterator[dict[str, Any]]:
    """An answer line for each page, as a plain dict."""
    now = datetime.now(UTC)
    for page in saved_pages(path):
        yield {"id": page.id, **_answer(page, engine, now)}


def _answer(page: SavedPage, name: str, now: datetime) -> dict[str, Any]:
    if page.error is not None:
        return {"results": [], "error": page.error}
    try:
        parsed = document(Page(url=page.url or "about:blank", body=page.body, fetched=now))
        engine = _engine(name, parsed)
        return _plain(engine, read(engine, parsed, now))
    except NewsportalError as error:
        return {"results": [], "error": str(error)}
    except Exception as error:  # noqa: BLE001  one page that breaks the reader must not end the run; the line says so
        return {"results": [], "error": f"{type(error).__name__}: {error}"}


def _engine(name: str, parsed: Document) -> Engine:
    return guess(parsed) if name == AUTO else engines.load(name)


def _plain(engine: Engine, page: ResultPage) -> dict[str, Any]:
    rows = [{"title": row.title, "link": row.link, "site": row.site, "summary": row.summary, "date": row.date} for row in page.results]
    return {"engine": engine.name, "by": page.by, "results": rows}
