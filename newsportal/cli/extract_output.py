"""What ``newsportal extract`` writes: JSON lines, or the bodies of pages as Markdown, text or HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
    (ending, body), folder = BODIES[form], Path(source).is_dir()
    if folder and (out is None or (out.exists() and not out.is_dir())):
        raise typer.BadParameter(f"{source} is a folder: name a folder with --out, which gets a file a page", param_hint="--format")

    def write(rows: Rows) -> None:
        if folder and out is not None:
            out.mkdir(parents=True, exist_ok=True)
        for row in rows:
            if "error" in row:  # a page without a body; the run goes on
                typer.echo(clean(f"{row['id']}: {row['error']}"), err=True)
            elif out is None:
                typer.echo(body(row))
            else:
                (out / f"{row['id']}{ending}" if folder else out).write_text(body(row) + "\n", "utf-8")

    return write
