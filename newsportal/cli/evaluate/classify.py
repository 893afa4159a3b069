"""``newsportal evaluate classify``: how well classifiers learn a corpus, beside others', across corpora, and on labels left out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import process_time
from typing import Annotated, Any, Final

import numpy as np
import typer

from newsportal.classify.base import CLASSIFIERS, Answer, Example, train
from newsportal.classify.calibration import auroc
from newsportal.classify.measure import Report, measure
from newsportal.cli.evaluate.gold import gold_lines
from newsportal.cli.options import AsJsonRows, check_names
from newsportal.cli.output import report_progress
from newsportal.errors import ModelError
from newsportal.messages import as_text
from newsportal.text import segment

Predict = Callable[[Sequence[str]], Sequence[str]]  # texts in, labels out
CHARACTER_RUNS: Final = {"char12-svm": (1, 2), "char23-svm": (2, 3)}
PEERS: Final = (*CHARACTER_RUNS, "words-svm", "words-lr", "words-cnb")
"""Runs of characters or words, TF-IDF (sublinear), and a linear SVM, logistic regression or complement naive Bayes with their defaults."""


def train_peer(name: str, texts: Sequence[str], labels: Sequence[str]) -> Predict:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline

    if name in CHARACTER_RUNS:
        vectors = TfidfVectorizer(analyzer="char", ngram_range=CHARACTER_RUNS[name], sublinear_tf=True, min_df=2)
    else:
        vectors = TfidfVectorizer(tokenizer=segment, token_pattern=None, sublinear_tf=True, min_df=2)
    found = make_pipeline(vectors, _model(name)).fit(texts, labels)

    def predict(texts: Sequence[str]) -> Sequence[str]:
        return [str(label) for label in found.predict(texts)]

    return predict


def _model(name: str) -> Any:
    if name.endswith("svm"):
        from sklearn.svm import LinearSVC

        return LinearSVC(random_state=0)
    if name.endswith("lr"):
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(max_iter=200)
    from sklearn.naive_bayes import ComplementNB

    return ComplementNB()


HEADINGS: Final = ("macro-F1", "accuracy", "ECE", "none", "docs/s", "training s")

NOTE: Final = "The best label counts, given or not; others' classifiers state no probability."


@dataclass(frozen=True, slots=True)
class Result:
    """One classifier on one corpus. ``unanswered``: share of texts that it gives no label; ``training``: seconds."""

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


def classify(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Folders with train.jsonl(.gz) and test.jsonl(.gz): text, label.")
    ],
    algorithm: Annotated[
        list[str] | None, typer.Option("--algorithm", "-a", help="Which to score; several times; default: linear.")
    ] = None,
    peer: Annotated[list[str] | None, typer.Option("--peer", help="scikit-learn's, to compare with: a name, or all.")] = None,
    cross: Annotated[
        Path | None, typer.Option("--cross", help="A mapping file: train on the first DIR (A), answer the second's (B) test part.")
    ] = None,
    leave_out: Annotated[
        bool, typer.Option("--leave-out", help="Leave a third of the labels out of the training, and ask about them: who is refused?")
    ] = False,
    html: Annotated[Path | None, typer.Option("--html", help="Write a report with confusion tables and reliability plots.")] = None,
    as_json: AsJsonRows = False,
) -> None:
    """Macro-F1, accuracy, calibration error and documents a second, after training on each folder's train part.

    The best label counts, given or not; the column none says how many texts are given no label. For --cross, labels meet by the file
    {"common label": {"A": ["label", …], "B": ["label", …]}}. --leave-out: how many texts of labels that were not learnt are given none.
    """
    known_peers = PEERS
    check_names("peer", peer or (), (*known_peers, "all"), "--peer")
    names = [*(algorithm or (() if peer else ("linear",))), *(known_peers if "all" in (peer or ()) else dict.fromkeys(peer or ()))]
    check_names("classifier", algorithm or (), CLASSIFIERS, "--algorithm")
    if cross is not None and len(folders) != 2:
        raise typer.BadParameter("needs two folders: train on the first, answer the second", param_hint="--cross")
    if leave_out and (peer or cross or html):
        raise typer.BadParameter("goes with neither --peer, --cross nor --html", param_hint="--leave-out")
    try:
        if leave_out:
            _foreign(folders, names, as_json)
            return
        results = list(_scored(folders, cross, names, as_json))
        if html is not None:
            from newsportal.cli.evaluate.confusion import page

            reports = {f"{one.algorithm}, {one.set}": one.report for one in results}
            html.write_text(page("Classification", reports, [as_text(NOTE)]), encoding="utf-8")
    except (OSError, ValueError, ModelError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error


def _scored(folders: Sequence[Path], cross: Path | None, names: Sequence[str], as_json: bool) -> Iterator[Result]:
    for name_of_set, learnt, asked in _sets(folders, cross):
        if not as_json:
            typer.echo(f"{name_of_set}: {len(learnt)} to learn from, {len(asked)} to answer")
            typer.echo(f"{'':14}" + "".join(f"{heading:>11}" for heading in HEADINGS))
        for name in names:
            found = score(name_of_set, name, learnt, asked)
            typer.echo(json.dumps(found.as_json(), ensure_ascii=False) if as_json else _row(found))
            yield found


def _foreign(folders: Sequence[Path], names: Sequence[str], as_json: bool) -> None:
    for name_of_set, learnt, asked in _sets(folders, None):
        if not as_json:
            typer.echo(name_of_set)
            typer.echo(f"{'':14}" + "".join(f"{heading:>11}" for heading in FOREIGN_HEADINGS))
        for name in names:
            found = leave_out(name_of_set, name, learnt, asked)
            typer.echo(json.dumps(found.as_json(), ensure_ascii=False) if as_json else found.row())


def _sets(folders: Sequence[Path], cross: Path | None) -> list[tuple[str, list[Example], list[Example]]]:
    if cross is None:
        return [(folder.name, read(folder, "train"), read(folder, "test")) for folder in folders]
    sides, (first, second) = mapping(cross), folders
    learnt, asked = renamed(read(first, "train"), sides["A"]), renamed(read(second, "test"), sides["B"])
    if not learnt or not asked:
        raise ValueError(f"{cross}: no text of {folders[0]} or of {folders[1]} has a label that it names")
    return [(f"{first.name} → {second.name}", learnt, asked)]


def score(name_of_set: str, name: str, learnt: Sequence[Example], asked: Sequence[Example]) -> Result:
    true = [one.labels[0] for one in asked]
    start = process_time()
    if name in PEERS:
        predict = train_peer(name, [_whole(one) for one in learnt], [one.labels[0] for one in learnt])
        trained, start = process_time() - start, process_time()
        answers = [Answer(label, {}, (label,)) for label in predict([_whole(one) for one in asked])]
        unanswered = None
    else:
        with report_progress() as progress:
            model = train(name, learnt, progress=progress)
        trained, start = process_time() - start, process_time()
        given = model.classify_many((one.title, one.text) for one in asked)
        unanswered = sum(one.label is None for one in given) / max(1, len(given))
        answers = [replace(one, label=max(one.scores, key=one.scores.__getitem__)) if one.scores else one for one in given]
    took = max(process_time() - start, 1e-9)
    return Result(name_of_set, name, measure(true, answers), unanswered, len(asked) / took, trained)


def _whole(one: Example) -> str:
    return f"{one.title}\n{one.text}" if one.title else one.text


def _row(found: Result) -> str:
    shares = (found.report.macro_f1, found.report.accuracy, found.report.ece if found.report.bins else None, found.unanswered)
    cells = [f"{100 * share:.1f}" if share is not None else "–" for share in shares]
    return f"{found.algorithm:14}" + "".join(f"{cell:>11}" for cell in (*cells, f"{found.per_second:.0f}", f"{found.training:.1f}"))


PARTS: Final = 3  # a third of the labels is left out at a time: three trainings, and each label is foreign once
FOREIGN_HEADINGS: Final = ("AUROC", "foreign no", "right", "right no", "wrong no")


@dataclass(frozen=True, slots=True)
class Foreign:
    """Means over the parts, shares from 0 to 1. ``auroc``: how often a known text's best probability is above a foreign one's;
    ``foreign_refused``, ``right_refused``, ``wrong_refused``: share that is given no label of the foreign texts, and of the known ones
    whose best label is right or wrong; ``right``: share of the known texts whose best label is right."""

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


def leave_out(name_of_set: str, name: str, learnt: Sequence[Example], asked: Sequence[Example]) -> Foreign:
    """Train ``name`` without a third of the labels, the other thirds in turn, and let it answer. Raises ``ValueError``."""
    labels = [label for label, _ in sorted(Counter(one.labels[0] for one in learnt).items(), key=lambda item: (-item[1], item[0]))]
    if len(labels) <= PARTS:
        raise ValueError(f"{name_of_set}: to leave labels out there must be more than {PARTS}")
    return Foreign(name_of_set, name, *np.mean([_part(name, learnt, asked, set(labels[part::PARTS])) for part in range(PARTS)], axis=0))


def _part(name: str, learnt: Sequence[Example], asked: Sequence[Example], away: set[str]) -> tuple[float, ...]:
    with report_progress() as progress:
        model = train(name, [one for one in learnt if one.labels[0] not in away], progress=progress)
    answers = model.classify_many((one.title, one.text) for one in asked)
    best = [max(answer.scores.values(), default=0.0) for answer in answers]
    foreign = np.array([one.labels[0] in away for one in asked])
    right = np.array(
        [
            (max(answer.scores, key=answer.scores.__getitem__) if answer.scores else None) == one.labels[0]
            for one, answer in zip(asked, answers, strict=True)
        ]
    )
    refused = np.array([answer.label is None for answer in answers])
    groups = (foreign, ~foreign & right, ~foreign & ~right)
    none_of = [float(refused[group].mean()) if group.any() else 0.0 for group in groups]
    area = auroc(np.array(best)[~foreign], np.array(best)[foreign])
    return area, none_of[0], float(right[~foreign].mean()) if (~foreign).any() else 0.0, none_of[1], none_of[2]


FORM: Final = '{"text": …, "label": …}'


def read(folder: Path, part: str) -> list[Example]:
    """The examples of ``part`` (``train`` or ``test``). Raises ``OSError`` or ``ValueError`` that says which line is wrong."""
    found = [_example(line, place) for place, line in gold_lines(folder, part)]
    if not found:
        raise ValueError(f"{folder}: no labelled texts in its {part} part; a line is {FORM}")
    return found


def _example(line: str, place: str) -> Example:
    try:
        row: Any = json.loads(line)
        text, label, title = row["text"], row["label"], row.get("title") or ""
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{place}: a line must be {FORM}") from error
    if not all(isinstance(value, str) for value in (text, label, title)) or not label.strip():
        raise ValueError(f"{place}: text, label and title must be strings, and the label not empty")
    return Example(text, (label,), title)


def mapping(file: Path) -> dict[str, dict[str, str]]:
    """``{"common label": {"A": [labels], "B": [labels]}}`` as one mapping for each side. Raises ``OSError``, ``ValueError``."""
    try:
        sides: dict[str, dict[str, str]] = {"A": {}, "B": {}}
        for common, of in json.loads(file.read_text(encoding="utf-8")).items():
            for side, known in sides.items():
                known.update(dict.fromkeys(of[side], common))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f'{file}: must be {{"common label": {{"A": ["label", …], "B": ["label", …]}}}}') from error
    return sides


def renamed(examples: list[Example], names: Mapping[str, str]) -> list[Example]:
    """Those whose label has a name in common, under it."""
    return [Example(one.text, (names[one.labels[0]],), one.title) for one in examples if one.labels[0] in names]
