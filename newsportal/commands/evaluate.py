"""``newsportal evaluate``: how good an algorithm is on one's own pages with gold answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from newsportal.commands.extract import answers
from newsportal.commands.scoring import Tally
from newsportal.extractors import EXTRACTORS, extractor

group = typer.Typer(no_args_is_help=True, help="Scores for one's own gold data.")


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.add_typer(group, name="evaluate")


@group.callback()
def _evaluate() -> None:
    """Scores for one's own gold data."""


@group.command("extraction")
def extraction(
    folder: Annotated[Path, typer.Argument(help="<id>.html or <id>.html.gz, beside each <id>.json with text, title, date.", exists=True)],
    algorithm: Annotated[list[str] | None, typer.Option("--algorithm", "-a", help="Which to score; several times for several.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line an algorithm.")] = False,
) -> None:
    """Precision, recall and F1 of the text (longest common subsequence of characters), exact titles, days of publication."""
    names = algorithm or list(EXTRACTORS)
    rows = {name: _scores(folder, name) for name in names}
    if as_json:
        for name, scores in rows.items():
            typer.echo(json.dumps({"algorithm": name, **scores}))
    else:
        _print(rows)


def _scores(folder: Path, name: str) -> dict[str, Any]:
    try:
        run = extractor(name)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--algorithm") from error
    tally = Tally()
    for row in answers(str(folder), None, name, run):
        gold = _gold(folder / f"{row['id']}.json")
        if gold is not None:
            tally.add(gold, row)
    if not tally.pages:
        raise typer.BadParameter(f"no page in {folder} has a gold answer beside it (<id>.json)", param_hint="FOLDER")
    return tally.scores()


def _gold(file: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _print(rows: dict[str, dict[str, Any]]) -> None:
    table = Table("algorithm", box=None, pad_edge=False)
    for heading in next(iter(rows.values())):
        table.add_column(heading, justify="right")
    for name, scores in rows.items():
        table.add_row(name, *("–" if value is None else str(value) for value in scores.values()))
    Console().print(table)
