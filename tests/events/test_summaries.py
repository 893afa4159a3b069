"""Sentences used by summaries: complete sentences of the news, without boilerplate."""

from __future__ import annotations

import pytest

from newsportal.events.summaries import MAX_CHARS, Text, lead, sentences, shorten, summarise


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("快讯：索道今起停运检修，为期五天。", ["索道今起停运检修，为期五天。"]),
        ("新华社远山3月7日电（记者李林）渡轮今天下水，载客三百人。它将往返两岸。", ["渡轮今天下水，载客三百人。", "它将往返两岸。"]),
        ("本报讯（记者 王河）渡轮今天顺利下水。", ["渡轮今天顺利下水。"]),
        ("船长说：“风太大了。我们明天再走。”随后他离开码头。", ["船长说：“风太大了。我们明天再走。”", "随后他离开码头。"]),
        ("图为渡轮下水现场。\n渡轮今天顺利下水。\n（编辑 王河）\n更多本地新闻，欢迎关注我们的公众号。", ["渡轮今天顺利下水。"]),
        ("风险提示：投资有风险，入市需谨慎。\n股价今天收高百分之三。", ["股价今天收高百分之三。"]),
        ("部件\t官方售价\t更换耗时\n电池\t99元\t2小时\n厂商公布了各部件的售价。", ["厂商公布了各部件的售价。"]),
        ("小标题\n渡轮今天顺利下水。", ["渡轮今天顺利下水。"]),
        ("Subscribe to our newsletter. The ferry was launched today. It carries 3.5 tons.",
         ["The ferry was launched today.", "It carries 3.5 tons."]),
        ("BEIJING (Reuters) - The ferry was launched today.", ["The ferry was launched today."]),
        ("", []),
    ],
)  # fmt: skip
def test_sentences_are_complete_and_without_boilerplate(text: str, found: list[str]) -> None:
    assert list(sentences(text)) == found


def test_beginning_has_complete_sentences_without_title() -> None:
    text = "远山渡轮下水\n更多内容请关注远山日报。\n远山渡轮今天下水，船厂举行仪式。渡轮载客三百人。首航定在五月一日，票价十元。"
    assert lead("远山渡轮下水", text, 30) == "远山渡轮今天下水，船厂举行仪式。渡轮载客三百人。"
    assert lead("远山渡轮下水", text, 20) == "远山渡轮今天下水，船厂举行仪式。"


def test_long_first_sentence_is_cut_at_a_clause() -> None:
    assert lead("", "渡轮今天在远山船厂下水，船厂举行仪式，数百人到场观看了这一幕。", 18) == "渡轮今天在远山船厂下水…"
    assert lead("", "快讯\n渡轮下水", 20) == "快讯 渡轮下水"
    assert lead("", "部件\t售价\n电池\t99元", 20) == ""


def test_latin_word_is_not_split() -> None:
    assert shorten("The committee published its report", 16) == "The committee…"
    assert shorten("委员会公布了报告", 5) == "委员会公…"


FIRST = Text("1", "渡轮下水", "远山船厂的新渡轮今天下水，渡轮载客三百人。天气很好，岸边有人放风筝。")
SECOND = Text("2", "新渡轮", "新渡轮今天在远山船厂下水，载客三百人。首航定在五月一日，渡轮票价十元。")


def test_summary_of_several_texts_has_no_repetitions() -> None:
    found = summarise([FIRST, SECOND], 2)
    assert [(sentence.id, sentence.text, sentence.place) for sentence in found] == [
        ("2", "新渡轮今天在远山船厂下水，载客三百人。", 0), ("2", "首航定在五月一日，渡轮票价十元。", 1)
    ]  # fmt: skip
    assert all(sentence.text in FIRST.text + SECOND.text and len(sentence.text) <= MAX_CHARS for sentence in found)


def test_known_sentences_are_not_repeated() -> None:
    found = summarise([SECOND], 1, ["远山船厂的新渡轮今天下水，渡轮载客三百人。"])
    assert [sentence.text for sentence in found] == ["首航定在五月一日，渡轮票价十元。"]
    assert summarise([FIRST], 3, sentences(FIRST.text)) == []
    assert summarise([], 3) == []
