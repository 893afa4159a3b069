"""Scores of a classifier, checked by hand."""

from __future__ import annotations

import pytest

from newsportal.classify.base import Answer
from newsportal.classify.measure import Report, measure

TRUE = ["体育", "体育", "体育", "社会/民生", "社会/民生"]
ANSWERS = [
    Answer("体育", {"体育": 0.95, "社会/民生": 0.05}),
    Answer("体育", {"体育": 0.91, "社会/民生": 0.09}),
    Answer("社会/民生", {"体育": 0.4, "社会/民生": 0.6}),
    Answer("社会/民生", {"体育": 0.35, "社会/民生": 0.65}),
    Answer(None, {"体育": 0.45, "社会/民生": 0.55}),
]


def test_scores_of_labels() -> None:
    report = measure(TRUE, ANSWERS)
    sport, social = report.labels
    assert (sport.label, sport.documents, sport.precision, sport.recall, sport.f1) == (
        "体育",
        3,
        1.0,
        pytest.approx(2 / 3),
        pytest.approx(0.8),
    )
    assert (social.documents, social.precision, social.recall, social.f1) == (2, 0.5, 0.5, 0.5)
    assert (report.macro_f1, report.accuracy, report.unanswered) == (pytest.approx(0.65), 0.6, 0.2)
    assert report.confusion == {("体育", "体育"): 2, ("体育", "社会/民生"): 1, ("社会/民生", "社会/民生"): 1, ("社会/民生", None): 1}


def test_calibration() -> None:
    report = measure(TRUE, ANSWERS)
    assert [(row.documents, row.right) for row in report.bins] == [(1, 1.0), (2, 0.5), (2, 1.0)]
    assert report.ece == pytest.approx((0.45 + 2 * 0.125 + 2 * 0.07) / 5)


def test_empty_and_unanswered_input() -> None:
    assert (measure([], []).macro_f1, measure([], []).ece) == (0.0, 0.0)
    silent = measure(["甲"], [Answer()])
    assert (silent.macro_f1, silent.unanswered, silent.bins) == (0.0, 1.0, ())


def test_report_round_trip_as_json() -> None:
    report = measure(TRUE, ANSWERS)
    restored = Report.from_json(report.as_json())
    assert restored.as_json() == report.as_json()
    assert restored.confusion == report.confusion
