"""Display names of sources, and the keys found by them."""

from __future__ import annotations

from newsportal.portal.language import translations
from newsportal.portal.wording import called, key_of

ZH = translations("zh")
NAMES = {key: called(key, key.partition(":")[2], ZH) for key in ("feed:晨光网", "region:晨光网", "engine:bing_news")}


def test_sources_of_the_same_name_are_distinguished() -> None:
    assert NAMES["feed:晨光网"] == "晨光网（订阅源）"
    assert len(set(NAMES.values())) == 3
    assert called("other:thing", "thing", ZH) == "other:thing"


def test_key_is_found_by_display_name_key_or_name() -> None:
    for key, name in NAMES.items():
        assert key_of(name, NAMES) == key_of(key, NAMES) == key_of(f" {name} ", NAMES) == key
    assert key_of("bing_news", NAMES) == "engine:bing_news"
    assert key_of("晨光网", NAMES) == "feed:晨光网"
    assert key_of("feed:已经删除", NAMES) == "feed:已经删除", "keys of deleted sources still have articles"
    assert key_of(None, NAMES) is None
