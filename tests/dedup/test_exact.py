from __future__ import annotations

from newsportal.dedup.judge import SHORT_TEXT, fold_keys
from newsportal.text import letters

TITLE = "青河古城夜游线路本周开放"
CAPTION = "点击观看：夜色里的青河古城。"
TEXT = (
    "青河市文旅局昨天说，古城夜游线路从本周五起开放，游人可以乘船看灯，也可以步行听讲解，"
    "末班船晚上十点靠岸，雨天停航，票价三十元，老人和孩子免票，沿河的茶馆也开到十点。"
)


def test_titles_are_folded_before_comparison() -> None:
    assert [key.key for key in fold_keys("青河古城：夜游線路 本周開放！", None)] == [key.key for key in fold_keys(TITLE, CAPTION)]


def test_title_key_folds_only_other_sites() -> None:
    (key,) = fold_keys(TITLE, CAPTION)
    assert (key.reason, key.same_site) == ("same-title", False)


def test_comparable_text_has_no_title_key() -> None:
    assert len(letters(TEXT)) >= SHORT_TEXT
    assert fold_keys(TITLE, TEXT) == ()
    assert fold_keys(TITLE, "　" * 500 + CAPTION) == fold_keys(TITLE, CAPTION)


def test_column_titles_have_no_key() -> None:
    assert fold_keys("今日天气", "点击查看视频") == ()
    assert fold_keys(None, None) == ()


def test_different_titles_have_different_keys() -> None:
    assert fold_keys(TITLE, None) != fold_keys(TITLE + "吗", None)
