from __future__ import annotations

from difflib import SequenceMatcher

from hypothesis import given
from hypothesis import strategies as st
from work_counts import count_lines

from newsportal.dedup.feature_string import SuffixAutomaton


@given(st.text("abc", max_size=30), st.text("abc", max_size=30))
def test_longest_run_equals_difflib(first: str, other: str) -> None:
    expected = SequenceMatcher(None, first, other, autojunk=False).find_longest_match().size
    assert SuffixAutomaton(first).longest(other) == expected


def test_automaton_is_reusable() -> None:
    runs = SuffixAutomaton("青河市图书馆开放")
    assert [runs.longest(other) for other in ("图书馆开门", "河市", "", "读者", "青河市图书馆开放")] == [4, 2, 0, 0, 8]


def test_repeated_characters_take_linear_time() -> None:
    assert SuffixAutomaton("a" * 4_000).longest("a" * 3_999 + "b") == 3_999
    lines = [count_lines(lambda size: SuffixAutomaton("a" * size).longest("a" * (size - 1) + "b"), size) for size in (500, 1_000, 2_000)]
    assert lines[2] - lines[1] <= 2.1 * (lines[1] - lines[0]), "not linear"
