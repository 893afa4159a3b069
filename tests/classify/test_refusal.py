import numpy as np
import pytest

from newsportal.classify.base import train
from newsportal.classify.calibration import SACRIFICED_SHARES, Rejection, auroc, choose_rejection
from newsportal.classify.features import count_article, matrix, vocabulary
from newsportal.classify.fitting import MIXES
from newsportal.classify.held_out import folds
from tests.classify.test_linear import WORDS, made_up


def measured(examples):
    documents = [count_article(example.title, example.text) for example in examples]
    truth = np.array([[label in example.labels for label in sorted(WORDS)] for example in examples])
    return choose_rejection(matrix(vocabulary(documents), documents), truth, folds(truth, np.arange(len(examples))), MIXES[0], 0)


def test_foreign_texts_are_refused_at_little_cost():
    found = measured(made_up(600))
    assert found.refused is not None
    assert found.refused > 0.9
    assert found.auroc is not None
    assert found.auroc > 0.95
    assert found.given_up == SACRIFICED_SHARES[0]


def test_too_few_texts_give_no_estimate():
    assert measured(made_up(30)) == Rejection()
    assert Rejection().figures() == {}


def test_model_reports_refusal_figures():
    figures = train("linear", made_up(600)).facts.figures
    assert figures["foreign_refused"] > 0.9
    assert figures["right_given_up"] == SACRIFICED_SHARES[0]


def test_two_labels_give_no_estimate():
    examples = [example for example in made_up(300) if example.labels != ("旅游",)]
    assert "foreign_refused" not in train("linear", examples).facts.figures


@pytest.mark.parametrize(
    ("higher", "lower", "area"), [([2, 3], [0, 1], 1.0), ([0, 1], [2, 3], 0.0), ([1, 1], [1], 0.5), ([0, 2], [1], 0.5)]
)
def test_auroc(higher, lower, area):
    assert auroc(np.array(higher, float), np.array(lower, float)) == area
