"""Missing and surplus text of an extraction, in readable pieces."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from newsportal_lab.evaluate.running import Piece, differences

A, B, C = "第一句话说完了。", "第二句话也说完了。", "还有完全无关的内容！"


def test_different_sentences_are_shown_in_full() -> None:
    assert differences(A + B, A + C) == (Piece("same", A), Piece("missing", B), Piece("surplus", C))


def test_similar_sentences_are_compared_by_character() -> None:
    assert differences(A + B, A + "（记者王强）" + B) == (Piece("same", A), Piece("surplus", "（记者王强）"), Piece("same", B))


def test_whitespace_is_ignored() -> None:
    assert [part.kind for part in differences(f"{A}\n{B}", f"{A} \n\n {B}\n")] == ["same"]


def test_empty_extraction() -> None:
    assert differences(A, "") == (Piece("missing", A),)
    assert differences("", "") == ()


@given(st.text(alphabet="一二。\n ", max_size=60), st.text(alphabet="一二。\n ", max_size=60))
def test_pieces_reconstruct_both_texts(gold: str, found: str) -> None:
    pieces = differences(gold, found)
    for kind, text in (("missing", gold), ("surplus", found)):
        assert "".join("".join(p.text for p in pieces if p.kind in ("same", kind)).split()) == "".join(text.split())
