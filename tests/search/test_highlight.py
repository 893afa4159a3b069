"""Highlighting: only ``<mark>`` is a tag, markup is well formed, and without the marks the text is the original."""

from __future__ import annotations

import re
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsportal.search.highlight import CONTEXT_CHARS, excerpt, mark_words, one_line, snippet

TEXTS = st.one_of(st.text(), st.text(alphabet="臺灣台湾旅遊游<>&\"'ＡaB 。\n<mark>", max_size=60))
WORDS = st.lists(st.one_of(st.text(max_size=3), st.sampled_from(["台湾", "旅游", "a", "ab", "<", "mark", "&", "amp"])), max_size=5)


@given(TEXTS, WORDS)
def test_text_without_marks_is_escaped_original(text: str, words: list[str]) -> None:
    assert re.sub("</?mark>", "", mark_words(text, words)) == escape(text)


@given(TEXTS, WORDS)
def test_marks_are_well_formed(text: str, words: list[str]) -> None:
    tags = re.findall("<[^>]*>", mark_words(text, words))
    assert tags == ["<mark>", "</mark>"] * (len(tags) // 2)


@given(TEXTS, WORDS, st.integers(min_value=1, max_value=50))
def test_snippet_is_passage_of_text(text: str, words: list[str], width: int) -> None:
    start, end = excerpt(text, words, width)
    assert 0 <= start <= end <= len(text)
    assert end - start <= width
    before, after = "…" * (start > 0), "…" * (end < len(text))
    assert re.sub("</?mark>", "", snippet(text, words, width)) == before + escape(one_line(text[start:end])) + after


@pytest.mark.parametrize(
    ("text", "words", "html"),
    [
        ("臺灣旅遊業", ["台湾", "旅游"], "<mark>臺灣旅遊</mark>業"),
        ("ＡＢＣ 与 abc", ["abc"], "<mark>ＡＢＣ</mark> 与 <mark>abc</mark>"),
        ("party of art", ["art"], "party of <mark>art</mark>"),
        ("a<b>&amp;", ["amp", "b"], "a&lt;<mark>b</mark>&gt;&amp;<mark>amp</mark>;"),
        ("无", [], "无"),
    ],
)
def test_original_characters_are_marked(text: str, words: list[str], html: str) -> None:
    assert mark_words(text, words) == html


def test_snippet_has_most_query_words() -> None:
    text = "桥。" + "无关。" * 100 + "新桥今天通车。" + "无关。" * 100
    assert "<mark>桥</mark>今天<mark>通车</mark>" in snippet(text, ["桥", "通车"])
    assert snippet(text, ["没有"]).startswith("桥。")


def test_snippet_begins_at_sentence_or_word() -> None:
    assert snippet("前一句话在这里。" * 20 + "今天新桥通车", ["通车"]).startswith("…今天新桥")
    text = snippet(f"{'word ' * 40}target {'word ' * 40}", ["target"])
    assert text.startswith(("…word ", "… word "))
    assert len(text) > CONTEXT_CHARS
