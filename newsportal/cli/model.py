"""``newsportal model``: the versions of a corpus' model, side by side, and which of them is in use."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from newsportal.classify.measure import Report
from newsportal.cli.confusion import FIGURES, format_figure, print_figures, print_report, write_page
from newsportal.cli.context import open_record
from newsportal.cli.options import AsJson, CorpusName, SourcesFile, command_group
from newsportal.cli.output import confirm_loss, print_json, print_rows, report_progress
from newsportal.messages import format_time, from_dict
from newsportal.services.learning.evaluation import put_to_use, side_by_side, stored_versions
from newsportal.store.models import Model

Version = Annotated[int | None, typer.Argument(metavar="[VERSION]", help="Default: the one in use.")]
ReportFile = Annotated[Path | None, typer.Option("--report", help="Also write an HTML report there.")]


def list_(name: CorpusName, sources: SourcesFile = None, as_json: AsJson = False) -> None:
    """List the versions, newest first, with their figures."""
    with open_record(sources) as (_, store):
        models = store.corpora.models(name)
    rows: list[dict[str, Any]] = []
    for model in models:
        facts = model.facts
        row: dict[str, Any] = {"version": model.version, "state": _state(model), "algorithm": model.algorithm, "created": model.created}
        row |= {"documents": facts.get("documents"), "labels": len(facts.get("labels", ()))}
        rows.append(row | {figure: (facts.get("report") or {}).get(figure) for figure in FIGURES} | {"bytes": model.size})
    if as_json:
        print_json(*({"corpus": name, **row} for row in rows))
        return
    if not rows:
        typer.echo(f"{name}: no model yet; `newsportal train --corpus {name}` trains one")
        return
    for row in rows:
        row |= {heading: None if row[figure] is None else format_figure(figure, row[figure]) for figure, heading in FIGURES.items()}
        row["MB"] = f"{row['bytes'] / 1e6:.1f}"
    print_rows(rows, ("version", "state", "algorithm", "created", "documents", "labels", *FIGURES.values(), "MB"), False)


def _state(model: Model) -> str:
    return "in use" if model.active else "kept" if model.size else "let go"


def show(
    name: CorpusName, version: Version = None, report: ReportFile = None, sources: SourcesFile = None, as_json: AsJson = False
) -> None:
    """Show a version: its training, figures and confusions."""
    with open_record(sources) as (_, store):
        model = store.corpora.model(name, version)
    called = f"{name}, version {model.version}"
    measured = Report.from_json(model.facts["report"]) if model.facts.get("report") else None
    warnings = [from_dict(one) for one in model.facts.get("warnings", ())]
    if measured:
        write_page(report, called, {called: measured}, warnings)
    if as_json:
        print_json({"corpus": name, "version": model.version, "active": model.active, "created": model.created, **model.facts})
        return
    typer.echo(f"{called}, {model.algorithm}, {format_time(model.created)}, {model.facts.get('documents')} documents, {_state(model)}")
    print_report(called, measured, warnings)


def compare(
    name: CorpusName,
    versions: Annotated[list[int] | None, typer.Argument(metavar="[VERSION...]", help="Default: all that are kept.")] = None,
    report: ReportFile = None,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Compare versions on documents that none has seen."""
    with open_record(sources) as (_, store), report_progress() as say:
        reports, unread = side_by_side(store, name, versions or stored_versions(store, name), say)
    for line in unread:
        typer.echo(line, err=True)
    called = {f"version {version}": measured for version, measured in sorted(reports.items())}
    write_page(report, f"{name}: versions compared", called)
    if as_json:
        print_json(*({"corpus": name, "version": version, **measured.as_json()} for version, measured in sorted(reports.items())))
        return
    print_figures(called)


def activate(
    name: CorpusName,
    version: Annotated[int, typer.Argument(metavar="VERSION", help="Its number.")],
    sources: SourcesFile = None,
) -> None:
    """Put a version to use."""
    with open_record(sources) as (_, store):
        put_to_use(store, name, version, datetime.now(UTC))
    typer.echo(f"{name}: version {version} is in use")


def rollback(name: CorpusName, sources: SourcesFile = None) -> None:
    """Go back to the version before."""
    with open_record(sources) as (_, store):
        version = store.corpora.rollback(name, now=datetime.now(UTC))
    typer.echo(f"{name}: version {version} is in use again")


def delete(
    name: CorpusName,
    versions: Annotated[list[int], typer.Argument(metavar="VERSION...", help="Their numbers.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    sources: SourcesFile = None,
) -> None:
    """Delete versions with their figures; never the one in use."""
    with open_record(sources) as (_, store):
        for version in versions:
            store.corpora.model(name, version)
        confirm_loss(f"Delete version {', '.join(map(str, versions))} of {name} for ever?", yes)
        for version in versions:
            store.corpora.delete_model(name, version)
            typer.echo(f"{name}: version {version} is deleted")


group = command_group(
    "Versions of a corpus' model: what they are worth, and which of them is in use.", list_, show, compare, activate, rollback, delete
)
