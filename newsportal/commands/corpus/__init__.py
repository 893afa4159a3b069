"""``newsportal corpus``: labelled texts that a classifier learns from."""

from __future__ import annotations

import typer

from newsportal.commands.corpus import bringing, showing

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    group = typer.Typer(no_args_is_help=True, help="Labelled texts that a classifier learns from.")
    group.callback()(_corpus)
    bringing.register(group)
    showing.register(group)
    app.add_typer(group, name="corpus")


def _corpus() -> None:
    """Labelled texts that a classifier learns from."""
