"""``newsportal train`` and ``retrain``: classifiers from labelled texts and stored articles, with their figures."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from newsportal.classify.base import CLASSIFIERS, DEFAULT
from newsportal.classify.held_out import SHARE
from newsportal.cli.confusion import print_report, write_page
from newsportal.cli.context import open_record
from newsportal.cli.corpus import read_documents
from newsportal.cli.options import AsJson, SourcesFile, check_names
from newsportal.cli.output import print_json, report_progress, writable
from newsportal.errors import ModelError
from newsportal.messages import to_json
from newsportal.services.jobs.reporting import NICENESS
from newsportal.services.learning.files import FORMS, UTF8, is_empty
from newsportal.services.learning.training import Trained, TrainingDocument, train_corpus
from newsportal.services.learning.training import retrain as retrain_all
from newsportal.services.learning.training import train as trained_on


def train(
    file: Annotated[str | None, typer.Argument(metavar="[FILE|-]", help="Labelled texts, as `corpus import` reads them.")] = None,
    model: Annotated[Path | None, typer.Option("--model", "-m", help="Write the model there.")] = None,
    corpus: Annotated[str | None, typer.Option(help="Train its next version.")] = None,
    algorithm: Annotated[str, typer.Option("--algorithm", "-a", help=f"{', '.join(CLASSIFIERS)}.")] = DEFAULT,
    held_out: Annotated[float, typer.Option(min=0, max=0.5, help="Share of each label held back for measuring.")] = SHARE,
    report: Annotated[Path | None, typer.Option(help="Also write an HTML report there.")] = None,
    activate: Annotated[
        bool | None,
        typer.Option("--activate/--no-activate", help="Use the version; default: unless it is worse than the present one."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    form: Annotated[str, typer.Option("--format", help=f"Of FILE; one of: {', '.join(FORMS)}.")] = "auto",
    encoding: Annotated[str, typer.Option(help="Its encoding, such as gb18030.")] = UTF8,
    sources: SourcesFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one line of JSON.")] = False,
) -> None:
    """Train a classifier on labelled texts, and score it on texts that it has not seen.

    Either FILE --model, or --corpus. Reposts of a text are held back with it. A model of a file is trained again on all texts after
    the measuring; a version of a corpus stays as measured.
    """
    if (file is None) == (corpus is None) or (model is None) != (file is None):
        raise typer.BadParameter("say either FILE --model MODEL or --corpus NAME", param_hint="FILE")
    check_names("classifier", [algorithm], CLASSIFIERS, "--algorithm")
    if file is not None and form not in FORMS:
        raise typer.BadParameter(f"{form!r} is none of {', '.join(FORMS)}", param_hint="--format")
    options: dict[str, Any] = {"share": held_out, "seed": seed}
    row: dict[str, Any]
    if file is None or model is None:
        with open_record(sources) as (_, store), report_progress() as say:
            done = train_corpus(store, corpus or "", algorithm, now=lambda: datetime.now(UTC), activate=activate, progress=say, **options)
        made, row = done.trained, {"corpus": corpus, "version": done.version, "active": done.active, "why": to_json(done.reason)}
    else:
        with writable(model) as part, report_progress() as say:
            say(0.0, "reading")
            documents: dict[str, TrainingDocument] = {}
            for one in read_documents(file, form, encoding):
                if not is_empty(one):  # each once, under its first label
                    documents.setdefault(one.id, TrainingDocument(one.id, one.label, one.title, one.text))
            try:
                made = trained_on(list(documents.values()), algorithm, refit=True, now=datetime.now(UTC), progress=say, **options)
            except ModelError as error:
                raise ModelError(f"{file}: {error}") from error
            data = made.classifier.saved()
            part.write_bytes(data)
        row = {"model": str(model), "bytes": len(data)}
    _print_result(row | made.facts(), made, report, as_json)


def _print_result(row: dict[str, Any], made: Trained, report: Path | None, as_json: bool) -> None:
    name = row.get("model") or f"{row['corpus']}, version {row['version']}"
    if made.report:
        write_page(report, name, {name: made.report}, made.warnings)
    if as_json:
        print_json(row)
        return
    print_report(name, made.report, made.warnings)
    if made.report:
        typer.echo()
    kept = f", {row['held_out']} of them held back" if "version" in row and row["held_out"] else ""
    used = f"; {'in use' if row['active'] else 'not in use'} ({row['why']['text']})" if "active" in row else ""
    typer.echo(f"{name}: trained on {row['documents']} documents of {len(made.labels)} labels{kept}{used}")


def retrain(
    force: Annotated[bool, typer.Option("--force", help="Even where few articles are new.")] = False,
    algorithm: Annotated[str, typer.Option("--algorithm", "-a", help=f"{', '.join(CLASSIFIERS)}.")] = DEFAULT,
    gently: Annotated[bool, typer.Option("--gently", help="Run at low priority.")] = False,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Train the models of categories and topics where enough articles are new. A version that is worse than the one in use is not used."""
    check_names("classifier", [algorithm], CLASSIFIERS, "--algorithm")
    if gently:
        os.nice(NICENESS)
    with open_record(sources) as (known, store), report_progress() as say:
        for done in retrain_all(known, store, force=force, algorithm=algorithm, progress=say):
            if as_json:
                print_json(done.row())
            else:
                typer.echo(done.sentence())
