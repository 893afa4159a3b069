"""Sentences shared by several stories of one site are removed, independently of other sites."""

from __future__ import annotations

import pytest

from newsportal.events import summaries
from newsportal.events.summaries import RepeatedSentences

NOTE = "更多本地新闻，欢迎关注海棠都市网。"
TEXTS = ("渡船今起停航。" + NOTE, "电影节明晚开幕。\n" + NOTE, NOTE + "股市收跌。")


def added(*texts: str, site: str = "海棠") -> RepeatedSentences:
    sentences = RepeatedSentences()
    for number, text in enumerate(texts):
        sentences.add(str(number), site, text)
    return sentences


def test_sentence_of_three_stories_is_boilerplate() -> None:
    sentences = added(*TEXTS)
    assert [sentences.remove_from("海棠", text) for text in TEXTS] == ["渡船今起停航。", "电影节明晚开幕。\n", "股市收跌。"]
    assert sentences.remove_from("岚溪", TEXTS[0]) == TEXTS[0]


def test_paragraph_shared_with_follow_up_is_kept() -> None:
    sentences = added(*TEXTS[:2])
    assert sentences.remove_from("海棠", TEXTS[0]) == TEXTS[0]


def test_story_counts_once() -> None:
    sentences = added(*TEXTS[:2])
    sentences.add("0", "海棠", TEXTS[0])
    sentences.add("1", "海棠", f"{NOTE}{NOTE}")
    assert sentences.remove_from("海棠", NOTE) == NOTE


def test_short_sentences_and_spacing_are_kept() -> None:
    text = "“好。”他说！\n\n下雨了。"
    assert added(text, text, text).remove_from("海棠", text) == text
    assert added().remove_from("海棠", "") == ""


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summaries, "MAX_SENTENCES", 2)
    sentences = added(*TEXTS, "甲乙丙丁戊己庚。", "子丑寅卯辰巳午。")
    assert sentences.remove_from("海棠", NOTE) == NOTE
