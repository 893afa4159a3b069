"""``newsportal classify``: classify texts, as JSON lines, one per document."""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Final

import typer

from newsportal.classify import base
from newsportal.classify.base import Classifier
from newsportal.cli.options import OutFile, SourcesFile, load, open_record
from newsportal.errors import NewsportalError
from newsportal.store.dialects import chunks
from newsportal_lab.documents import answer_file, documents

AT_ONCE: Final = 64
"""Documents of a file that are classified together; those of standard input one by one, since the caller may wait for each answer."""

REASONS: Final = 10  # words listed by --explain


def classify(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="A document a line; -: standard input.")],
    model: Annotated[Path | None, typer.Option("--model", "-m", help="A model that `train` wrote.")] = None,
    corpus: Annotated[str | None, typer.Option(help="This corpus' model in use.")] = None,
    version: Annotated[int | None, typer.Option(help="Another version.")] = None,
    by_lexicon: Annotated[bool, typer.Option("--lexicon", help="Use the lexicon, with the words of sources.yaml.")] = False,
    always: Annotated[bool, typer.Option("--always", help="Give the best label even where none fits.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Also name the decisive words.")] = False,
    out: OutFile = None,
    sources: SourcesFile = None,
) -> None:
    """Classify texts: {"id", "text"} a line, and "title"; out comes {"id", "label", "scores"}.

    The label is null where none fits. An invalid line gives "error".
    """
    if [model is None, corpus is None, not by_lexicon].count(False) != 1:
        raise typer.BadParameter("give one of --model FILE, --corpus NAME and --lexicon", param_hint="--model")
    classifier: Classifier
    if by_lexicon:
        from newsportal.pipelines.classify import words_of

        classifier = words_of(load(sources))
    elif model is not None:
        try:
            classifier = base.restore(model.read_bytes())
        except OSError as error:
            raise NewsportalError(f"{model}: {error.strerror or error}") from error
        except NewsportalError as error:
            raise type(error)(f"{model}: {error}") from error
    else:
        with open_record(sources) as (_, store):
            classifier = base.restore(store.corpora.blob(corpus or "", store.corpora.model(corpus or "", version).version))
    read = partial(answers, classifier=classifier, at_once=1 if file == "-" else AT_ONCE, always=always, explain=explain)
    answer_file(file, read, out, "classifying")


def answers(
    lines: BinaryIO | Iterable[bytes], classifier: Classifier, *, at_once: int = AT_ONCE, always: bool = False, explain: bool = False
) -> Iterator[dict[str, Any]]:
    for read in chunks(documents(lines), at_once):
        for row in read:
            if row.error is not None:
                yield {"id": row.id, "label": None, "scores": {}, "error": row.error}
                continue
            answer = classifier.classify(row.title, row.text)
            label = answer.label
            if label is None and always and answer.scores:
                label = max(answer.scores, key=answer.scores.__getitem__)
            plain: dict[str, Any] = {"id": row.id, "label": label, "scores": {name: round(val, 6) for name, val in answer.scores.items()}}
            if len(answer.labels) > 1 or classifier.facts.multi_label:
                plain["labels"] = list(answer.labels)
            if explain:
                reasons = classifier.explain(row.title, row.text, label, REASONS)
                plain["reasons"] = [{"word": reason.word, "weight": round(reason.weight, 4)} for reason in reasons]
            yield plain
