"""The classifier of paper B: forward maximum matching, CHI, one vector per class, cosine."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from newsportal.classify.base import CLASSIFIERS, NO_ANSWER, Example, restore, train
from newsportal.classify.chi_cosine import chi
from newsportal.classify.measure import measure
from newsportal.errors import ModelError

DATA = Path(__file__).parents[3] / "shared" / "data" / "text" / "classify"

SPORT = ["球队赢得比赛，球员进球", "教练安排训练，球员参加比赛", "联赛开幕，球队出场"]
MONEY = ["股票上涨，投资者买入基金", "银行利率下调，基金上涨", "股票市场收盘，投资者观望"]


def small_corpus() -> list[Example]:
    return [Example(text, ("体育",)) for text in SPORT] + [Example(text, ("财经/股市",)) for text in MONEY]


def test_chi_of_a_worked_example() -> None:
    """One word occurs in 3 of 4 documents of the first class and in 1 of 4 of the second: 8 (3·3 − 1·1)² / (4·4·4·4) = 2."""
    assert chi(np.array([[3.0], [1.0]]), np.array([4.0, 4.0])) == pytest.approx(np.array([[2.0], [0.0]]))


def test_nearest_class_is_chosen_and_explained() -> None:
    model = train("chi_cosine", small_corpus())
    answer = model.classify("球员受伤", "球队输掉比赛")
    assert (answer.label, answer.labels) == ("体育", ("体育",))
    assert sum(answer.scores.values()) == pytest.approx(1.0)
    assert model.classify("", "基金与股票").label == "财经/股市"
    words = [reason.word for reason in model.explain("球员受伤", "球队输掉比赛")]
    assert {"球员", "球队", "比赛"} >= set(words)
    assert words
    assert all(reason.weight < 0 for reason in model.explain("", "球队比赛", label="财经/股市"))


def test_model_round_trip() -> None:
    model = train("chi_cosine", small_corpus())
    restored = restore(model.to_bytes())
    assert restored.to_bytes() == model.to_bytes()
    assert restored.labels == ("体育", "财经/股市")
    assert restored.facts == model.facts
    assert restored.classify("", SPORT[0]) == model.classify("", SPORT[0])


@pytest.mark.parametrize("text", ["", " \n", "，。！", "天", "zzz qqq", "\0\ud800", "，" * 100_000], ids=repr)
def test_uninformative_text_gets_no_label(text: str) -> None:
    model = train("chi_cosine", small_corpus())
    assert model.classify("", text) == NO_ANSWER
    assert model.explain("", text) == ()
    assert model.explain("", SPORT[0], label="no such label") == ()


def test_untrainable_examples_are_refused() -> None:
    with pytest.raises(ModelError, match="one label"):
        train("chi_cosine", small_corpus(), multi_label=True)
    with pytest.raises(ModelError, match="no word"):
        train("chi_cosine", [Example("的", ("a",)), Example("", ("b",))])


def test_class_with_one_document() -> None:
    model = train("chi_cosine", [*small_corpus(), Example("台风登陆，暴雨来袭", ("天气",))])
    assert model.classify("", "台风带来暴雨").label == "天气"


def test_damaged_file_is_refused() -> None:
    data = train("chi_cosine", small_corpus()).to_bytes()
    with pytest.raises(ModelError):
        restore(data[: len(data) // 2])


@pytest.mark.data
@pytest.mark.parametrize(("corpus", "floor"), [("thucnews_titles", 0.745), ("sogou10", 0.83)])
def test_macro_f1_reaches_its_floor(corpus: str, floor: float) -> None:
    """75.4 and 84.5 macro-F1 (docs/algorithms/chi_cosine.md)."""
    if not DATA.is_dir():
        pytest.skip("the corpora of ../shared/data are not here")
    halves = {}
    for half in ("train", "test"):
        with gzip.open(DATA / corpus / f"{half}.jsonl.gz", "rt", encoding="utf-8") as lines:
            halves[half] = [(row["text"], row["label"]) for row in map(json.loads, lines)]
    model = train("chi_cosine", [Example(text, (label,)) for text, label in halves["train"]])
    answers = [model.classify("", text) for text, _ in halves["test"]]
    assert measure([label for _, label in halves["test"]], answers).macro_f1 > floor
    assert "chi_cosine" in CLASSIFIERS
