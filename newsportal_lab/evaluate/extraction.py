"""``newsportal evaluate extraction``: texts, titles, dates, authors and sources of articles, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.progress import MofNCompleteColumn

from newsportal.cli.options import AsJsonRows, check_names
from newsportal.cli.output import print_json, progress
from newsportal.cli.peers import PEERS, installed
from newsportal.errors import DependencyMissing
from newsportal.extractors import EXTRACTORS
from newsportal_lab.evaluate.gold import Survey, survey
from newsportal_lab.evaluate.report import print_rows, print_worst, report, write_report
from newsportal_lab.evaluate.running import Closer, Reader, Row, look_closer, readers, rows, run

DEFAULT: Final = "best"
EVERY: Final = "all"  # --peer all: every peer that is installed
WORST_IN_REPORT: Final = 10  # pages shown in an HTML report that was not told how many
NAMED: Final = 5  # pages without gold, and mistakes in it, that are named; of the others their number is told


def extraction(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="Folders of <id>.html(.gz), beside each <id>.json with text, title, date, author, source."),
    ],
    algorithm: Annotated[
        list[str] | None,
        typer.Option("--algorithm", "-a", help="Which to score; several times for several; default: all, beside a peer best."),
    ] = None,
    peer: Annotated[list[str] | None, typer.Option("--peer", "-p", help=f"Whom to compare with: {', '.join(PEERS)}, all.")] = None,
    worst: Annotated[int, typer.Option("--worst", "-w", min=0, help="Also so many of the worst pages, and what is wrong there.")] = 0,
    html: Annotated[Path | None, typer.Option("--html", help="Also write a report with curves and marked differences there.")] = None,
    by_site: Annotated[int | None, typer.Option("--by-site", min=1, help="Also a row for each site that has so many pages.")] = None,
    as_json: AsJsonRows = False,
) -> None:
    """Precision, recall and F1 of the text (longest common subsequence of characters), titles, days, authors and sources that are right.

    Scores algorithms, ours and others', on pages with gold answers; several folders: a row for each and one for all.
    """
    asked = _readers(algorithm, peer)
    if html is not None and html.is_dir():
        raise typer.BadParameter(f"{html} is a folder; name a file in it", param_hint="--html")
    if html is not None and not html.parent.is_dir():
        raise typer.BadParameter(f"there is no folder {html.parent}; make it first", param_hint="--html")
    surveys = {folder: survey(folder) for folder in folders}
    for folder, found_there in surveys.items():
        _say_what_is_left_out(folder, found_there)
    with progress(MofNCompleteColumn()) as bar:
        task = bar.add_task("reading pages", total=sum(one.pages for one in surveys.values()))
        results = run(folders, asked, lambda: bar.advance(task))
    names = [reader.name for reader in asked]
    found = rows(results, names, by_site=by_site)
    number = worst or (WORST_IN_REPORT if html else 0)
    closer = look_closer(results, asked, number) if number else []
    _show(found, closer if worst else [], names, as_json)
    if html is not None:
        write_report(html, report(found, results, names, closer))


def _readers(algorithms: Sequence[str] | None, peers: Sequence[str] | None) -> list[Reader]:
    names = list(algorithms or ([DEFAULT] if peers else EXTRACTORS))
    others = [each for name in peers or () for each in (installed() if name == EVERY else [name])]
    if EVERY in (peers or ()) and not installed():
        raise DependencyMissing("to compare with peers", "peers")
    check_names("algorithm", names, EXTRACTORS, "--algorithm")
    check_names("peer", others, (*PEERS, EVERY), "--peer")
    return readers(names, others)


def _say_what_is_left_out(folder: Path, found: Survey) -> None:
    """On standard error: a page whose gold is misspelt would else be missed by nobody."""
    if found.without:
        names = ", ".join(found.without[:NAMED]) + (", …" if len(found.without) > NAMED else "")
        pages = f"{len(found.without)} of {found.pages + len(found.without)} pages"
        typer.echo(f"{folder}: {pages} without gold left out: {names}", err=True)
    for remark in found.remarks[:NAMED]:
        typer.echo(remark, err=True)
    if len(found.remarks) > NAMED:
        typer.echo(f"{folder}: {len(found.remarks) - NAMED} more of the kind", err=True)


def _show(found: Sequence[Row], closer: Sequence[Closer], names: Sequence[str], as_json: bool) -> None:
    if not as_json:
        print_rows(found)
        print_worst(closer, names)
        return
    print_json(*({"set": row.set, "algorithm": row.reader, **asdict(row.scores)} for row in found))
    print_json(*(page.plain() for page in closer))
