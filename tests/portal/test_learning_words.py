"""What trainings tell is told in the reader's language: each sentence that they can write is known here."""

from __future__ import annotations

import pytest

from newsportal.classify.held_out import warnings
from newsportal.learning.retraining import Done
from newsportal.portal.language import translations
from newsportal.portal.learning_words import TRAININGS, trained

WHYS = (
    "the first one",
    "as asked",
    "version 3 cannot be read: no model at all",
    "no documents to compare it on with version 3",
    "macro-F1 91.5, version 3 90.0, on 12 documents that neither has seen",
    "it needs 40 articles",
    "no articles of sources with a category yet",
    "two labels need 40 articles each; 1 of 7 have them",
    "200 new ones make it worth while",
    "labels with fewer than 3 documents are hardly learnt: 财经 (1)",
    *warnings(["体育"] * 4 + ["财经"], ["体育"]),
)


@pytest.mark.parametrize("why", WHYS)
def test_it_is_told_in_chinese(why: str) -> None:
    said = trained(Done("甲", 1, 1, why=why).why, translations("zh"))
    assert said != why
    assert any("\u4e00" <= letter <= "\u9fff" for letter in said)
    assert all(number in said for number in ("3", "12") if number in why.split())


def test_every_sentence_is_tried_here() -> None:
    assert len(WHYS) == len(TRAININGS)


def test_what_has_no_translation_stays() -> None:
    assert trained("something else", translations("zh")) == "something else"
