"""``newsportal evaluate``: how good algorithms, ours and others', are with gold answers. One module a kind of thing."""

from __future__ import annotations

import typer

from newsportal.commands.evaluate import classify, dedup, extraction, forum, recommend

group = typer.Typer(no_args_is_help=True, help="Scores for one's own gold data.")
for _command in (extraction.extraction, classify.classify, dedup.dedup, forum.forum, recommend.recommend):
    group.command()(_command)
