"""What sources are called, and the way back to their keys."""

from __future__ import annotations

from newsportal.portal.language import translations
from newsportal.portal.wording import display_name, find_key

ZH = translations("zh")
NAMES = {key: display_name(key, key.partition(":")[2], ZH) for key in ("feed:晨光网", "region:晨光网", "engine:bing_news")}


def test_two_of_one_name_are_told_apart() -> None:
    assert NAMES["feed:晨光网"] == "晨光网（订阅源）"
    assert len(set(NAMES.values())) == 3
    assert display_name("other:thing", "thing", ZH) == "other:thing"


def test_each_is_found_again_by_what_it_is_called_its_key_and_its_name() -> None:
    for key, name in NAMES.items():
        assert find_key(name, NAMES) == find_key(key, NAMES) == find_key(f" {name} ", NAMES) == key
    assert find_key("bing_news", NAMES) == "engine:bing_news"
    assert find_key("晨光网", NAMES) == "feed:晨光网"
    assert find_key("feed:已经删除", NAMES) == "feed:已经删除", "its articles are there still"
    assert find_key(None, NAMES) is None
