"""Folding by character keeps all positions, so that matches in the folded text can be marked in the original."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsportal.text import fold_characters


@pytest.mark.parametrize(
    ("text", "folded"),
    [("臺灣總統", "台湾总统"), ("ＡＢＣ１２３", "abc123"), ("世界！\u3000你好", "世界! 你好"), ("㎏", "㎏"), ("İstanbul", "İstanbul")],
)
def test_characters_fold_to_plain_form(text: str, folded: str) -> None:
    assert fold_characters(text) == folded


@given(st.text())
def test_folding_keeps_length_and_is_idempotent(text: str) -> None:
    folded = fold_characters(text)
    assert len(folded) == len(text)
    assert fold_characters(folded) == folded
