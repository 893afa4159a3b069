"""Keywords of an article: words that are frequent in it or in its title, and rare elsewhere."""

from __future__ import annotations

import pytest
from work_counts import count_calls, ends

from newsportal.classify.keywords import MAX_KEYWORDS, keywords, terms

TITLE = "青海湖裸鲤洄游进入高峰 数万游客观鱼"
TEXT = """记者26日从青海湖景区获悉，进入6月以来，青海湖裸鲤洄游进入高峰期，沿湖河流出现「半河清水半河鱼」的景象。
青海湖裸鲤俗称湟鱼，是青海湖特有的鱼类。为了保护裸鲤，当地从2003年起封湖育鱼。据介绍，今年洄游的裸鲤数量比去年增加了12%。
景区负责人杨治山表示，观鱼的游客可以在泉吉河、沙柳河看到洄游的裸鲤。杨治山说，请游客不要投喂。"""


def words(title: str, text: str, limit: int = MAX_KEYWORDS) -> list[str]:
    return [keyword.word for keyword in keywords(title, text, limit)]


def test_subject_words_come_first() -> None:
    found = words(TITLE, TEXT)
    assert {"裸鲤", "洄游", "青海湖"} <= set(found[:4])
    assert len(found) == MAX_KEYWORDS
    assert "杨治山" in words(TITLE, TEXT, 20)  # the segmenter separates 杨


def test_fragments_of_title_are_excluded() -> None:
    title = "手机厂商“回声”发布可换电池新机 螺丝刀随盒附送"
    text = "厂商「回声」的新机没有一滴胶水，盒子里放着一把螺丝刀。拆开后盖就是电池。厂商说，螺丝刀和电池都能单买。"
    found = words(title, text, 5)
    assert {"螺丝刀", "电池", "新机", "厂商"} <= set(found)
    assert not {"可换", "随盒", "附送"} & set(found)


def test_split_word_is_joined() -> None:
    text = "今年的观鸟季在白鹭滩开始。白鹭滩有一万只白鹭。保护站说，白鹭滩新设三处观察屋。"
    assert words("白鹭滩观鸟季开始", text, 3)[0] == "白鹭滩"


def test_terms_are_words_of_the_segmenter() -> None:
    assert {"养老院", "集资"} <= {term.word for term in terms("养老院集资案开庭", "养老院老板被诉集资。", 20)}


@pytest.mark.parametrize("unwanted", ["记者", "表示", "12%", "2003", "26", "6", "可以", "进入6月", "我们"])
def test_numbers_and_common_news_words_are_excluded(unwanted: str) -> None:
    assert unwanted not in words(TITLE, TEXT, 100)


def test_weights_are_decreasing() -> None:
    weights = [keyword.weight for keyword in keywords(TITLE, TEXT, 50)]
    assert weights == sorted(weights, reverse=True)
    assert weights[-1] > 0


def test_traditional_characters_are_kept() -> None:
    text = "衛生局呼籲民眾接種流感疫苗。流感疫苗可以降低重症，民眾可到診所接種流感疫苗。"
    found = words("流感疫苗開打 衛生局籲接種", text)
    assert "流感疫苗" in found
    assert "接種" in found


def test_latin_words_in_chinese_text() -> None:
    found = words("英伟达发布新款GPU", "英伟达发布的GPU面向ChatGPT等应用，ChatGPT需要大量GPU。")
    assert {"GPU", "ChatGPT", "英伟达"} <= set(found)


def test_english_keywords() -> None:
    text = "The mayor of New York said on Monday that the subway will be free. New York has 472 subway stations. The subway's fares rose."
    found = words("New York to make the subway free", text)
    assert found[:2] == ["subway", "New York"] or found[:2] == ["New York", "subway"]
    assert not {"The", "the", "said", "Monday", "472"} & set(found)


@pytest.mark.parametrize(
    ("title", "text"),
    [("", ""), ("", "。，！？"), ("", "的"), ("", "123 456 7.8%"), ("\0", "\ud800"), ("🚀", "🚀🚀"), ("_", "__ --")],
)
def test_uninformative_text_has_no_keywords(title: str, text: str) -> None:
    assert keywords(title, text) == ()


@pytest.mark.parametrize(
    "text", ["新闻联播" * 1_250_000, "x" * 5_000_000, "a b " * 1_000_000, "《" * 1_000_000, "Ab " * 1_000_000, "裸鲤堃灏" * 1_000_000]
)
def test_huge_text_takes_bounded_time(text: str) -> None:
    keywords("预热", "预热")
    with ends():
        assert count_calls(keywords, text, text) < 20_000


def test_keywords_are_deterministic() -> None:
    assert keywords(TITLE, TEXT) == keywords(TITLE, TEXT)
