"""Folding character by character keeps every place, so that what was found folded can be marked in the original."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsportal.text import fold_characters


@pytest.mark.parametrize(
    ("text", "folded"),
    [("臺灣總統", "台湾总统"), ("ＡＢＣ１２３", "abc123"), ("世界！\u3000你好", "世界! 你好"), ("㎏", "㎏"), ("İstanbul", "İstanbul")],
)
def test_folds_to_the_plain_form(text: str, folded: str) -> None:
    assert fold_characters(text) == folded


@given(st.text())
def test_keeps_every_place_and_is_stable(text: str) -> None:
    folded = fold_characters(text)
    assert len(folded) == len(text)
    assert fold_characters(folded) == folded
