"""HTML reports of evaluations: one file each that needs no other and sends no request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from jinja2 import Environment, PackageLoader, StrictUndefined


def render(template: str, **values: Any) -> str:
    """A report as HTML; everything that comes from pages is escaped."""
    loader = PackageLoader(__package__, ".")
    world = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return world.get_template(template).render(values)


def write_report(file: Path, html: str) -> None:
    """Ends the command with status 1 where ``file`` cannot be written."""
    try:
        file.write_text(html, encoding="utf-8", errors="replace")
    except OSError as error:
        typer.echo(f"{file}: cannot be written: {error.strerror or error}", err=True)
        raise typer.Exit(1) from error
    typer.echo(f"report: {file}", err=True)
