"""Minimum scores of the default classifier on public corpora, slightly below those measured, when trained on the whole training half."""

from dataclasses import replace

import pytest

from newsportal.classify.base import Answer, train
from newsportal.classify.measure import measure
from newsportal_lab.evaluate.classify import leave_labels_out, read_examples


def best(answer: Answer) -> Answer:
    return replace(answer, label=max(answer.scores, key=answer.scores.__getitem__)) if answer.scores else answer


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "macro_f1", "ece"), [("thucnews_titles", 0.878, 0.035), ("toutiao_titles15", 0.767, 0.06), ("sogou10", 0.903, 0.055)]
)
def test_macro_f1_and_calibration(data, name, macro_f1, ece):
    folder = data / "text" / "classify" / name
    model = train("linear", read_examples(folder, "train"))
    examples = read_examples(folder, "test")
    answers = [model.classify(example.title, example.text) for example in examples]
    report = measure([item.labels[0] for item in examples], [best(item) for item in answers])
    assert report.macro_f1 > macro_f1
    assert report.ece < ece
    refused = [
        example
        for example, answer in zip(examples, answers, strict=True)
        if best(answer).label == example.labels[0] and answer.label is None
    ]
    assert len(refused) / len(examples) < 0.05
    assert len(model.to_bytes()) < 20_000_000


@pytest.mark.data
@pytest.mark.slow
def test_foreign_texts_are_mostly_refused(data):
    folder = data / "text" / "classify" / "thucnews_titles"
    found = leave_labels_out("titles", "linear", read_examples(folder, "train"), read_examples(folder, "test"))
    assert found.auroc > 0.83
    assert found.foreign_refused > 0.4
    assert found.right_refused < 0.05
