"""Display names of sources, and the keys found by them."""

from __future__ import annotations

from newsportal.portal.language import translations
from newsportal.portal.wording import display_name, find_key

ZH = translations("zh")
NAMES = {key: display_name(key, key.partition(":")[2], ZH) for key in ("feed:晨光网", "region:晨光网", "engine:bing_news")}


def test_sources_of_the_same_name_are_distinguished() -> None:
    assert NAMES["feed:晨光网"] == "晨光网（订阅源）"
    assert len(set(NAMES.values())) == 3
    assert display_name("other:thing", "thing", ZH) == "other:thing"


def test_key_is_found_by_display_name_key_or_name() -> None:
    for key, name in NAMES.items():
        assert find_key(name, NAMES) == find_key(key, NAMES) == find_key(f" {name} ", NAMES) == key
    assert find_key("bing_news", NAMES) == "engine:bing_news"
    assert find_key("晨光网", NAMES) == "feed:晨光网"
    assert find_key("feed:已经删除", NAMES) == "feed:已经删除", "keys of deleted sources still have articles"
    assert find_key(None, NAMES) is None
