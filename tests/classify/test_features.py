import pytest

from newsportal.classify.features import MAX_CHARS, count_batch, count_features, pieces


def spans(text: str) -> list[str]:
    found = pieces(text)
    return [text[start:end] for start, end in zip(found.starts, found.ends, strict=True)]


def test_features_are_characters_words_and_pairs():
    assert spans("新线Open day") == ["新", "线", "Open", "day", "新线", "线Open", "Open day"]


def test_punctuation_and_digits_are_single_features():
    assert spans("（3岁）") == ["（", "3", "岁", "）", "（3", "3岁", "岁）"]


def test_white_space_is_a_feature_except_between_words():
    assert spans("图 \n书") == ["图", " ", "书", "图 ", " \n书"]


@pytest.mark.parametrize(("text", "folded"), [("國際新聞", "国际新闻"), ("Ｎews", "news"), ("新\u200b闻", "新闻"), ("ＮＢＡ", "nba")])
def test_letters_are_folded(text, folded):
    assert pieces(text).codes.tolist() == pieces(folded).codes.tolist()


def test_width_of_punctuation_is_kept():
    assert pieces("，").codes.tolist() != pieces(",").codes.tolist()


@pytest.mark.parametrize("text", ["", "\u200b", "\ud800", "\U0010ffff", "\x00", " "])
def test_any_text_is_accepted(text):
    count_features(text)


def test_codes_are_equal_on_every_machine():
    assert pieces("新闻").codes.tolist() == EXPECTED


def test_text_is_truncated_at_maximum_length():
    assert pieces("长文" * MAX_CHARS).ends.max() == MAX_CHARS


def test_repetitions_are_counted():
    found = count_features("哈哈哈")
    assert sorted(found.times.tolist()) == [2, 3]


EXPECTED = [758316086, 3170820544, 1500873253]


def test_counts_of_many_texts_equal_single_counts():
    texts = ["新线 Open day", "", "day", " day", "（3岁）|", "\u200b", "图 \n书", "新" * (MAX_CHARS + 9), "國際\ud800"]
    for single, batch in zip(map(count_features, texts), count_batch(texts), strict=True):
        assert single.codes.tolist() == batch.codes.tolist()
        assert single.codes.dtype == batch.codes.dtype
        assert single.times.tolist() == batch.times.tolist()
