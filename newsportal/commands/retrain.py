"""``newsportal retrain``: gather labelled articles from the store, and train anew what has enough of them. ``newsportal up`` runs it."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from newsportal.classify.base import CLASSIFIERS, DEFAULT
from newsportal.commands.corpus.common import AsJson, SourcesFile, opened, print_json, watched
from newsportal.learning.retraining import retrain
from newsportal.services.jobs.reporting import NICENESS


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("retrain")(command)


def command(
    force: Annotated[bool, typer.Option("--force", help="Train also where few articles are new.")] = False,
    algorithm: Annotated[str, typer.Option("--algorithm", "-a", help=f"One of: {', '.join(CLASSIFIERS)}.")] = DEFAULT,
    gently: Annotated[bool, typer.Option("--gently", help="Leave the processor to others where they need it.")] = False,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Train the models of categories and topics anew from stored articles, where enough new ones are known.

    Articles of feeds and regions whose category sources.yaml tells label themselves; so do articles of topics. A version that is worse
    than the one in use is kept, but not used.
    """
    if algorithm not in CLASSIFIERS:
        raise typer.BadParameter(f"no classifier is called {algorithm!r}; there are: {', '.join(CLASSIFIERS)}", param_hint="--algorithm")
    if gently:
        os.nice(NICENESS)
    with opened(sources) as (known, store), watched() as say:
        for done in retrain(known, store, force=force, algorithm=algorithm, progress=say):
            if as_json:
                print_json(done.row())
            else:
                typer.echo(done.sentence())
