"""``newsportal train`` and ``retrain``: train classifiers on labelled texts and stored articles, and measure them; ``newsportal model``:
compare and activate versions of a corpus's model. Figures are printed, and written to an HTML file with confusions and calibration."""

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.table import Table
from rich.text import Text

from newsportal.classify.base import CLASSIFIERS, DEFAULT
from newsportal.classify.held_out import SHARE
from newsportal.classify.measure import Report, confusion_matrix
from newsportal.cli.corpus import read_documents
from newsportal.cli.options import AsJson, CorpusName, SourcesFile, check_names, command_group, open_record
from newsportal.cli.output import confirm_loss, make_table, print_json, print_rows, print_table, render, report_progress, writable
from newsportal.errors import ModelError
from newsportal.messages import Message, format_time, from_dict, to_json
from newsportal.services.jobs.base import NICENESS
from newsportal.services.learning.evaluation import NO_MODEL, activate_version, compare_versions, stored_versions
from newsportal.services.learning.files import FORMS, UTF8, is_empty
from newsportal.services.learning.training import TrainingDocument, TrainingResult, train_corpus
from newsportal.services.learning.training import retrain as retrain_all
from newsportal.services.learning.training import train as trained_on
from newsportal.store.models import Model
from newsportal.text import clean

Version = Annotated[int | None, typer.Argument(metavar="[VERSION]", help="Default: the one in use.")]
HtmlFile = Annotated[Path | None, typer.Option("--report", help="Also write an HTML report there.")]


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
    for row in rows:
        row |= {heading: None if row[figure] is None else format_figure(figure, row[figure]) for figure, heading in FIGURES.items()}
        row["MB"] = f"{row['bytes'] / 1e6:.1f}"
    print_rows(
        rows, ("version", "state", "algorithm", "created", "documents", "labels", *FIGURES.values(), "MB"), False, NO_MODEL.format(name)
    )


def _state(model: Model) -> str:
    return "in use" if model.active else "kept" if model.size else "let go"


def show(name: CorpusName, version: Version = None, report: HtmlFile = None, sources: SourcesFile = None, as_json: AsJson = False) -> None:
    """Show a version: its training, figures and confusions."""
    with open_record(sources) as (_, store):
        model = store.corpora.model(name, version)
    title = f"{name}, version {model.version}"
    measured = Report.from_json(model.facts["report"]) if model.facts.get("report") else None
    warnings = [from_dict(warning) for warning in model.facts.get("warnings", ())]
    if measured:
        write_page(report, title, {title: measured}, warnings)
    if as_json:
        print_json({"corpus": name, "version": model.version, "active": model.active, "created": model.created, **model.facts})
        return
    typer.echo(f"{title}, {model.algorithm}, {format_time(model.created)}, {model.facts.get('documents')} documents, {_state(model)}")
    print_report(title, measured, warnings)


def compare(
    name: CorpusName,
    versions: Annotated[list[int] | None, typer.Argument(metavar="[VERSION...]", help="Default: all stored versions.")] = None,
    report: HtmlFile = None,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Compare versions on documents that none has seen."""
    with open_record(sources) as (_, store), report_progress() as step:
        reports, unread = compare_versions(store, name, versions or stored_versions(store, name), step)
    for line in unread:
        typer.echo(line, err=True)
    by_name = {f"version {version}": measured for version, measured in sorted(reports.items())}
    write_page(report, f"{name}: versions compared", by_name)
    if as_json:
        print_json(*({"corpus": name, "version": version, **measured.as_json()} for version, measured in sorted(reports.items())))
        return
    print_figures(by_name)


def activate(
    name: CorpusName, version: Annotated[int, typer.Argument(metavar="VERSION", help="Its number.")], sources: SourcesFile = None
) -> None:
    """Activate a version."""
    with open_record(sources) as (_, store):
        activate_version(store, name, version, datetime.now(UTC))
    typer.echo(f"{name}: version {version} is in use")


def rollback(name: CorpusName, sources: SourcesFile = None) -> None:
    """Activate the previous version."""
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
        confirm_loss(f"Delete version {', '.join(map(str, versions))} of {name} permanently?", yes)
        for version in versions:
            store.corpora.delete_model(name, version)
            typer.echo(f"{name}: version {version} is deleted")


group = command_group("Versions of a corpus' model: their figures, and the active one.", list_, show, compare, activate, rollback, delete)


def train(
    file: Annotated[str | None, typer.Argument(metavar="[FILE|-]", help="Labelled texts in a format of `corpus import`.")] = None,
    model: Annotated[Path | None, typer.Option("--model", "-m", help="Write the model there.")] = None,
    corpus: Annotated[str | None, typer.Option(help="Train its next version.")] = None,
    algorithm: Annotated[str, typer.Option("--algorithm", "-a", help=f"{', '.join(CLASSIFIERS)}.")] = DEFAULT,
    held_out: Annotated[float, typer.Option(min=0, max=0.5, help="Share of each label held out for evaluation.")] = SHARE,
    report: Annotated[Path | None, typer.Option(help="Also write an HTML report there.")] = None,
    activate: Annotated[
        bool | None, typer.Option("--activate/--no-activate", help="Activate the version; default: unless it is worse than the active one.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    form: Annotated[str, typer.Option("--format", help=f"Of FILE; one of: {', '.join(FORMS)}.")] = "auto",
    encoding: Annotated[str, typer.Option(help="Encoding of the file, such as gb18030.")] = UTF8,
    sources: SourcesFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one line of JSON.")] = False,
) -> None:
    """Train a classifier on labelled texts, and score it on texts that it has not seen.

    Either FILE --model, or --corpus. Reposts of a text are held back with it. A model of a file is trained again on all texts after
    the measuring; a version of a corpus stays as measured.
    """
    if (file is None) == (corpus is None) or (model is None) != (file is None):
        raise typer.BadParameter("give either FILE --model MODEL or --corpus NAME", param_hint="FILE")
    check_names("classifier", [algorithm], CLASSIFIERS, "--algorithm")
    if file is not None and form not in FORMS:
        raise typer.BadParameter(f"{form!r} is none of {', '.join(FORMS)}", param_hint="--format")
    options: dict[str, Any] = {"share": held_out, "seed": seed}
    row: dict[str, Any]
    if file is None or model is None:
        with open_record(sources) as (_, store), report_progress() as step:
            done = train_corpus(store, corpus or "", algorithm, now=lambda: datetime.now(UTC), activate=activate, progress=step, **options)
        trained, row = done.trained, {"corpus": corpus, "version": done.version, "active": done.active, "reason": to_json(done.reason)}
    else:
        with writable(model) as part, report_progress() as step:
            step(0.0, "reading")
            documents: dict[str, TrainingDocument] = {}
            for document in read_documents(file, form, encoding):
                if not is_empty(document):  # each once, under its first label
                    documents.setdefault(document.id, TrainingDocument(document.id, document.label, document.title, document.text))
            try:
                trained = trained_on(list(documents.values()), algorithm, refit=True, now=datetime.now(UTC), progress=step, **options)
            except ModelError as error:
                raise ModelError(f"{file}: {error}") from error
            data = trained.classifier.to_bytes()
            part.write_bytes(data)
        row = {"model": str(model), "bytes": len(data)}
    _print_result(row | trained.facts(), trained, report, as_json)


def _print_result(row: dict[str, Any], trained: TrainingResult, report: Path | None, as_json: bool) -> None:
    name = row.get("model") or f"{row['corpus']}, version {row['version']}"
    if trained.report:
        write_page(report, name, {name: trained.report}, trained.warnings)
    if as_json:
        print_json(row)
        return
    print_report(name, trained.report, trained.warnings)
    if trained.report:
        typer.echo()
    held_out = f", {row['held_out']} of them held back" if "version" in row and row["held_out"] else ""
    used = f"; {'in use' if row['active'] else 'not in use'} ({row['reason']['text']})" if "active" in row else ""
    typer.echo(f"{name}: trained on {row['documents']} documents of {len(trained.labels)} labels{held_out}{used}")


def retrain(
    force: Annotated[bool, typer.Option("--force", help="Train even if there are few new articles.")] = False,
    algorithm: Annotated[str, typer.Option("--algorithm", "-a", help=f"{', '.join(CLASSIFIERS)}.")] = DEFAULT,
    gently: Annotated[bool, typer.Option("--gently", help="Run at low priority.")] = False,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Train the models of categories and topics where enough articles are new. A version that is worse than the one in use is not used."""
    check_names("classifier", [algorithm], CLASSIFIERS, "--algorithm")
    if gently:
        os.nice(NICENESS)
    with open_record(sources) as (config, store), report_progress() as step:
        for done in retrain_all(config, store, force=force, algorithm=algorithm, progress=step):
            if as_json:
                print_json(done.row())
            else:
                typer.echo(done.sentence())


FIGURES: Final = {"macro_f1": "macro-F1", "accuracy": "right", "unanswered": "none", "ece": "ECE"}
"""Figure → heading; ``right``: share of documents with the right label, ``none``: share without a label."""

LOWER_IS_BETTER: Final = frozenset(("unanswered", "ece"))
LABEL_CELLS: Final = 8  # terminal columns for a label in a heading
NOTABLE: Final = 0.1  # share of a label's documents confused with another from which it is highlighted
SIDE: Final = 240  # size of the plot in pixels


def format_figure(name: str, value: float) -> str:
    """Format shares in per cent, and the expected calibration error as it is."""
    return f"{value:.3f}" if name == "ece" else f"{100 * value:.1f}"


def print_figures(reports: Mapping[str, Report]) -> None:
    """Print the figures of each report, then those of each label; for several reports only the F1."""
    columns = ("documents", *FIGURES.values())
    rows = [
        (name, report.documents, *(format_figure(figure, getattr(report, figure)) for figure in FIGURES))
        for name, report in reports.items()
    ]
    print_table(make_table(("", *columns), rows, right=columns))
    typer.echo()
    several, rows = len(reports) > 1, []
    columns = ("documents", *(reports if several else ("precision", "recall", "F1")))
    by_name = [{score.label: score for score in report.labels} for report in reports.values()]
    for label in sorted({label for scores in by_name for label in scores}):
        scores = [group.get(label) for group in by_name]
        first = next(score for score in scores if score)
        values = [score.f1 if score else None for score in scores] if several else [first.precision, first.recall, first.f1]
        rows.append((label, first.documents, *("–" if value is None else f"{100 * value:.1f}" for value in values)))
    print_table(make_table(("label", *columns), rows, right=columns))


def print_confusion(report: Report) -> None:
    """Print the confusion matrix: a row per true label, a column per assigned label."""
    rows, headings = confusion_matrix(report)
    table = Table(box=None, pad_edge=False, header_style="bold", title="true label ↓   given label →", title_justify="left", title_style="")
    table.add_column("")
    for heading in headings:
        table.add_column(Text(heading), justify="right", max_width=LABEL_CELLS, overflow="ellipsis", no_wrap=True)
    for label, cells in rows:
        styles = ("bold" if cell.right else "red" if cell.share >= NOTABLE else "" for cell in cells)
        table.add_row(Text(label), *(Text(str(cell.count or "·"), style=style) for cell, style in zip(cells, styles, strict=True)))
    print_table(table)


def print_report(name: str, report: Report | None, warnings: Iterable[Message]) -> None:
    """Print the warnings of a model on standard error, then its figures and confusions if it was measured."""
    for warning in warnings:
        typer.echo(clean(str(warning)), err=True)
    if report is not None:
        print_figures({name: report})
        typer.echo()
        print_confusion(report)


def write_page(path: Path | None, title: str, reports: Mapping[str, Report], notes: Sequence[Message] = ()) -> None:
    """Write :func:`confusion_page` to ``path`` if given."""
    if path is not None:
        with writable(path) as part:
            part.write_text(confusion_page(title, reports, notes), "utf-8")


def confusion_page(title: str, reports: Mapping[str, Report], notes: Sequence[Message] = ()) -> str:
    """Return the reports as one self-contained HTML file. Labels are escaped."""
    parts = []
    for name, report in reports.items():
        rows, headings = confusion_matrix(report)
        parts.append({"name": clean(name), "report": report, "headings": headings, "rows": rows, "dots": _dots(report)})
    return render(
        "confusion.html", __package__, title=clean(title), notes=[clean(str(note)) for note in notes], figures=FIGURES,
        lower=LOWER_IS_BETTER, parts=parts, side=SIDE,
    )  # fmt: skip


def _dots(report: Report) -> list[dict[str, Any]]:
    """Return the points of the reliability plot in pixels; ``radius`` grows with the number of documents."""
    most = max((bucket.documents for bucket in report.bins), default=1)
    return [
        {
            "x": round(SIDE * bucket.probability, 1),
            "y": round(SIDE * (1 - bucket.right), 1),
            "radius": round(3 + 9 * (bucket.documents / most) ** 0.5, 1),
            "title": f"{bucket.documents} documents: predicted {100 * bucket.probability:.0f} %, right {100 * bucket.right:.0f} %",
        }
        for bucket in report.bins
    ]
