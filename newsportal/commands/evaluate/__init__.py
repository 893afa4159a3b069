"""``newsportal evaluate``: how good algorithms, ours and others', are with gold answers. One module a kind of thing."""

from __future__ import annotations

import typer

from newsportal.commands.evaluate import classify, dedup, extraction, forum, recommend

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    group = typer.Typer(no_args_is_help=True, help="Scores for one's own gold data.")
    group.callback()(_evaluate)
    extraction.register(group)
    classify.register(group)
    dedup.register(group)
    forum.register(group)
    recommend.register(group)
    app.add_typer(group, name="evaluate")


def _evaluate() -> None:
    """Scores for one's own gold data."""
