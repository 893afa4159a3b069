from __future__ import annotations

from newsportal.dedup.exact import keys

TITLE = "青河古城夜游线路本周开放"
TEXT = "青河市文旅局昨天说，古城夜游线路从本周五起开放，游人可以乘船看灯，也可以步行听讲解，末班船晚上十点靠岸。"


def test_punctuation_width_and_script_do_not_tell_reposts_apart() -> None:
    repost = keys("青河古城：夜游線路 本周開放！", TEXT.replace("，", ",").replace("十点", "十點"))
    assert [key.key for key in repost] == [key.key for key in keys(TITLE, TEXT)]


def test_the_text_is_the_surer_reason_and_the_title_folds_other_sites_only() -> None:
    text, title = keys(TITLE, TEXT)
    assert (text.reason, text.same_site) == ("same-text", True)
    assert (title.reason, title.same_site) == ("same-title", False)
    assert text.score > title.score
    assert text.window > title.window


def test_names_of_columns_and_stubs_give_no_key() -> None:
    assert keys("今日天气", "点击查看视频") == ()
    assert keys(None, None) == ()


def test_other_stories_have_other_keys() -> None:
    assert not {key.key for key in keys(TITLE, TEXT)} & {key.key for key in keys(TITLE + "吗", TEXT.replace("十点", "九点"))}
