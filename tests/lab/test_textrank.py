"""TextRank and TF-IDF, beside which the keywords are measured."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from newsportal.classify.keywords import Keyword
from newsportal_lab.textrank import _ranks, textrank, tfidf


def test_ranks_by_hand() -> None:
    """A star of three, d = 0.85: the middle has 0.15 + 0.85 · 2 · WS(end), an end 0.15 + 0.85 · WS(middle) / 2."""
    ranks = _ranks({"m": {"a", "b"}, "a": {"m"}, "b": {"m"}})
    middle = (0.15 + 0.85 * 2 * 0.15) / (1 - 0.85**2)
    assert ranks["m"] == pytest.approx(middle, abs=0.001)
    assert ranks["a"] == ranks["b"] == pytest.approx(0.15 + 0.85 * middle / 2, abs=0.001)


@pytest.mark.parametrize("method", [textrank, tfidf])
def test_both_find_what_is_spoken_of(method: Callable[[str, str, int], tuple[Keyword, ...]]) -> None:
    text = "大桥工程今天开工。大桥工程由市政公司承建，大桥全长三公里，工程投资十亿元。"
    assert "大桥" in {keyword.word for keyword in method("大桥工程开工", text, 3)}
    assert method("", "，。", 3) == ()
    assert method("", "", 3) == ()
