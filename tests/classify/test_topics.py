from __future__ import annotations

import pytest

from newsportal.classify.topics import make_rule, match


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("古城旅游线路开放", ("旅游",)),
        ("古城旅遊線路開放", ("旅游",)),
        ("旅游鞋打折", ()),
        ("said the company", ()),
        ("ＡＩ 写诗", ("AI",)),
        ("open-source AI models", ("AI",)),
    ],
)
def test_keywords_decide_topics(title: str, expected: tuple[str, ...]) -> None:
    rules = [make_rule("旅游", any=["旅游"], never=["旅游鞋"]), make_rule("AI", any=["AI", "人工智能"])]
    assert match(rules, title, None) == expected


def test_must_needs_all_keywords_and_any_one() -> None:
    rules = [make_rule("高铁旅游", must=["高铁"], any=["旅游", "景区"])]
    assert match(rules, "高铁开到景区门口", None) == ("高铁旅游",)
    assert match(rules, "景区人多", None) == ()
    assert match(rules, "高铁提速", None) == ()


def test_only_lead_and_summary_are_searched() -> None:
    rules = [make_rule("旅游", any=["旅游"])]
    assert match(rules, None, "旅游" + "。" * 2000) == ("旅游",)
    assert match(rules, None, "字" * 2000 + "旅游") == ()
    assert match(rules, None, None, "本地旅游") == ("旅游",)


def test_topic_without_keywords_matches_nothing() -> None:
    assert match([make_rule("空")], "空", "空") == ()
