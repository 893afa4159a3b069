"""``newsportal evaluate classify``: measure classifiers on a corpus, beside peers, across corpora, and on unseen labels."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import process_time
from typing import Annotated, Any, ClassVar, Final

import numpy as np
import typer

from newsportal.classify.base import CLASSIFIERS, Answer, Example, train
from newsportal.classify.calibration import auroc
from newsportal.classify.measure import Report, measure
from newsportal.cli.options import AsJsonRows, check_names
from newsportal.cli.output import report_progress
from newsportal.errors import ModelError
from newsportal.messages import as_text
from newsportal.text import segment
from newsportal_lab.evaluate.gold import gold_lines

Predict = Callable[[Sequence[str]], Sequence[str]]  # texts in, labels out
CHARACTER_RUNS: Final = {"char12-svm": (1, 2), "char23-svm": (2, 3)}
PEERS: Final = (*CHARACTER_RUNS, "words-svm", "words-lr", "words-cnb")
"""Runs of characters or words, TF-IDF (sublinear), and a linear SVM, logistic regression or complement naive Bayes with their defaults."""


def train_peer(name: str, texts: Sequence[str], labels: Sequence[str]) -> Predict:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import ComplementNB
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    words = {"tokenizer": segment, "token_pattern": None}
    options = {"analyzer": "char", "ngram_range": CHARACTER_RUNS[name]} if name in CHARACTER_RUNS else words
    models = {"svm": LinearSVC(random_state=0), "lr": LogisticRegression(max_iter=200), "cnb": ComplementNB()}
    found = make_pipeline(TfidfVectorizer(**options, sublinear_tf=True, min_df=2), models[name.rpartition("-")[2]]).fit(texts, labels)
    return lambda texts: [str(label) for label in found.predict(texts)]


NOTE: Final = "The best label counts, given or not; others' classifiers state no probability."


@dataclass(frozen=True, slots=True)
class Result:
    """The figures of one classifier on one corpus. ``unanswered``: share of texts without a label; ``training``: seconds."""

    HEADINGS: ClassVar = ("macro-F1", "accuracy", "ECE", "none", "docs/s", "training s")

    set: str
    algorithm: str
    report: Report
    unanswered: float | None
    per_second: float
    training: float

    def as_json(self) -> dict[str, Any]:
        return {
            "set": self.set,
            "algorithm": self.algorithm,
            **{name: value for name, value in self.report.as_json().items() if name != "confusion"},
            "ece": round(self.report.ece, 6) if self.report.bins else None,
            "unanswered": self.unanswered,
            "per_second": round(self.per_second, 1),
            "training_seconds": round(self.training, 1),
        }

    def row(self) -> str:
        shares = (self.report.macro_f1, self.report.accuracy, self.report.ece if self.report.bins else None, self.unanswered)
        cells = [f"{100 * share:.1f}" if share is not None else "–" for share in shares]
        return f"{self.algorithm:14}" + "".join(f"{cell:>11}" for cell in (*cells, f"{self.per_second:.0f}", f"{self.training:.1f}"))


def classify(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Folders with train.jsonl(.gz) and test.jsonl(.gz): text, label.")
    ],
    algorithm: Annotated[list[str] | None, typer.Option("--algorithm", "-a", help="Which to score; repeatable; default: linear.")] = None,
    peer: Annotated[list[str] | None, typer.Option("--peer", help="scikit-learn's, to compare with: a name, or all.")] = None,
    cross: Annotated[
        Path | None, typer.Option("--cross", help="A mapping file: train on the first DIR (A), test on the second (B).")
    ] = None,
    leave_out: Annotated[bool, typer.Option("--leave-out", help="Train without a third of the labels, and test on them.")] = False,
    html: Annotated[Path | None, typer.Option("--html", help="Also write an HTML report there.")] = None,
    as_json: AsJsonRows = False,
) -> None:
    """Macro-F1, accuracy, calibration error and documents a second, after training on each folder's train part.

    The best label counts, given or not; none: texts without a label. The file of --cross is
    {"common label": {"A": ["label", …], "B": ["label", …]}}.
    """
    check_names("peer", peer or (), (*PEERS, "all"), "--peer")
    names = [*(algorithm or (() if peer else ("linear",))), *(PEERS if "all" in (peer or ()) else dict.fromkeys(peer or ()))]
    check_names("classifier", algorithm or (), CLASSIFIERS, "--algorithm")
    if cross is not None and len(folders) != 2:
        raise typer.BadParameter("needs two folders: train on the first, answer the second", param_hint="--cross")
    if leave_out and (peer or cross or html):
        raise typer.BadParameter("goes with neither --peer, --cross nor --html", param_hint="--leave-out")
    evaluate = leave_labels_out if leave_out else score
    reports = {}
    try:
        for set_name, training, test in _sets(folders, cross):
            if not as_json:
                typer.echo(set_name if leave_out else f"{set_name}: {len(training)} to learn from, {len(test)} to answer")
                headings = UnseenLabels.HEADINGS if leave_out else Result.HEADINGS
                typer.echo(f"{'':14}" + "".join(f"{heading:>11}" for heading in headings))
            for name in names:
                found = evaluate(set_name, name, training, test)
                typer.echo(json.dumps(found.as_json(), ensure_ascii=False) if as_json else found.row())
                if isinstance(found, Result):
                    reports[f"{found.algorithm}, {found.set}"] = found.report
        if html is not None:
            from newsportal.cli.model import confusion_page

            html.write_text(confusion_page("Classification", reports, [as_text(NOTE)]), encoding="utf-8")
    except (OSError, ValueError, ModelError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error


def _sets(folders: Sequence[Path], cross: Path | None) -> list[tuple[str, list[Example], list[Example]]]:
    if cross is None:
        return [(folder.name, read_examples(folder, "train"), read_examples(folder, "test")) for folder in folders]
    sides, (first, second) = read_mapping(cross), folders
    training, test = rename_labels(read_examples(first, "train"), sides["A"]), rename_labels(read_examples(second, "test"), sides["B"])
    if not training or not test:
        raise ValueError(f"{cross}: no text of {folders[0]} or of {folders[1]} has one of its labels")
    return [(f"{first.name} → {second.name}", training, test)]


def score(set_name: str, name: str, training: Sequence[Example], test: Sequence[Example]) -> Result:
    true = [example.labels[0] for example in test]
    start = process_time()
    if name in PEERS:
        predict = train_peer(name, [_full_text(example) for example in training], [example.labels[0] for example in training])
        trained, start = process_time() - start, process_time()
        answers = [Answer(label, {}, (label,)) for label in predict([_full_text(example) for example in test])]
        unanswered = None
    else:
        with report_progress() as progress:
            model = train(name, training, progress=progress)
        trained, start = process_time() - start, process_time()
        found = [model.classify(example.title, example.text) for example in test]
        unanswered = sum(answer.label is None for answer in found) / max(1, len(found))
        answers = [replace(item, label=max(item.scores, key=item.scores.__getitem__)) if item.scores else item for item in found]
    seconds = max(process_time() - start, 1e-9)
    return Result(set_name, name, measure(true, answers), unanswered, len(test) / seconds, trained)


def _full_text(example: Example) -> str:
    return f"{example.title}\n{example.text}" if example.title else example.text


PARTS: Final = 3  # a third of the labels is left out at a time: three trainings, and each label is unseen once


@dataclass(frozen=True, slots=True)
class UnseenLabels:
    """Means over the parts, shares from 0 to 1. ``auroc``: probability that a known text's best probability exceeds a foreign one's;
    ``foreign_refused``, ``right_refused``, ``wrong_refused``: share without a label among foreign texts, and among known ones whose best
    label is right or wrong; ``right``: share of the known texts whose best label is right."""

    HEADINGS: ClassVar = ("AUROC", "foreign no", "right", "right no", "wrong no")

    set: str
    algorithm: str
    auroc: float
    foreign_refused: float
    right: float
    right_refused: float
    wrong_refused: float

    def as_json(self) -> dict[str, Any]:
        numbers = ("auroc", "foreign_refused", "right", "right_refused", "wrong_refused")
        return {"set": self.set, "algorithm": self.algorithm} | {name: round(getattr(self, name), 6) for name in numbers}

    def row(self) -> str:
        shares = (self.auroc, self.foreign_refused, self.right, self.right_refused, self.wrong_refused)
        return f"{self.algorithm:14}" + "".join(f"{100 * share:>11.1f}" for share in shares)


def leave_labels_out(set_name: str, name: str, training: Sequence[Example], test: Sequence[Example]) -> UnseenLabels:
    """Train ``name`` without a third of the labels, each third in turn, and classify all texts. Raises ``ValueError``."""
    labels = [label for label, _ in sorted(Counter(row.labels[0] for row in training).items(), key=lambda item: (-item[1], item[0]))]
    if len(labels) <= PARTS:
        raise ValueError(f"{set_name}: to leave labels out there must be more than {PARTS}")
    figures = []
    for part in range(PARTS):
        left_out = set(labels[part::PARTS])
        with report_progress() as progress:
            model = train(name, [example for example in training if example.labels[0] not in left_out], progress=progress)
        answers = [model.classify(example.title, example.text) for example in test]
        scores = [answer.scores or {"": 0.0} for answer in answers]
        best = np.array([max(found.values()) for found in scores])
        foreign = np.array([example.labels[0] in left_out for example in test])
        right = np.array([max(found, key=found.__getitem__) == example.labels[0] for example, found in zip(test, scores, strict=True)])
        refused = np.array([answer.label is None for answer in answers])
        rates = [float(refused[group].mean()) if group.any() else 0.0 for group in (foreign, ~foreign & right, ~foreign & ~right)]
        shares = (rates[0], float(right[~foreign].mean()) if (~foreign).any() else 0.0, rates[1], rates[2])
        figures.append((auroc(best[~foreign], best[foreign]), *shares))
    return UnseenLabels(set_name, name, *np.mean(figures, axis=0))


FORM: Final = '{"text": …, "label": …}'


def read_examples(folder: Path, part: str) -> list[Example]:
    """Return the examples of ``part`` (``train`` or ``test``). Raises ``OSError``, or ``ValueError`` with the invalid line."""
    found = []
    for location, line in gold_lines(folder, part):
        try:
            row: Any = json.loads(line)
            text, label, title = row["text"], row["label"], row.get("title") or ""
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{location}: a line must be {FORM}") from error
        if not all(isinstance(value, str) for value in (text, label, title)) or not label.strip():
            raise ValueError(f"{location}: text, label and title must be strings, and the label not empty")
        found.append(Example(text, (label,), title))
    if not found:
        raise ValueError(f"{folder}: no labelled texts in its {part} part; a line is {FORM}")
    return found


def read_mapping(file: Path) -> dict[str, dict[str, str]]:
    """Return ``{"common label": {"A": [labels], "B": [labels]}}`` as a mapping per side. Raises ``OSError``, ``ValueError``."""
    try:
        sides: dict[str, dict[str, str]] = {"A": {}, "B": {}}
        for label, labels in json.loads(file.read_text(encoding="utf-8")).items():
            for side, names in sides.items():
                names.update(dict.fromkeys(labels[side], label))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f'{file}: must be {{"common label": {{"A": ["label", …], "B": ["label", …]}}}}') from error
    return sides


def rename_labels(examples: list[Example], names: Mapping[str, str]) -> list[Example]:
    """Return the examples whose label has a common name, with that name."""
    return [Example(example.text, (names[example.labels[0]],), example.title) for example in examples if example.labels[0] in names]
