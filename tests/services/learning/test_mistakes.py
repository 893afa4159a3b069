"""Mistakes of a model with the decisive words, the words that speak for a label, and all errors of a file at once."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from factories import empty_store

from newsportal.messages import Message
from newsportal.services.learning.evaluation import load_classifier, mistakes, words_for
from newsportal.services.learning.files import find_mistakes as file_mistakes
from newsportal.services.learning.training import train_corpus
from newsportal.store.labels import NewDocument
from newsportal.store.store import Store

NOW = datetime(2026, 3, 1, tzinfo=UTC)

WORDS = {
    "体育": "主场 客场 前锋 后卫 教练 球迷 进球 射门 比分 夺冠 联赛 决赛",
    "财经": "股市 降息 央行 投资 基金 利率 债券 汇率 贷款 通胀 财报 券商",
}


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    opened_store = empty_store()
    documents = []
    for label, words in WORDS.items():
        for number in range(60):
            chance = random.Random(f"{label} {number}")
            text = "。".join("，".join(chance.sample(words.split(), 5)) for _ in range(6))
            documents.append(
                NewDocument(label if number else ("财经" if label == "体育" else "体育"), text, f"{label} {number}", f"{number}")
            )
    opened_store.corpora.add("categories", documents, source="imported", now=NOW)
    train_corpus(opened_store, "categories", "chi_cosine", share=0.5, now=lambda: NOW)
    yield opened_store
    opened_store.close()


def test_mistakes_have_deciding_words(store: Store) -> None:
    found = mistakes(store, "categories", 1)
    held_out = store.corpora.model("categories", 1).held_out
    assert found.evaluated == len(held_out)
    assert found.wrong == len(found.documents)
    for mistake in found.documents:
        assert mistake.document.id in held_out
        assert mistake.predicted != mistake.document.label.label
        assert mistake.words
    assert len(mistakes(store, "categories", 1, limit=0).documents) == 0
    narrow = mistakes(store, "categories", 1, label="体育", predicted="财经")
    assert all((mistake.document.label.label, mistake.predicted) == ("体育", "财经") for mistake in narrow.documents)


def test_words_for_a_label(store: Store) -> None:
    found = words_for(store, "categories", load_classifier(store, "categories", 1), "体育", 8)
    assert len(found) == 8
    assert {item.word for item in found} <= {word for words in WORDS.values() for word in words.split()} | {"体育"}
    assert found[0].weight >= found[-1].weight > 0


def test_all_errors_of_a_file_are_reported() -> None:
    lines = ['{"text": "a", "label": "x"}', "{broken", '{"text": "a"}', "", '{"text": "b", "label": "y"}', "[1]"]
    found = file_mistakes(io.BytesIO("\n".join(lines).encode()), "jsonl", "a.jsonl")
    assert [str(line).split(":")[1] for line in found] == ["2", "3", "6"]
    assert file_mistakes(io.BytesIO(b'{"text": "a", "label": "x"}\n'), "jsonl", "a.jsonl") == []
    assert len(file_mistakes(io.BytesIO(b"{\n" * 100), "jsonl", "a.jsonl", limit=5)) == 5
    assert file_mistakes(io.BytesIO("text,label\n好,x\n".encode("gb18030")), "csv", "a.csv")[0].args[0].startswith("a.csv:2: not utf-8")
    assert file_mistakes(io.BytesIO(b"text,label\na\n"), "csv", "a.csv")[0].message == Message(
        "corpus.line", line=2, why=Message("corpus.wrong-cell-count", cells=1, headings=2)
    )
