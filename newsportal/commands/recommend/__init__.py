"""``newsportal recommend``: learn what readers like, look at what was learnt, and what a reader gets."""

from __future__ import annotations

import typer

from newsportal.commands.recommend import fitting, moving, showing

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    group = typer.Typer(no_args_is_help=True, help="Learn what readers like; look at what was learnt, and what a reader gets.")
    group.callback()(_recommend)
    group.command("fit")(fitting.fit)
    group.command("show")(showing.show)
    group.command("for")(showing.for_)
    group.command("import")(moving.import_)
    group.command("export")(moving.export)
    app.add_typer(group, name="recommend")


def _recommend() -> None:
    """Learn what readers like; look at what was learnt, and what a reader gets."""
