"""Common guarantees of every finder, and minimum scores on real and made-up reposts."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from newsportal.dedup import FINDERS, finder
from newsportal.dedup.document import NEW, Document, Finder
from newsportal.dedup.feature_string import FeatureStrings
from newsportal_lab.evaluate.dedup import Pair, pairs_of_groups, score_by_document, score_pairs

TEXT = "青河市图书馆新馆昨天开放，读者可以免费借书。新馆共有三层，藏书四十万册，开到晚上九点。"


@pytest.mark.parametrize("name", FINDERS)
def test_repeated_document_is_found_and_empty_one_is_new(name: str) -> None:
    found = finder(name)
    first = Document("1", "http://example.com/1", "青河市图书馆新馆开放", TEXT, datetime(2024, 3, 1, 8, tzinfo=UTC))
    again = Document("2", first.url, first.title, first.text, datetime(2024, 3, 1, 9, tzinfo=UTC))
    assert found.judge(Document("0", "", "", "")) == found.judge(first) == NEW
    verdict = found.judge(again)
    assert verdict.duplicate_of == "1"
    assert verdict.reason
    assert 0 < verdict.score <= 1
    assert found.judge(Document("3", "", "", "")) == NEW


@pytest.mark.parametrize("name", FINDERS)
def test_documents_without_a_time_are_compared(name: str) -> None:
    found = finder(name)
    documents = [Document(str(number), "http://example.com/1", "青河市图书馆新馆开放", TEXT) for number in range(2)]
    assert [found.judge(document).duplicate_of for document in documents] == [None, "0"]


def test_unknown_finder_error_lists_names() -> None:
    with pytest.raises(ValueError, match="there are: trie, title_index"):
        finder("nonsense")


@cache
def _rows(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _documents(folder: Path, time: str) -> list[Document]:
    rows = sorted(_rows(folder / "docs.jsonl.gz"), key=lambda row: str(row[time]))
    return [Document(row["id"], "", row["title"], row["body"], _time(row[time])) for row in rows]


def _time(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:  # some real pages write 8:43 for 08:43
        return None


def _answers(found: Finder, documents: list[Document]) -> list[tuple[str, str | None]]:
    return [(document.id, found.judge(document).duplicate_of) for document in documents]


MADE_FLOORS = {"title_index": (63, 57), "feature_string": (78, 48), "cosine": (44, 93)}
"""Minimum precision and recall per document, in per cent; one point below those measured."""


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("name", MADE_FLOORS)
def test_made_reposts_reach_their_floors(name: str, data: Path) -> None:
    folder = data / "text" / "reposts-synthetic"
    clusters = {row["id"]: row["cluster"] for row in _rows(folder / "docs.jsonl.gz")}
    score = score_by_document(_answers(finder(name), _documents(folder, "time")), clusters)
    assert score.precision * 100 >= MADE_FLOORS[name][0]
    assert score.recall * 100 >= MADE_FLOORS[name][1]


REAL_FLOORS: dict[str, tuple[Callable[[], Finder], float, float]] = {
    "title_index": (lambda: finder("title_index"), 54, 9),
    "feature_string": (lambda: finder("feature_string"), 78, 27),
    "feature_string at 0.1": (lambda: FeatureStrings(ratio=0.1), 35, 33),
    "cosine": (lambda: finder("cosine"), 0, 86),
}
"""Minimum precision and recall of pairs, in per cent."""


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("name", REAL_FLOORS)
def test_real_reposts_reach_their_floors(name: str, data: Path) -> None:
    folder = data / "text" / "reposts-real"
    gold: dict[str, set[Pair]] = {"dup": set(), "subset": set(), "partial": set()}
    for row in _rows(folder / "pairs.jsonl.gz"):
        gold[row["label"]].add(frozenset((row["a"], row["b"])))
    make, precision, recall = REAL_FLOORS[name]
    found = pairs_of_groups(_answers(make(), _documents(folder, "date")))
    score = score_pairs(found, gold["dup"] | gold["subset"], gold["partial"])
    assert score.precision * 100 >= precision
    assert score.recall * 100 >= recall
