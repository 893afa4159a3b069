import random
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from newsportal.classify.base import NO_ANSWER, Example, restore, train
from newsportal.classify.calibration import NO_LEVEL, Level
from newsportal.errors import ModelError
from newsportal.packing import pack, unpack

WORDS = {
    "体育/足球": "球队 进球 主场 联赛 教练 射门 门将 比分 球迷 决赛",
    "财经": "股价 基金 利率 银行 上市 债券 投资 市值 通胀 央行",
    "旅游": "景区 酒店 航班 古镇 海滩 导游 签证 民宿 登山 门票",
}
COMMON = "今天 记者 表示 我们 已经 可以 城市 一个 进行 目前".split()


def made_up(number: int, seed: int = 0, length: int = 6) -> list[Example]:
    chance = random.Random(seed)
    examples = []
    for _ in range(number):
        label = chance.choice(list(WORDS))
        words = chance.choices(WORDS[label].split(), k=length) + chance.choices(COMMON, k=length)
        chance.shuffle(words)
        examples.append(Example("，".join(words) + "。", (label,), chance.choice(WORDS[label].split())))
    return examples


@pytest.fixture(scope="module")
def model():
    return train("linear", made_up(240), trained=datetime(2024, 3, 5, tzinfo=UTC))


def test_easy_classes_are_learned(model):
    unseen = made_up(60, seed=1)
    assert sum(model.classify(example.title, example.text).label == example.labels[0] for example in unseen) >= 58
    assert model.facts.figures["macro_f1"] > 0.95
    assert sum(model.facts.documents.values()) == 240


def test_title_or_body_alone_suffices(model):
    assert model.classify("球队主场进球", "").label == "体育/足球"
    assert model.classify("", "央行利率，债券基金").label == "财经"


def test_scores_are_probabilities(model):
    answer = model.classify("", "景区门票")
    assert sum(answer.scores.values()) == pytest.approx(1.0)
    assert answer.labels == (answer.label,) == ("旅游",)


@pytest.mark.parametrize("text", ["", " ", "\u200b", "Ω", "zxqv"])
def test_unknown_features_give_no_label(model, text):
    assert model.classify("", text) == NO_ANSWER
    assert model.explain("", text) == ()


def test_foreign_texts_are_mostly_refused(model):
    answers = [model.classify("", f"{a}{b}，{c}的{d}") for a, b, c, d in zip("火昨雨猫", "星天雪狗", "氢细化植", "气胞石物", strict=True)]
    assert sum(answer.label is None for answer in answers) >= 3


def test_explanation_lists_words_of_the_text(model):
    reasons = model.explain("球队主场进球", "目前央行表示", "体育/足球")
    by_word = {reason.word: reason.weight for reason in reasons}
    assert by_word["球队"] > 0 > by_word["央行"]
    assert abs(reasons[0].weight) == max(abs(reason.weight) for reason in reasons)
    assert model.explain("球队", "", "unknown") == ()


def test_huge_text_is_classified(model):
    assert model.classify("", "球队进球，" * 1_000_000).label == "体育/足球"


def test_headlines_have_their_own_factor_and_minimum_score(model):
    strict = replace(model, short=50.0, brief=Level(5.0, 0.0, 100.0))
    headline, article = strict.classify("", "球队进球"), strict.classify("", made_up(1, length=40)[0].text)
    assert headline.label is None
    assert len(set(headline.scores.values())) == 1  # the factor is 0
    assert article.label is not None
    assert article.scores == replace(model, short=50.0).classify("", made_up(1, length=40)[0].text).scores


def test_headline_level_is_learned_from_beginnings_of_articles(model):
    assert model.brief == NO_LEVEL
    articles = [replace(example, text=example.text.replace("，", "")) for example in made_up(60, length=40)]  # with some hundred features
    learnt = train("linear", articles)
    assert 0 < learnt.brief.features < learnt.short
    assert learnt.brief.min_score <= 0
    assert restore(learnt.to_bytes()).brief == learnt.brief


def test_model_without_headline_level_is_readable(model):
    facts, arrays = unpack(model.to_bytes())
    assert restore(pack(facts, {**arrays, "scale": arrays["scale"][:3]})).classify("", "球队进球") == model.classify("", "球队进球")


def test_model_round_trip(model):
    restored = restore(model.to_bytes())
    assert restored.to_bytes() == model.to_bytes()
    assert restored.facts == model.facts
    assert restored.labels == model.labels == tuple(sorted(WORDS))
    example = made_up(1, seed=2)[0]
    assert restored.classify(example.title, example.text) == model.classify(example.title, example.text)


def test_training_is_deterministic():
    assert train("linear", made_up(60)).to_bytes() == train("linear", made_up(60)).to_bytes()


def test_inconsistent_model_is_refused(model):
    facts, arrays = unpack(model.to_bytes())
    damaged = {
        "bias": arrays["bias"][:-1],
        "weights": np.full_like(arrays["weights"], np.nan),
        "codes": arrays["codes"][::-1],
        "idf": arrays["idf"].astype(np.int64),
    }
    too_large = {
        "idf": np.full(arrays["idf"].shape, 1e300),
        "bias": arrays["bias"] + np.inf,
        "scale": np.array([np.inf, 0.0, 1.0, 0.0, 1.0, 0.0]),
    }
    for name, array in (*damaged.items(), *too_large.items()):
        with pytest.raises(ModelError):
            restore(pack(facts, {**arrays, name: array}))
    with pytest.raises(ModelError):
        restore(pack(facts, {name: array for name, array in arrays.items() if name != "curves"}))


def test_label_with_one_document_causes_a_warning():
    model = train("linear", [*made_up(60), Example("火星探测器，轨道", ("科学",))])
    assert any("科学 (1)" in str(warning) for warning in model.facts.warnings)
    assert model.classify("球队主场进球", "").label == "体育/足球"


def test_two_documents_suffice():
    model = train("linear", [Example("球队进球", ("甲",)), Example("央行利率", ("乙",))])
    assert model.classify("", "球队").label == "甲"


@pytest.mark.parametrize(
    ("examples", "several"),
    [
        ([], False),
        ([Example("甲", ("一",))] * 3, False),
        ([Example("", ("一",)), Example("", ("二",))], False),
        ([Example("甲", ("一", "二"))], False),
        ([Example("甲", ("",)), Example("乙", ("一",))], False),
        ([Example("甲乙", ("一",))] * 3, True),
    ],
)
def test_untrainable_examples_are_refused(examples, several):
    with pytest.raises(ModelError):
        train("linear", examples, multi_label=several)


def test_several_labels_or_none_are_given():
    single = made_up(300, seed=3)
    examples = [
        Example(f"{a.text}{b.text}", tuple({*a.labels, *b.labels} - {"旅游"})) for a, b in zip(single[:150], single[150:], strict=True)
    ]
    model = train("linear", examples, multi_label=True)
    assert model.labels == ("体育/足球", "财经")
    assert set(model.classify("", "球队，进球，教练，利率，央行，基金").labels) == {"体育/足球", "财经"}
    assert model.classify("", "景区，酒店，海滩，门票").labels == ()
    assert restore(model.to_bytes()).facts.multi_label


def test_progress_is_increasing():
    shares: list[float] = []
    train("linear", made_up(60), progress=lambda share, step: shares.append(share))
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
