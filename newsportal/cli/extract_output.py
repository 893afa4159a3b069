"""What ``newsportal extract`` writes: JSON lines, or the bodies of pages as Markdown, text or HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from newsportal.cli.output import write_json_lines
from newsportal.extractors.article.markdown import markdown_of
from newsportal.text import clean

Rows = Iterable[dict[str, Any]]
Format = Annotated[str, typer.Option("--format", "-f", help="json: a line a page; markdown, text or html: the body of each page alone.")]
Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="Where to write (a folder for a folder's bodies); default: standard output."),
]


BODIES: Final[dict[str, tuple[str, Callable[[dict[str, Any]], str]]]] = {
    "markdown": (".md", lambda row: markdown_of(row["html"] or "", row["title"])),
    "text": (".txt", lambda row: row["text"] or ""),
    "html": (".html", lambda row: row["html"] or ""),
}
"""Format → the ending of its files, and what it makes of an answer line."""


def writer(form: str, source: str, out: Path | None) -> Callable[[Rows], None]:
    """A function that writes all answer lines. Raises ``typer.BadParameter`` for a format there is not, or an ``out`` that does not fit."""
    if form == "json":
        return lambda rows: write_json_lines(({name: value for name, value in row.items() if name != "html"} for row in rows), out)
    if form not in BODIES:
        raise typer.BadParameter(f"no format is called {form!r}; there are: json, {', '.join(BODIES)}", param_hint="--format")
    if not Path(source).is_dir():
        return partial(_write_stream, form, out)
    if out is None or (out.exists() and not out.is_dir()):
        raise typer.BadParameter(f"{source} is a folder: name a folder with --out, which gets a file a page", param_hint="--format")
    return partial(_write_folder, form, out)


def _write_stream(form: str, out: Path | None, rows: Rows) -> None:
    for row in rows:
        if "error" in row:
            _report(row)
        elif out is None:
            typer.echo(BODIES[form][1](row))
        else:
            out.write_text(BODIES[form][1](row) + "\n", "utf-8")


def _write_folder(form: str, out: Path, rows: Rows) -> None:
    ending, body = BODIES[form]
    out.mkdir(parents=True, exist_ok=True)
    for row in rows:
        if "error" in row:
            _report(row)
        else:
            (out / f"{row['id']}{ending}").write_text(body(row) + "\n", "utf-8")


def _report(row: dict[str, Any]) -> None:
    """A page without a body is named on standard error; the run goes on."""
    typer.echo(clean(f"{row['id']}: {row['error']}"), err=True)
