"""Held-out documents: whole groups, from every label, stable while the corpus grows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from newsportal.classify.held_out import corpus_warnings, held_out

IDS = [f"{n:04}" for n in range(1000)]
LABELS = ["多"] * 800 + ["少"] * 190 + ["孤"] * 4 + ["稀"] * 6


def test_same_share_of_every_label_is_held_out() -> None:
    held = held_out(IDS, LABELS, {})
    labels = [LABELS[IDS.index(id)] for id in held]
    assert {label: labels.count(label) for label in "多少孤稀"} == {"多": 80, "少": 19, "孤": 0, "稀": 1}
    assert held == held_out(IDS, LABELS, {}) != held_out(IDS, LABELS, {}, seed=1)
    assert held_out(IDS, LABELS, {}, share=0) == frozenset()


def test_groups_are_not_split() -> None:
    groups = {id: str(n // 4) for n, id in enumerate(IDS)}
    held = held_out(IDS, LABELS, groups)
    assert 80 < len(held) < 120
    for n in range(0, 1000, 4):
        assert len(held & set(IDS[n : n + 4])) in (0, 4)


def test_grown_corpus_keeps_most_held_out_documents() -> None:
    before, after = held_out(IDS[::2], LABELS[::2], {}), held_out(IDS, LABELS, {})
    assert len(before & after) >= 0.85 * len(before)


@given(st.lists(st.sampled_from("甲乙丙"), max_size=40), st.floats(0, 1), st.lists(st.integers(0, 5), min_size=40, max_size=40))
def test_not_all_documents_are_held_out(labels: list[str], share: float, groups: list[int]) -> None:
    ids = IDS[: len(labels)]
    held = held_out(ids, labels, {id: str(group) for id, group in zip(ids, groups, strict=False)}, share)
    assert held <= set(ids)
    assert not ids or held != set(ids)


def test_warnings_about_rare_labels() -> None:
    few, unmeasured = map(str, corpus_warnings(LABELS, ["多", "少", "稀"]))
    assert "孤 (4)" in few
    assert "稀 (6)" in few
    assert "少" not in few
    assert unmeasured.endswith(": 孤")
    assert corpus_warnings(["甲"] * 30 + ["乙"] * 30, ["甲", "乙"]) == ()
