import numpy as np
import pytest

from newsportal.classify.features import count_article, matrix, vocabulary
from newsportal.classify.held_out import FOLDS, folds, near_duplicates

TEXTS = [
    "球队昨晚在主场以三比一取胜，教练赞扬了年轻门将的表现",
    "央行宣布下调存款利率，多家银行的股价当天应声上涨",
    "球队昨晚在主场以三比一取胜，教练赞扬了年轻门将的表现。",
    "",
    "古镇的民宿在假期里全部订满，景区门票需要提前预约",
    "（记者报道）央行宣布下调存款利率，多家银行的股价当天应声上涨",
    "",
]


def vectors(texts):
    documents = [count_article("", text) for text in texts]
    return matrix(vocabulary(documents), documents)


def test_near_duplicates_point_to_the_first():
    assert near_duplicates(vectors(TEXTS)).tolist() == [0, 1, 0, 3, 4, 1, 6]


@pytest.mark.parametrize("texts", [["甲乙丙"], ["", ""], ["甲乙丙", "丁戊己"]])
def test_texts_without_duplicates_are_their_own_groups(texts):
    assert near_duplicates(vectors(["甲乙丙丁戊己", *texts]))[1:].tolist() == list(range(1, len(texts) + 1))


def test_each_label_is_split_into_folds():
    truth = np.eye(2, dtype=bool)[[0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]]
    assert folds(truth, np.arange(12)).tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]


def test_group_stays_in_one_fold():
    chance = np.random.default_rng(0)
    groups = chance.integers(0, 80, 200)
    groups = np.array([np.flatnonzero(groups == group)[0] for group in groups])
    truth = np.eye(3, dtype=bool)[chance.integers(0, 3, 200)]
    truth[chance.integers(0, 200, 20)] = False
    fold = folds(truth, groups)
    assert (fold == fold[groups]).all()
    assert np.bincount(fold, minlength=FOLDS).min() > 40
