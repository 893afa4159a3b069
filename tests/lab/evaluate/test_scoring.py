"""Scores as the papers define them, checked against a second, naive implementation."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import LCSseq

from newsportal.cli import extract
from newsportal.extractors import extractor
from newsportal_lab.evaluate.running import scores_of
from newsportal_lab.evaluate.scoring import MAX_CHARS, Answer, add_up, day, lcs_length, same_author, score_page

SPACE = re.compile(r"[\s\u200b\u200c\u200d\u2060\ufeff\u00ad]+")


def without_spaces(text: object) -> str:
    return SPACE.sub("", str(text or ""))


def normalized(text: object) -> str:
    return without_spaces(unicodedata.normalize("NFKC", str(text or ""))).lower()


def naive_scores(folder: Path, algorithm: str) -> dict[str, Any]:
    """Return the same figures computed by their definitions from the output of ``newsportal extract``, with the LCS of another library."""
    found = {row["id"]: row for row in extract.answers(str(folder), None, algorithm, extractor(algorithm))}
    common = extracted = expected = 0
    f1, title, date, author = [], [], [], []
    for file in sorted(folder.glob("*.json")):
        gold, answer = json.loads(file.read_text("utf-8")), found[file.stem]
        if "text" not in gold:
            continue
        e, g = without_spaces(answer["text"]), without_spaces(gold["text"])
        lcs = LCSseq.similarity(e, g)
        common, extracted, expected = common + lcs, extracted + len(e), expected + len(g)
        f1.append(2 * lcs / (len(e) + len(g)))
        title.append(normalized(gold["title"]) == normalized(answer["title"]))
        date.append((answer["published"] or "")[:10] == gold["date"])
        author.append(
            any(normalized(name) in normalized(answer["author"]) for name in gold["author"].split(";")) if answer["author"] else False
        )
    p, r = common / extracted, common / expected
    means = {name: sum(values) / len(values) for name, values in (("page_f1", f1), ("title", title), ("date", date), ("author", author))}
    return {"precision": p, "recall": r, "f1": 2 * p * r / (p + r), **means, "good": sum(score >= 0.9 for score in f1) / len(f1)}


@pytest.mark.parametrize("algorithm", ["best", "cevc"])
def test_scores_match_naive_implementation(folders: list[Path], algorithm: str) -> None:
    for folder in folders:
        scores = scores_of(folder, algorithm)
        expected = naive_scores(folder, algorithm)
        assert {name: getattr(scores, name) for name in expected} == pytest.approx(expected, abs=0.00005)
    assert scores.pages == 2


@given(st.text(alphabet="一二三a", max_size=40), st.text(alphabet="一二三a", max_size=40))
def test_lcs_length_matches_rapidfuzz(first: str, second: str) -> None:
    assert lcs_length(first, second) == LCSseq.similarity(first, second)


def test_long_texts_are_truncated() -> None:
    score = score_page(Answer(text="新" * (MAX_CHARS + 5)), Answer(text="新" * (MAX_CHARS + 9)))
    assert (score.common, score.gold, score.extracted) == (MAX_CHARS, MAX_CHARS, MAX_CHARS)


def test_whitespace_and_character_width_are_ignored() -> None:
    score = score_page(Answer("今天\n 晴", "ＡＢ 标题"), Answer("今 天晴\u200b", "ab标题"))
    assert (score.f1, score.title) == (1.0, True)


@pytest.mark.parametrize(
    ("gold", "found", "right"),
    [
        ("王小明", "王小明", True),
        ("王小明; 李四", "记者 李四", True),
        ("王小明；李四", "赵六", False),
        ("Ann Lee", "by ann lee", True),
        ("王小明", None, False),
        ("王小明", "王小明" + "很长的一段话" * 10, False),
    ],
)
def test_one_matching_author_is_enough(gold: str, found: str | None, right: bool) -> None:
    assert same_author(gold, found) is right


@pytest.mark.parametrize(
    ("written", "read"),
    [("2024-03-05T08:30:00+08:00", "2024-03-05"), ("2024年3月5日", "2024-03-05"), ("3月5日", None), ("", None), (None, None)],
)
def test_day(written: str | None, read: str | None) -> None:
    assert day(written) == read


def test_fields_missing_in_gold_are_not_scored() -> None:
    scores = add_up([score_page(Answer(title="标题"), Answer(text="很多", title="标题")), score_page(Answer(text="文"), Answer())])
    assert (scores.pages, scores.title, scores.date, scores.author, scores.unanswered) == (2, 1.0, None, None, 1)
    assert (scores.precision, scores.recall, scores.f1, scores.page_f1) == (0.0, 0.0, 0.0, 0.0)


def test_invalid_gold_date_is_ignored() -> None:
    assert score_page(Answer(date="春天"), Answer()).date is None


def test_valid_article_criteria_of_thesis() -> None:
    gold = Answer(text="新" * 200, title="六个字的标题")
    complete = Answer(text="新" * 200, title="六个字的标题", date="2024-03-05")
    partial = Answer(text="新" * 150, title="六个字的标题", date="2024-03-05")
    noisy = Answer(text="新" * 200 + "旧" * 30, title="六个字的标题", date="2024-03-05")
    refused = [
        Answer(text="新" * 200, title="五个字标题", date="2024-03-05"),
        Answer(text="新" * 100, title="六个字的标题", date="2024-03-05"),
        Answer(text="新" * 200, title="六个字的标题"),
    ]
    pages = [score_page(gold, found) for found in (complete, partial, noisy)]
    assert [(page.valid, page.has_body, page.only_body) for page in pages] == [
        (True, True, True),
        (True, False, False),
        (True, True, False),
    ]
    assert not any(score_page(gold, found).valid for found in refused)
    scores = add_up([*pages, *(score_page(gold, found) for found in refused)])
    assert (scores.valid, scores.has_body, scores.only_body) == (0.5, 0.6667, 0.3333)
    assert add_up([score_page(gold, refused[0])]).has_body is None


def test_thesis_score_follows_from_precision_and_recall() -> None:
    scores = add_up([score_page(Answer(text="新" * 80 + "旧" * 20), Answer(text="新" * 80 + "老" * 60))])
    assert scores.precision is not None
    assert scores.recall is not None
    assert scores.score == pytest.approx(1 / (1 / scores.precision + 1 / scores.recall - 1), abs=0.0001), "(2-16)"
    assert scores.score == 0.5
